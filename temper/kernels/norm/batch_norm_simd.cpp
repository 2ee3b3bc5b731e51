#include "temper/kernels/norm/batch_norm_table.h"
#include "temper/kernels/norm/gradient_end.h"
#include "temper/kernels/norm/norm_rows.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

template <int kRows, class Lanes>
[[gnu::always_inline]] inline void moments_vector(
    Lanes lanes,
    const float* x,
    std::int64_t stride,
    const float* pivot,
    float* first,
    float* second) {
  const Vec from = load(pivot);
  Vec a = load(first);
  Vec b = load(second);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const Vec away = lanes.load(x + r * stride) - from;
    a += away;
    b += away * away;
  }
  store(first, a);
  store(second, b);
}

template <int kRows>
void moments_rows(
    const float* x,
    std::int64_t channels,
    const float* pivot,
    float* first,
    float* second) {
  std::int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes)
    moments_vector<kRows>(
        Whole{}, x + c, channels, pivot + c, first + c, second + c);
  if (c < channels)
    moments_vector<kRows>(
        Part{static_cast<int>(channels - c)},
        x + c,
        channels,
        pivot + c,
        first + c,
        second + c);
}

void moments(
    std::int64_t begin,
    std::int64_t end,
    std::int64_t channels,
    const float* x,
    double* parts) {
  const std::int64_t padded = whole_vectors(channels);
  float* pivot = scratch(8, static_cast<std::size_t>(3 * padded));
  float* first = pivot + padded;
  float* second = first + padded;
  clear(3 * padded, pivot);
  find_pivot(end - begin, channels, x + begin * channels, channels, pivot);
  for (std::int64_t c = 0; c < channels; ++c) {
    parts[c] = static_cast<double>(pivot[c]);
    parts[channels + c] = 0;
    parts[2 * channels + c] = 0;
  }
  for (std::int64_t r = begin; r < end;) {
    const std::int64_t stop = r + kFloatRows < end ? r + kFloatRows : end;
    for (; r + 8 <= stop; r += 8)
      moments_rows<8>(x + r * channels, channels, pivot, first, second);
    for (; r < stop; ++r)
      moments_rows<1>(x + r * channels, channels, pivot, first, second);
    drain(channels, first, parts + channels);
    drain(channels, second, parts + 2 * channels);
  }
}

template <Activation kAct, Residual kPlace, bool kNormed = false>
void apply_rows(const NormApply& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t at = r * job.channels;
    std::int64_t c = 0;
    for (; c + kLanes <= job.channels; c += kLanes)
      apply_vector<kAct, kPlace, kNormed>(Whole{}, job, at + c, c);
    if (c < job.channels)
      apply_vector<kAct, kPlace, kNormed>(
          Part{static_cast<int>(job.channels - c)}, job, at + c, c);
  }
}

struct ApplyRows {
  const NormApply& job;
  std::int64_t begin;
  std::int64_t end;
  template <Activation kAct>
  void run() const {
    switch (job.residual_place) {
      case Residual::kNone:
        return affine_rows<kAct>(
            job.norm,
            end - begin,
            job.channels,
            job.x + begin * job.channels,
            job.channels,
            job.y + begin * job.channels,
            job.channels);
      case Residual::kBeforeActivation:
        if (job.residual_norm.scale != nullptr)
          return apply_rows<kAct, Residual::kBeforeActivation, true>(
              job, begin, end);
        return apply_rows<kAct, Residual::kBeforeActivation>(job, begin, end);
      case Residual::kAfterActivation:
        return apply_rows<kAct, Residual::kAfterActivation>(job, begin, end);
    }
  }
};

void apply(const NormApply& job, std::int64_t begin, std::int64_t end) {
  with_activation(job.norm.act, ApplyRows{job, begin, end});
}

// Float sums of a few rows, of all channels.
struct SomeSums {
  float* gradient;
  float* product;
  float* of_residual; // its products; with a residual_norm
};

template <Activation kAct, int kRows, bool kNormed, class Lanes>
[[gnu::always_inline]] inline void sums_vector(
    Lanes lanes,
    const NormSums& job,
    std::int64_t at,
    std::int64_t c,
    const SomeSums& sums) {
  const Vec scale = lanes.load(job.norm.scale + c);
  const Vec shift = lanes.load(job.norm.shift + c);
  const Vec mean = lanes.load(job.mean + c);
  const Vec other = kNormed ? lanes.load(job.residual_mean + c) : Vec{};
  Vec a = load(sums.gradient + c);
  Vec b = load(sums.product + c);
  Vec d = kNormed ? load(sums.of_residual + c) : Vec{};
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const std::int64_t here = at + r * job.channels;
    const Vec x = lanes.load(job.x + here);
    Vec y = x * scale + shift;
    if (job.residual != nullptr) y += residual_at<kNormed>(lanes, job, here, c);
    const Vec g = through_activation<kAct>(lanes.load(job.gradient + here), y);
    if (job.through != nullptr) lanes.store(job.through + here, g);
    a += g;
    b += g * (x - mean);
    if constexpr (kNormed) d += g * (lanes.load(job.residual + here) - other);
  }
  store(sums.gradient + c, a);
  store(sums.product + c, b);
  if constexpr (kNormed) store(sums.of_residual + c, d);
}

template <Activation kAct, int kRows, bool kNormed>
void sums_rows(const NormSums& job, std::int64_t row, const SomeSums& sums) {
  const std::int64_t at = row * job.channels;
  std::int64_t c = 0;
  for (; c + kLanes <= job.channels; c += kLanes)
    sums_vector<kAct, kRows, kNormed>(Whole{}, job, at + c, c, sums);
  if (c < job.channels)
    sums_vector<kAct, kRows, kNormed>(
        Part{static_cast<int>(job.channels - c)}, job, at + c, c, sums);
}

struct SumRows {
  const NormSums& job;
  std::int64_t begin;
  std::int64_t end;
  double* parts;
  double* others; // of a normalised residual
  template <Activation kAct>
  void run() const {
    if (job.residual_norm.scale != nullptr)
      add_up<kAct, true>();
    else
      add_up<kAct, false>();
  }

  // A residual's gradients are those of the sum: both have the same first run.
  template <Activation kAct, bool kNormed>
  void add_up() const {
    const std::int64_t padded = whole_vectors(job.channels);
    float* memory = scratch(8, static_cast<std::size_t>(3 * padded));
    const SomeSums some{memory, memory + padded, memory + 2 * padded};
    clear(3 * padded, memory);
    for (std::int64_t c = 0; c < 2 * job.channels; ++c)
      parts[c] = 0;
    if constexpr (kNormed)
      for (std::int64_t c = 0; c < 2 * job.channels; ++c)
        others[c] = 0;
    for (std::int64_t r = begin; r < end;) {
      const std::int64_t stop = r + kFloatRows < end ? r + kFloatRows : end;
      for (; r + 4 <= stop; r += 4)
        sums_rows<kAct, 4, kNormed>(job, r, some);
      for (; r < stop; ++r)
        sums_rows<kAct, 1, kNormed>(job, r, some);
      drain(job.channels, some.gradient, parts);
      drain(job.channels, some.product, parts + job.channels);
      if constexpr (kNormed)
        drain(job.channels, some.of_residual, others + job.channels);
    }
    if constexpr (kNormed)
      for (std::int64_t c = 0; c < job.channels; ++c)
        others[c] = parts[c];
  }
};

void sums(
    const NormSums& job,
    std::int64_t begin,
    std::int64_t end,
    double* parts,
    double* residual_parts) {
  with_activation(
      job.norm.act, SumRows{job, begin, end, parts, residual_parts});
}

void gradient(
    std::int64_t begin,
    std::int64_t end,
    std::int64_t channels,
    const float* g,
    const NormGradient& norm,
    float* x_gradient) {
  const std::int64_t at = begin * channels;
  with_activation(
      norm.act,
      GradientRows{
          norm, end - begin, channels, g + at, norm.x + at, x_gradient + at});
}

void end_in_place(
    std::int64_t begin,
    std::int64_t end,
    std::int64_t channels,
    const GradientEnd& how,
    float* x_gradient,
    double* parts) {
  const std::int64_t padded = whole_vectors(channels);
  float* first = scratch(8, static_cast<std::size_t>(2 * padded));
  float* second = first + padded;
  clear(2 * padded, first);
  for (std::int64_t r = begin; r < end;) {
    const std::int64_t stop = r + kFloatRows < end ? r + kFloatRows : end;
    while (r < stop) {
      EndedRows rows{how, x_gradient, 0, channels, first, second};
      for (; r < stop && rows.count < kEndedRows; ++r)
        rows.add(x_gradient + r * channels, r * channels);
      write_ended(rows);
    }
    if (parts == nullptr) continue;
    drain(channels, first, parts);
    drain(channels, second, parts + channels);
  }
}

} // namespace

extern const BatchNormTable batch_norm_table;
const BatchNormTable batch_norm_table =
    {moments, apply, sums, gradient, end_in_place};

} // namespace temper::kernels::TEMPER_TARGET

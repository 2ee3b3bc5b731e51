#include "temper/kernels/norm/batch_norm_table.h"
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

template <Activation kAct, Residual kPlace>
void apply_rows(const NormApply& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t at = r * job.channels;
    std::int64_t c = 0;
    for (; c + kLanes <= job.channels; c += kLanes)
      apply_vector<kAct, kPlace>(Whole{}, job, at + c, c);
    if (c < job.channels)
      apply_vector<kAct, kPlace>(
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
        return apply_rows<kAct, Residual::kBeforeActivation>(job, begin, end);
      case Residual::kAfterActivation:
        return apply_rows<kAct, Residual::kAfterActivation>(job, begin, end);
    }
  }
};

void apply(const NormApply& job, std::int64_t begin, std::int64_t end) {
  with_activation(job.norm.act, ApplyRows{job, begin, end});
}

template <Activation kAct, int kRows, class Lanes>
[[gnu::always_inline]] inline void sums_vector(
    Lanes lanes,
    const NormSums& job,
    std::int64_t at,
    std::int64_t c,
    float* first,
    float* second) {
  const Vec scale = lanes.load(job.norm.scale + c);
  const Vec shift = lanes.load(job.norm.shift + c);
  const Vec mean = lanes.load(job.mean + c);
  Vec a = load(first + c);
  Vec b = load(second + c);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const std::int64_t here = at + r * job.channels;
    const Vec x = lanes.load(job.x + here);
    Vec y = x * scale + shift;
    if (job.residual != nullptr) y += lanes.load(job.residual + here);
    const Vec g = through_activation<kAct>(lanes.load(job.gradient + here), y);
    if (job.through != nullptr) lanes.store(job.through + here, g);
    a += g;
    b += g * (x - mean);
  }
  store(first + c, a);
  store(second + c, b);
}

template <Activation kAct, int kRows>
void sums_rows(
    const NormSums& job,
    std::int64_t row,
    float* first,
    float* second) {
  const std::int64_t at = row * job.channels;
  std::int64_t c = 0;
  for (; c + kLanes <= job.channels; c += kLanes)
    sums_vector<kAct, kRows>(Whole{}, job, at + c, c, first, second);
  if (c < job.channels)
    sums_vector<kAct, kRows>(
        Part{static_cast<int>(job.channels - c)},
        job,
        at + c,
        c,
        first,
        second);
}

struct SumRows {
  const NormSums& job;
  std::int64_t begin;
  std::int64_t end;
  double* parts;
  template <Activation kAct>
  void run() const {
    const std::int64_t padded = whole_vectors(job.channels);
    float* first = scratch(8, static_cast<std::size_t>(2 * padded));
    float* second = first + padded;
    clear(2 * padded, first);
    for (std::int64_t c = 0; c < 2 * job.channels; ++c)
      parts[c] = 0;
    for (std::int64_t r = begin; r < end;) {
      const std::int64_t stop = r + kFloatRows < end ? r + kFloatRows : end;
      for (; r + 4 <= stop; r += 4)
        sums_rows<kAct, 4>(job, r, first, second);
      for (; r < stop; ++r)
        sums_rows<kAct, 1>(job, r, first, second);
      drain(job.channels, first, parts);
      drain(job.channels, second, parts + job.channels);
    }
  }
};

void sums(
    const NormSums& job,
    std::int64_t begin,
    std::int64_t end,
    double* parts) {
  with_activation(job.norm.act, SumRows{job, begin, end, parts});
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

} // namespace

extern const BatchNormTable batch_norm_table;
const BatchNormTable batch_norm_table = {moments, apply, sums, gradient};

} // namespace temper::kernels::TEMPER_TARGET

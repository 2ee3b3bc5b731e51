#include "temper/kernels/norm/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "temper/kernels/norm/batch_norm_table.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {

namespace baseline {
extern const BatchNormTable batch_norm_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const BatchNormTable batch_norm_table;
}
namespace avx512 {
extern const BatchNormTable batch_norm_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const BatchNormTable batch_norm_table;
}
#endif

namespace {

const BatchNormTable& batch_norm_table_in_use() {
  static const PerTarget<BatchNormTable> tables {
    &baseline::batch_norm_table,
#if defined(__x86_64__)
        &avx2::batch_norm_table, &avx512::batch_norm_table, nullptr
#elif defined(__aarch64__)
        nullptr, nullptr, &neon::batch_norm_table
#endif
  };
  return tables.in_use();
}

double wide(float value) {
  return static_cast<double>(value);
}

// Below this many numbers a chunk does not pay for waking a thread.
constexpr std::int64_t kNormChunkNumbers = 32768;
constexpr std::int64_t kMostNormChunks = 32;

std::int64_t norm_chunks(std::int64_t rows, std::int64_t channels) {
  return std::clamp<std::int64_t>(
      rows * channels / kNormChunkNumbers, 1, std::min(rows, kMostNormChunks));
}

template <class Work>
void over_rows(std::int64_t rows, std::int64_t channels, const Work& work) {
  const std::int64_t chunks = norm_chunks(rows, channels);
  for_each_chunk(chunks, [&](std::int64_t chunk) {
    work(chunk, chunk_range(rows, 1, chunks, chunk));
  });
}

} // namespace

bool follows_norm(Activation act) {
  return act != Activation::kGelu && act != Activation::kGeluTanh;
}

Moments moments_in(double* memory, std::int64_t channels) {
  return {memory, memory + channels};
}

GradientSums gradient_sums_in(double* memory, std::int64_t channels) {
  return {memory, memory + channels};
}

NormState state_in(float* memory, std::int64_t channels) {
  return {
      memory, memory + channels, memory + 2 * channels, memory + 3 * channels};
}

void norm_state(
    std::int64_t channels,
    const Moments& moments,
    const float* weight,
    const float* bias,
    double eps,
    const NormState& state) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const double rstd = 1.0 / std::sqrt(moments.variance[c] + eps);
    // Rounded first: the shift then fits the scale that is used.
    const auto scale =
        static_cast<float>(rstd * wide(weight == nullptr ? 1.0F : weight[c]));
    const double shift = wide(bias == nullptr ? 0.0F : bias[c]);
    state.mean[c] = static_cast<float>(moments.mean[c]);
    state.rstd[c] = static_cast<float>(rstd);
    state.scale[c] = scale;
    state.shift[c] = static_cast<float>(shift - moments.mean[c] * wide(scale));
  }
}

void update_running(
    std::int64_t rows,
    std::int64_t channels,
    const Moments& moments,
    double momentum,
    float* mean,
    float* variance) {
  const double unbiased =
      static_cast<double>(rows) / static_cast<double>(rows - 1);
  for (std::int64_t c = 0; c < channels; ++c) {
    mean[c] = static_cast<float>(
        (1.0 - momentum) * wide(mean[c]) + momentum * moments.mean[c]);
    variance[c] = static_cast<float>(
        (1.0 - momentum) * wide(variance[c]) +
        momentum * (moments.variance[c] * unbiased));
  }
}

void gradient_coefficients(
    std::int64_t rows,
    std::int64_t channels,
    const GradientSums& sums,
    const NormState& state,
    bool constant_statistics,
    float* slope,
    float* offset,
    float* weight_gradient,
    float* bias_gradient) {
  const auto count = static_cast<double>(rows);
  for (std::int64_t c = 0; c < channels; ++c) {
    const double rstd = wide(state.rstd[c]);
    const double along = sums.product[c] * rstd; // sum of g' x^
    if (weight_gradient != nullptr)
      weight_gradient[c] = static_cast<float>(along);
    if (bias_gradient != nullptr)
      bias_gradient[c] = static_cast<float>(sums.gradient[c]);
    const double scale =
        constant_statistics ? 0.0 : wide(state.scale[c]) / count;
    slope[c] = static_cast<float>(-scale * rstd * along);
    offset[c] = static_cast<float>(-scale * sums.gradient[c]);
  }
}

void merge_moments(
    std::int64_t chunks,
    std::int64_t channels,
    const std::int64_t* counts,
    const double* parts,
    const Moments& moments) {
  double* __restrict mean = moments.mean;
  double* __restrict squares = moments.variance; // of distances from the mean
  std::fill(mean, mean + channels, 0.0);
  std::fill(squares, squares + channels, 0.0);
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < chunks; ++i) {
    const double* pivot = parts + i * kMomentRuns * channels;
    const auto count = static_cast<double>(counts[i]);
    for (std::int64_t c = 0; c < channels; ++c)
      mean[c] += pivot[c] * count + pivot[channels + c];
    rows += counts[i];
  }
  for (std::int64_t c = 0; c < channels; ++c)
    mean[c] /= static_cast<double>(rows);
  for (std::int64_t i = 0; i < chunks; ++i) {
    const double* pivot = parts + i * kMomentRuns * channels;
    const auto count = static_cast<double>(counts[i]);
    for (std::int64_t c = 0; c < channels; ++c) {
      const double away = mean[c] - pivot[c];
      squares[c] += pivot[2 * channels + c] -
          away * (2 * pivot[channels + c] - away * count);
    }
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    const double variance = squares[c] / static_cast<double>(rows);
    squares[c] = variance < 0 ? 0 : variance; // NaN stays
  }
}

void merge_gradient_sums(
    std::int64_t chunks,
    std::int64_t channels,
    const double* parts,
    const GradientSums& sums) {
  double* __restrict gradient = sums.gradient;
  double* __restrict product = sums.product;
  std::fill(gradient, gradient + channels, 0.0);
  std::fill(product, product + channels, 0.0);
  for (std::int64_t i = 0; i < chunks; ++i) {
    const double* part = parts + i * kGradientRuns * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      gradient[c] += part[c];
      product[c] += part[channels + c];
    }
  }
}

void channel_moments(
    std::int64_t rows,
    std::int64_t channels,
    const float* x,
    const Moments& moments) {
  const BatchNormTable& simd = batch_norm_table_in_use();
  const std::int64_t chunks = norm_chunks(rows, channels);
  std::vector<double> parts(
      static_cast<std::size_t>(chunks * kMomentRuns * channels));
  std::vector<std::int64_t> counts(static_cast<std::size_t>(chunks));
  over_rows(rows, channels, [&](std::int64_t chunk, ChunkRange range) {
    counts[static_cast<std::size_t>(chunk)] = range.end - range.begin;
    simd.moments(
        range.begin,
        range.end,
        channels,
        x,
        parts.data() + chunk * kMomentRuns * channels);
  });
  merge_moments(chunks, channels, counts.data(), parts.data(), moments);
}

void norm_apply(const NormApply& job) {
  const BatchNormTable& simd = batch_norm_table_in_use();
  over_rows(job.rows, job.channels, [&](std::int64_t, ChunkRange range) {
    simd.apply(job, range.begin, range.end);
  });
}

void norm_gradient_sums(const NormSums& job) {
  const BatchNormTable& simd = batch_norm_table_in_use();
  const std::int64_t chunks = norm_chunks(job.rows, job.channels);
  const bool two = job.residual_norm.scale != nullptr;
  const std::int64_t run = kGradientRuns * job.channels;
  std::vector<double> parts(static_cast<std::size_t>(chunks * run));
  std::vector<double> others(two ? parts.size() : 0);
  over_rows(job.rows, job.channels, [&](std::int64_t chunk, ChunkRange range) {
    simd.sums(
        job,
        range.begin,
        range.end,
        parts.data() + chunk * run,
        two ? others.data() + chunk * run : nullptr);
  });
  merge_gradient_sums(chunks, job.channels, parts.data(), job.sums);
  if (two)
    merge_gradient_sums(chunks, job.channels, others.data(), job.residual_sums);
}

void end_gradient(
    std::int64_t rows,
    std::int64_t channels,
    const GradientEnd& end,
    float* x_gradient) {
  if (end.x == nullptr && end.add == nullptr) return;
  const BatchNormTable& simd = batch_norm_table_in_use();
  const std::int64_t chunks = norm_chunks(rows, channels);
  const std::int64_t run = end.x == nullptr ? 0 : kGradientRuns * channels;
  std::vector<double> parts(static_cast<std::size_t>(chunks * run));
  over_rows(rows, channels, [&](std::int64_t chunk, ChunkRange range) {
    simd.end(
        range.begin,
        range.end,
        channels,
        end,
        x_gradient,
        run == 0 ? nullptr : parts.data() + chunk * run);
  });
  if (run > 0) merge_gradient_sums(chunks, channels, parts.data(), *end.sums);
}

void norm_gradient_apply(
    std::int64_t rows,
    std::int64_t channels,
    const float* gradient,
    const NormGradient& norm,
    float* x_gradient) {
  const BatchNormTable& simd = batch_norm_table_in_use();
  over_rows(rows, channels, [&](std::int64_t, ChunkRange range) {
    simd.gradient(range.begin, range.end, channels, gradient, norm, x_gradient);
  });
}

} // namespace temper::kernels

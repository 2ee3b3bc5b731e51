#include "temper/kernels/conv/conv_pool.h"

#include <algorithm>

#include "temper/kernels/conv/conv_pool_table.h"
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {
namespace baseline {
extern const ConvPoolTable conv_pool_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const ConvPoolTable conv_pool_table;
}
namespace avx512 {
extern const ConvPoolTable conv_pool_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const ConvPoolTable conv_pool_table;
}
#endif

namespace {

const ConvPoolTable& pool_table_in_use() {
#if defined(__x86_64__)
  return PerTarget<ConvPoolTable>{
      &baseline::conv_pool_table,
      &avx2::conv_pool_table,
      &avx512::conv_pool_table,
      nullptr}
      .in_use();
#elif defined(__aarch64__)
  return PerTarget<ConvPoolTable>{
      &baseline::conv_pool_table, nullptr, nullptr, &neon::conv_pool_table}
      .in_use();
#else
  return baseline::conv_pool_table;
#endif
}

constexpr std::int64_t kMostForwardChunks = 64;
constexpr std::int64_t kMostGradientChunks = 16;
// Less work than this is not worth a second thread.
constexpr std::int64_t kLittleWork = 1 << 20;

ConvPoolJob pool_job(const ConvShape& shape, const float* x) {
  ConvPoolJob job;
  job.shape = shape;
  job.pooled_height = shape.out_height() / 2;
  job.pooled_width = shape.out_width() / 2;
  job.x = x;
  return job;
}

std::int64_t pool_chunks(const ConvPoolJob& job, std::int64_t most) {
  const std::int64_t rows = job.shape.batch * job.pooled_height;
  const std::int64_t work = rows * job.pooled_width * 36 *
      job.shape.in_channels * job.shape.out_channels;
  return work < kLittleWork ? 1 : std::min(rows, most);
}

} // namespace

bool conv_pool_takes(const ConvShape& shape) {
  return shape.kernel_height == 3 && shape.kernel_width == 3 &&
      shape.stride_height == 1 && shape.stride_width == 1 &&
      shape.pad_height == shape.pad_width && shape.pad_height <= 1 &&
      shape.in_channels <= 16 && shape.out_height() >= 2 &&
      shape.out_width() >= 2;
}

void conv_pool_forward(
    const ConvShape& shape,
    bool relu,
    const float* x,
    const float* weight,
    const float* bias,
    float* pooled,
    std::uint8_t* index) {
  const ConvPoolTable& table = pool_table_in_use();
  ConvPoolJob job = pool_job(shape, x);
  job.relu = relu;
  job.padded =
      (shape.out_channels + table.lanes - 1) / table.lanes * table.lanes;
  const std::int64_t taps = 9 * shape.in_channels;
  float* packed = scratch(0, static_cast<std::size_t>((taps + 1) * job.padded));
  table.pack_weights(shape, weight, packed);
  float* padded_bias = packed + taps * job.padded;
  std::fill_n(padded_bias, job.padded, 0.0F);
  if (bias != nullptr) std::copy_n(bias, shape.out_channels, padded_bias);
  job.weights = packed;
  job.bias = padded_bias;
  job.pooled = pooled;
  job.index = index;
  const std::int64_t chunks = pool_chunks(job, kMostForwardChunks);
  for_each_chunk(chunks, [&](std::int64_t chunk) {
    const ChunkRange rows =
        chunk_range(shape.batch * job.pooled_height, 1, chunks, chunk);
    table.convolve(job, rows.begin, rows.end);
  });
}

void conv_pool_weight_gradient(
    const ConvShape& shape,
    const float* x,
    const std::uint8_t* index,
    const float* pooled_gradient,
    float* weight_gradient,
    float* bias_gradient) {
  const ConvPoolTable& table = pool_table_in_use();
  ConvPoolJob job = pool_job(shape, x);
  job.chosen = index;
  job.gradient = pooled_gradient;
  const std::int64_t chunks = pool_chunks(job, kMostGradientChunks);
  const std::int64_t row_floats = table.row_floats(shape);
  const std::int64_t channels = shape.out_channels;
  const std::int64_t part = channels * (row_floats + 1);
  float* sums = scratch(0, static_cast<std::size_t>(chunks * part));
  for_each_chunk(chunks, [&](std::int64_t chunk) {
    const ChunkRange rows =
        chunk_range(shape.batch * job.pooled_height, 1, chunks, chunk);
    float* own = sums + chunk * part;
    table.sum_gradient(
        job, rows.begin, rows.end, own, own + channels * row_floats);
  });
  for (std::int64_t chunk = 1; chunk < chunks; ++chunk)
    for (std::int64_t i = 0; i < part; ++i)
      sums[i] += sums[chunk * part + i];
  const std::int64_t taps = 9 * shape.in_channels;
  for (std::int64_t c = 0; c < channels; ++c)
    std::copy_n(sums + c * row_floats, taps, weight_gradient + c * taps);
  if (bias_gradient != nullptr)
    std::copy_n(sums + channels * row_floats, channels, bias_gradient);
}

void conv_pool_spread(
    const ConvShape& shape,
    const std::uint8_t* index,
    const float* pooled_gradient,
    float* y_gradient) {
  const ConvPoolJob job = pool_job(shape, nullptr);
  const std::int64_t channels = shape.out_channels;
  const std::int64_t width = shape.out_width();
  const std::int64_t plane = shape.out_height() * width;
  for_each_chunk(shape.batch, [&](std::int64_t image) {
    float* to = y_gradient + image * plane * channels;
    std::fill_n(to, plane * channels, 0.0F);
    const std::int64_t pooled = job.pooled_height * job.pooled_width;
    for (std::int64_t pixel = 0; pixel < pooled; ++pixel)
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t at = (image * pooled + pixel) * channels + c;
        if (index[at] == kPoolDead) continue;
        const std::int64_t h = pixel / job.pooled_width * 2 + index[at] / 2;
        const std::int64_t w = pixel % job.pooled_width * 2 + index[at] % 2;
        to[(h * width + w) * channels + c] = pooled_gradient[at];
      }
  });
}

} // namespace temper::kernels

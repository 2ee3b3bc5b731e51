#include "temper/kernels/winograd/winograd.h"

#include <algorithm>
#include <vector>

#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"
#include "temper/kernels/winograd/winograd_plan.h"
#include "temper/kernels/winograd/winograd_table.h"

namespace temper::kernels {
namespace baseline {
extern const WinogradTable winograd_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const WinogradTable winograd_table;
}
namespace avx512 {
extern const WinogradTable winograd_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const WinogradTable winograd_table;
}
#endif

namespace {

const WinogradTable& table_in_use() {
#if defined(__x86_64__)
  return PerTarget<WinogradTable>{
      &baseline::winograd_table,
      &avx2::winograd_table,
      &avx512::winograd_table,
      nullptr}
      .in_use();
#elif defined(__aarch64__)
  return PerTarget<WinogradTable>{
      &baseline::winograd_table, nullptr, nullptr, &neon::winograd_table}
      .in_use();
#else
  return baseline::winograd_table;
#endif
}

// Chunks of tiles: enough for many threads, few enough for their sums.
constexpr std::int64_t kMostWinogradChunks = 64;

std::int64_t panels_of(const WinogradTable& table, const WinogradSide& side) {
  const std::int64_t each = (side.padded + table.columns - 1) / table.columns;
  return side.phases() * each;
}

// The panels of all phases, each with its channels.
void convolve_panels(
    const WinogradTable& table,
    WinogradJob& job,
    const ChannelSums& sums) {
  const int points = points_of(job.tile);
  job.values_point = odd_cache_lines(job.tiles * job.values_row);
  job.values = scratch(0, static_cast<std::size_t>(points * job.values_point));
  constexpr std::int64_t kTilesAtOnce = 4;
  for_each_chunk(
      (job.tiles + kTilesAtOnce - 1) / kTilesAtOnce, [&](std::int64_t chunk) {
        table.read_tiles(
            job,
            chunk * kTilesAtOnce,
            std::min(job.tiles, (chunk + 1) * kTilesAtOnce));
      });
  for_each_chunk(panels_of(table, job.target), [&](std::int64_t panel) {
    table.convolve_panel(job, panel, sums);
  });
}

void add_sums(
    const std::vector<double>& parts,
    std::int64_t chunks,
    std::int64_t channels,
    const ChannelSums& sums) {
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto at = static_cast<std::size_t>(2 * chunk * channels + c);
      sums.sum[c] += parts[at];
      sums.squares[c] += parts[at + static_cast<std::size_t>(channels)];
    }
}

void convolve_tiles(
    const WinogradTable& table,
    WinogradJob& job,
    const ChannelSums& sums) {
  const int points = points_of(job.tile);
  job.weights_point =
      odd_cache_lines(job.source.columns() * job.target.columns());
  job.weights =
      scratch(0, static_cast<std::size_t>(points * job.weights_point));
  for_each_chunk(panels_of(table, job.target), [&](std::int64_t panel) {
    table.transform_weights(job, panel);
  });
  // Small blocks stay in the second-level cache, larger ones read transformed
  // weights less often where those do not.
  constexpr std::int64_t kCachedFloats = 256 << 10;
  job.block_tiles = points * job.weights_point <= kCachedFloats ? 24 : 48;
  job.block_channels = std::min<std::int64_t>(job.target.padded, 128);
  const std::int64_t blocks =
      (job.tiles + job.block_tiles - 1) / job.block_tiles;
  const std::int64_t chunks = std::min(blocks, kMostWinogradChunks);
  const std::int64_t channels = job.target.channels;
  std::vector<double> parts(
      sums.sum == nullptr ? 0 : static_cast<std::size_t>(2 * chunks * channels),
      0.0);
  for_each_chunk(chunks, [&](std::int64_t chunk) {
    const ChunkRange range =
        chunk_range(job.tiles, job.block_tiles, chunks, chunk);
    ChannelSums own;
    if (sums.sum != nullptr) {
      own.sum = parts.data() + 2 * chunk * channels;
      own.squares = own.sum + channels;
    }
    table.convolve_tiles(job, range.begin, range.end, own);
  });
  if (sums.sum != nullptr) add_sums(parts, chunks, channels, sums);
}

void convolve(
    const WinogradTable& table,
    WinogradJob& job,
    const ChannelSums& sums) {
  if (sums.sum != nullptr) {
    std::fill_n(sums.sum, job.target.channels, 0.0);
    std::fill_n(sums.squares, job.target.channels, 0.0);
  }
  job.zeros = many_zeros(job.source.padded);
  job.values_row = job.source.columns() + 16;
  // Few tiles: transformed weights would be larger than transformed tiles, so
  // they are made panel by panel and never reach memory.
  if (job.tiles * 2 <= job.source.columns())
    convolve_panels(table, job, sums);
  else
    convolve_tiles(table, job, sums);
}

} // namespace

void winograd_forward(
    const ConvShape& shape,
    WinogradTile tile,
    const float* x,
    const float* weight,
    const float* bias,
    float* y,
    const ChannelSums& sums) {
  const WinogradTable& table = table_in_use();
  WinogradJob job = forward_job(shape, tile, table.lanes);
  job.read = x;
  job.weight = weight;
  job.bias = bias;
  job.write = y;
  convolve(table, job, sums);
}

void winograd_data_gradient(
    const ConvShape& shape,
    WinogradTile tile,
    const float* y_gradient,
    const float* weight,
    float* x_gradient) {
  const WinogradTable& table = table_in_use();
  WinogradJob job = data_gradient_job(shape, tile, table.lanes);
  job.read = y_gradient;
  job.weight = weight;
  job.write = x_gradient;
  convolve(table, job, {});
}

} // namespace temper::kernels

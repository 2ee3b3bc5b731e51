#include <algorithm>

#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"
#include "temper/kernels/winograd/winograd.h"
#include "temper/kernels/winograd/winograd_plan.h"
#include "temper/kernels/winograd/winograd_table.h"

namespace temper::kernels {
namespace baseline {
extern const WinogradGradientTable winograd_gradient_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const WinogradGradientTable winograd_gradient_table;
}
namespace avx512 {
extern const WinogradGradientTable winograd_gradient_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const WinogradGradientTable winograd_gradient_table;
}
#endif

namespace {

const WinogradGradientTable& gradient_table_in_use() {
#if defined(__x86_64__)
  return PerTarget<WinogradGradientTable>{
      &baseline::winograd_gradient_table,
      &avx2::winograd_gradient_table,
      &avx512::winograd_gradient_table,
      nullptr}
      .in_use();
#elif defined(__aarch64__)
  return PerTarget<WinogradGradientTable>{
      &baseline::winograd_gradient_table,
      nullptr,
      nullptr,
      &neon::winograd_gradient_table}
      .in_use();
#else
  return baseline::winograd_gradient_table;
#endif
}

constexpr std::int64_t kMostWinogradPartialFloats = std::int64_t{4}
    << 20; // 16 MB
constexpr std::int64_t kMostTileFloats = std::int64_t{5} << 20; // 20 MB
constexpr std::int64_t kMostParts = 16;

struct Blocks {
  std::int64_t column_blocks;
  std::int64_t channel_blocks;

  std::int64_t count() const {
    return column_blocks * channel_blocks;
  }
};

Blocks blocks_of(const WinogradJob& job) {
  return {
      (job.source.columns() + kColumnBlock - 1) / kColumnBlock,
      (job.out_channels + kChannelBlock - 1) / kChannelBlock};
}

// Room for `tiles` transformed tiles; memory is left to the caller.
void lay_operands(WinogradGradientJob& job, std::int64_t tiles) {
  const Blocks blocks = blocks_of(job.forward);
  job.values_block = odd_cache_lines(tiles * kColumnBlock);
  job.forward.values_point =
      odd_cache_lines(blocks.column_blocks * job.values_block);
  job.outputs_block = odd_cache_lines(tiles * kChannelBlock);
  job.outputs_point =
      odd_cache_lines(blocks.channel_blocks * job.outputs_block);
}

// The outputs of a block, without memory.
WinogradSums
block_sums(const WinogradJob& job, const Blocks& blocks, std::int64_t block) {
  WinogradSums sums;
  sums.column_begin = block / blocks.channel_blocks * kColumnBlock;
  sums.column_end =
      std::min(job.source.columns(), sums.column_begin + kColumnBlock);
  sums.channel_begin = block % blocks.channel_blocks * kChannelBlock;
  sums.channel_end =
      std::min(job.out_channels, sums.channel_begin + kChannelBlock);
  return sums;
}

// All outputs in one block: the layout of a whole accumulator. Its parts that
// are a whole number of panels wide and all channels high can be finished
// apart.
WinogradSums all_sums(const WinogradJob& job, float* at) {
  WinogradSums sums;
  sums.at = at;
  sums.point = odd_cache_lines(job.source.columns() * job.out_channels);
  sums.channel_end = job.out_channels;
  sums.column_end = job.source.columns();
  return sums;
}

WinogradSums
sums_of_columns(const WinogradSums& all, std::int64_t begin, std::int64_t end) {
  WinogradSums some = all;
  some.at += begin * (all.channel_end - all.channel_begin);
  some.column_begin = begin;
  some.column_end = std::min(all.column_end, end);
  return some;
}

// Many tiles, few channels: chunks of tiles with sums of their own.
void sum_by_tiles(
    const WinogradGradientTable& table,
    WinogradGradientJob& job,
    std::int64_t parts) {
  const int points = points_of(job.forward.tile);
  job.forward.block_tiles = job.forward.source.columns() <= 64 ? 32 : 64;
  lay_operands(job, job.forward.block_tiles);
  WinogradSums all = all_sums(job.forward, nullptr);
  const std::int64_t part = points * all.point;
  float* memory = scratch(0, static_cast<std::size_t>(parts * part));
  for_each_chunk(parts, [&](std::int64_t chunk) {
    const ChunkRange range = chunk_range(job.forward.tiles, 1, parts, chunk);
    WinogradSums own = all;
    own.at = memory + chunk * part;
    table.sum_tiles(job, range.begin, range.end, own);
  });
  all.at = memory;
  const std::int64_t panels =
      (all.column_end + table.columns - 1) / table.columns;
  for_each_chunk(panels, [&](std::int64_t panel) {
    const WinogradSums some = sums_of_columns(
        all, panel * table.columns, (panel + 1) * table.columns);
    table.finish(job, some, parts, part);
  });
}

// Few tiles, many channels: all threads transform tiles, then each takes blocks
// of outputs. Rounds of tiles follow each other if not all fit.
void sum_by_outputs(
    const WinogradGradientTable& table,
    WinogradGradientJob& job) {
  WinogradJob& forward = job.forward;
  const int points = points_of(forward.tile);
  const Blocks blocks = blocks_of(forward);
  const std::int64_t each = points *
      (blocks.column_blocks * kColumnBlock +
       blocks.channel_blocks * kChannelBlock);
  const std::int64_t rounds =
      (forward.tiles * each + kMostTileFloats - 1) / kMostTileFloats;
  const std::int64_t most = (forward.tiles + rounds - 1) / rounds;
  lay_operands(job, most);
  forward.values =
      scratch(1, static_cast<std::size_t>(points * forward.values_point));
  job.outputs =
      scratch(2, static_cast<std::size_t>(points * job.outputs_point));
  const std::int64_t block_point =
      odd_cache_lines(kChannelBlock * kColumnBlock);
  float* kept = rounds == 1
      ? nullptr
      : scratch(
            0, static_cast<std::size_t>(blocks.count() * points * block_point));
  constexpr std::int64_t kTilesAtOnce = 4;
  for (std::int64_t begin = 0; begin < forward.tiles; begin += most) {
    const std::int64_t tiles = std::min(most, forward.tiles - begin);
    for_each_chunk(
        (tiles + kTilesAtOnce - 1) / kTilesAtOnce, [&](std::int64_t chunk) {
          const std::int64_t first = chunk * kTilesAtOnce;
          table.read_tiles(
              job,
              begin + first,
              begin + std::min(tiles, first + kTilesAtOnce),
              first);
        });
    for_each_chunk(blocks.count(), [&](std::int64_t block) {
      WinogradSums sums = block_sums(forward, blocks, block);
      sums.point = block_point;
      sums.at = kept != nullptr
          ? kept + block * points * block_point
          : scratch(3, static_cast<std::size_t>(points * block_point));
      table.sum_block(job, tiles, begin == 0, sums);
      if (begin + tiles == forward.tiles) table.finish(job, sums, 1, 0);
    });
  }
}

} // namespace

void winograd_weight_gradient(
    const ConvShape& shape,
    WinogradTile tile,
    const float* x,
    const float* y_gradient,
    float* weight_gradient,
    const Affine& before) {
  const WinogradGradientTable& table = gradient_table_in_use();
  WinogradGradientJob job;
  WinogradJob& forward = job.forward;
  forward = forward_job(shape, tile, table.lanes);
  forward.read = x;
  forward.before = before;
  forward.zeros =
      many_zeros(std::max(forward.source.padded, forward.target.padded));
  job.zeros = forward.zeros;
  job.gradient = y_gradient;
  job.weight_gradient = weight_gradient;
  const std::int64_t sums =
      points_of(tile) * forward.source.columns() * forward.out_channels;
  constexpr std::int64_t kFewestTiles = 64; // in a chunk
  const std::int64_t parts = std::min(
      {kMostParts,
       kMostWinogradPartialFloats / sums,
       (forward.tiles + kFewestTiles - 1) / kFewestTiles});
  if (parts >= 4 || (parts >= 1 && forward.tiles <= kFewestTiles * parts))
    sum_by_tiles(table, job, parts);
  else
    sum_by_outputs(table, job);
}

} // namespace temper::kernels

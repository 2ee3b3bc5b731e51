#include "temper/kernels/winograd/winograd.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "temper/kernels/norm/batch_norm_table.h"
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

// Sums of chunks over what is written: moments of results, or the sums of a
// gradient's end.
class WinogradParts {
 public:
  WinogradParts(const WinogradJob& job, const Moments* moments)
      : job_(job), moments_(moments) {
    if (moments != nullptr) runs_ = kMomentRuns;
    if (job.end.x != nullptr) runs_ = kGradientRuns;
  }

  void begin(std::int64_t chunks) {
    parts_.assign(
        static_cast<std::size_t>(chunks * runs_ * job_.target.channels), 0.0);
    counts_.assign(static_cast<std::size_t>(chunks), 0);
  }
  double* of(std::int64_t chunk) {
    return runs_ == 0 ? nullptr
                      : parts_.data() + chunk * runs_ * job_.target.channels;
  }
  // Tiles of a chunk; different chunks may come from different threads.
  void count(std::int64_t chunk, std::int64_t begin, std::int64_t end) {
    if (moments_ == nullptr) return;
    for (std::int64_t tile = begin; tile < end; ++tile)
      counts_[static_cast<std::size_t>(chunk)] += pixels_of(tile);
  }
  void merge() const {
    const auto chunks = static_cast<std::int64_t>(counts_.size());
    const std::int64_t channels = job_.target.channels;
    if (moments_ != nullptr)
      merge_moments(chunks, channels, counts_.data(), parts_.data(), *moments_);
    else if (runs_ > 0)
      merge_gradient_sums(chunks, channels, parts_.data(), *job_.end.sums);
  }

 private:
  // Pixels of a tile that lie in the plane; the target has no phases.
  std::int64_t pixels_of(std::int64_t tile) const {
    const std::int64_t side = outputs_of(job_.tile);
    const std::int64_t rest = tile % (job_.tile_rows * job_.tile_columns);
    const std::int64_t rows =
        job_.target.height - rest / job_.tile_columns * side;
    const std::int64_t columns =
        job_.target.width - rest % job_.tile_columns * side;
    return std::min(rows, side) * std::min(columns, side);
  }

  const WinogradJob& job_;
  const Moments* moments_;
  std::int64_t runs_ = 0;
  std::vector<double> parts_;
  std::vector<std::int64_t> counts_;
};

// The panels of all phases, each with its channels. Phases of a data gradient
// share channels: their sums are chunks. A few channels of a pixel at a time
// are too few for a gradient's end, which gets a pass of its own, but for what
// is added from the same memory.
void convolve_panels(
    const WinogradTable& table,
    WinogradJob& job,
    const Moments* moments) {
  GradientEnd end;
  if (job.end.add != job.write) std::swap(end, job.end);
  WinogradParts parts(job, moments);
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
  const std::int64_t panels = panels_of(table, job.target);
  const std::int64_t each = panels / job.target.phases();
  parts.begin(job.target.phases());
  parts.count(0, 0, job.tiles);
  for_each_chunk(panels, [&](std::int64_t panel) {
    table.convolve_panel(job, panel, parts.of(panel / each));
  });
  parts.merge();
  const WinogradSide& side = job.target;
  const std::int64_t images = job.tiles / (job.tile_rows * job.tile_columns);
  end_gradient(
      images * side.height * side.width, side.channels, end, job.write);
}

void convolve_tiles(
    const WinogradTable& table,
    WinogradJob& job,
    const Moments* moments) {
  WinogradParts parts(job, moments);
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
  parts.begin(chunks);
  for_each_chunk(chunks, [&](std::int64_t chunk) {
    const ChunkRange range =
        chunk_range(job.tiles, job.block_tiles, chunks, chunk);
    parts.count(chunk, range.begin, range.end);
    table.convolve_tiles(job, range.begin, range.end, parts.of(chunk));
  });
  parts.merge();
}

void convolve(
    const WinogradTable& table,
    WinogradJob& job,
    const Moments* moments) {
  job.zeros = many_zeros(job.source.padded);
  job.values_row = job.source.columns() + 16;
  // Few tiles: transformed weights would be larger than transformed tiles, so
  // they are made panel by panel and never reach memory.
  if (job.tiles * 2 <= job.source.columns())
    convolve_panels(table, job, moments);
  else
    convolve_tiles(table, job, moments);
}

} // namespace

void winograd_forward(
    const ConvShape& shape,
    WinogradTile tile,
    const float* x,
    const float* weight,
    const float* bias,
    float* y,
    const Moments* moments,
    const Affine& before) {
  const WinogradTable& table = table_in_use();
  WinogradJob job = forward_job(shape, tile, table.lanes);
  job.read = x;
  job.before = before;
  job.weight = weight;
  job.bias = bias;
  job.write = y;
  convolve(table, job, moments);
}

void winograd_data_gradient(
    const ConvShape& shape,
    WinogradTile tile,
    const float* y_gradient,
    const float* weight,
    float* x_gradient,
    const GradientEnd& end) {
  const WinogradTable& table = table_in_use();
  WinogradJob job = data_gradient_job(shape, tile, table.lanes);
  job.read = y_gradient;
  job.weight = weight;
  job.write = x_gradient;
  job.end = end;
  convolve(table, job, nullptr);
}

} // namespace temper::kernels

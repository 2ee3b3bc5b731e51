// Winograd's convolution, forward and to the data: a block of tiles goes
// through input transform, one multiplication a point and output transform
// while it is in the second-level cache.
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/winograd/winograd_table.h"
#include "temper/kernels/winograd/winograd_tiles.h"
#include "temper/kernels/winograd/winograd_weights.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// An odd number of cache lines: what is written at once to all points falls
// into different sets of the cache.
std::int64_t odd_lines(std::int64_t count) {
  return ((count + 15) / 16 | 1) * 16;
}

struct Panel {
  int phase;
  std::int64_t first; // target channel
  int vectors;
};

Panel panel_of(const WinogradSide& side, std::int64_t index) {
  const std::int64_t each = (side.padded + kTileColumns - 1) / kTileColumns;
  Panel panel;
  panel.phase = static_cast<int>(index / each);
  panel.first = index % each * kTileColumns;
  panel.vectors = panel_vectors(panel.first, side.padded);
  return panel;
}

std::int64_t weights_offset(const WinogradJob& job, const Panel& panel) {
  return (panel.phase * job.target.padded + panel.first) * job.source.columns();
}

template <class Short>
void read_tile(const WinogradJob& job, std::int64_t tile, float* to) {
  const TilePlace place = place_of(job, tile, Short::kOut);
  for (int phase = 0; phase < job.source.phases(); ++phase)
    tile_to_points<SourceStep<Short>>(
        job.source,
        place,
        phase,
        job.read,
        job.before,
        job.zeros,
        ColumnBlocks{to, phase * job.source.padded, job.values_row, 0},
        job.values_point);
}

template <class Short>
void read_all(const WinogradJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t tile = begin; tile < end; ++tile)
    read_tile<Short>(job, tile, job.values + tile * job.values_row);
}

template <class Short>
void weights_of_panel(const WinogradJob& job, std::int64_t index) {
  const Panel panel = panel_of(job.target, index);
  transform_panel<Short>(
      job,
      panel.phase,
      panel.first,
      panel.vectors,
      job.weights + weights_offset(job, panel),
      job.weights_point);
}

// Sums over the tiles that one thread writes: of a few in float32, of all in
// `parts`, which may be null.
struct TileCounts {
  const WinogradJob& job;
  std::int64_t first_tile; // tells where moments begin
  double* parts;
  TileSums some;
  float* sink;

  TileCounts(const WinogradJob& of, std::int64_t tile, double* to)
      : job(of), first_tile(tile), parts(to) {
    const std::int64_t padded = job.target.padded;
    sink = scratch(3, static_cast<std::size_t>(4 * padded));
    some = {sink + padded, sink + 2 * padded, sink + 3 * padded};
    clear(3 * padded, some.pivot);
  }

  bool of_gradient() const {
    return ends(job.end);
  }
  // Runs of `parts` before the two sums.
  std::int64_t pivot_runs() const {
    return of_gradient() ? 0 : 1;
  }
  void drain_some(std::int64_t first, std::int64_t channels) const {
    double* to = parts + pivot_runs() * job.target.channels + first;
    drain(channels, some.first + first, to);
    drain(channels, some.second + first, to + job.target.channels);
  }
};

template <class Short>
void write_tile(
    const WinogradJob& job,
    const TilePlace& place,
    int phase,
    const TileProducts& products,
    const TileCounts& counts) {
  if (counts.of_gradient())
    return points_to_end<Short>(job, place, phase, products, counts.some);
  const auto write = job.bias != nullptr
      ? (counts.parts != nullptr ? points_to_tile<Short, true, true>
                                 : points_to_tile<Short, false, true>)
      : (counts.parts != nullptr ? points_to_tile<Short, true, false>
                                 : points_to_tile<Short, false, false>);
  write(job, place, phase, products, counts.sink, counts.some);
}

// The mean of a tile is the pivot of all that come after it.
template <class Short>
void find_tile_pivot(
    const WinogradJob& job,
    const TilePlace& place,
    const TileProducts& products,
    const TileCounts& counts) {
  write_tile<Short>(job, place, 0, products, counts);
  std::int64_t offset[Short::kOut * Short::kOut];
  pixel_offsets<Short::kOut>(job.target, place, 0, offset);
  float pixels = 0;
  for (const std::int64_t each : offset)
    pixels += each < 0 ? 0.0F : 1.0F;
  for (std::int64_t c = products.first; c < products.first + products.channels;
       ++c) {
    counts.some.pivot[c] = counts.some.first[c] / pixels;
    counts.some.first[c] = counts.some.second[c] = 0;
    counts.parts[c] = static_cast<double>(counts.some.pivot[c]);
  }
}

// Output transform of `tiles` tiles, each with its products one `row` after
// the one before.
template <class Short>
void write_tiles(
    const WinogradJob& job,
    std::int64_t begin,
    std::int64_t tiles,
    int phase,
    TileProducts products,
    std::int64_t row,
    const TileCounts& counts) {
  constexpr std::int64_t kPixels = Short::kOut * Short::kOut;
  constexpr std::int64_t kTilesAtOnce = kFloatRows / kPixels;
  const bool counted = counts.parts != nullptr &&
      (!counts.of_gradient() || job.end.x != nullptr);
  if (counted && !counts.of_gradient() && begin == counts.first_tile)
    find_tile_pivot<Short>(
        job, place_of(job, begin, Short::kOut), products, counts);
  for (std::int64_t i = 0; i < tiles; ++i, products.from += row) {
    const TilePlace place = place_of(job, begin + i, Short::kOut);
    write_tile<Short>(job, place, phase, products, counts);
    if (counted && (i % kTilesAtOnce == kTilesAtOnce - 1 || i + 1 == tiles))
      counts.drain_some(products.first, products.channels);
  }
}

template <class Short>
void convolve_block(
    const WinogradJob& job,
    std::int64_t begin,
    std::int64_t tiles,
    float* products,
    std::int64_t point_stride,
    const TileCounts& counts) {
  constexpr int kPoints = Short::kIn * Short::kIn;
  for (std::int64_t i = 0; i < tiles; ++i)
    read_tile<Short>(job, begin + i, job.values + i * job.values_row);
  const std::int64_t row = job.block_channels;
  const std::int64_t depth = job.source.columns();
  for (int phase = 0; phase < job.target.phases(); ++phase)
    for (std::int64_t first = 0; first < job.target.padded; first += row) {
      const std::int64_t end =
          first + row < job.target.padded ? first + row : job.target.padded;
      for (int point = 0; point < kPoints; ++point)
        for (std::int64_t c = first; c < end; c += kTileColumns)
          multiply_slices(
              false,
              panel_vectors(c, job.target.padded),
              tiles,
              depth,
              job.values + point * job.values_point,
              job.values_row,
              job.weights + point * job.weights_point +
                  (phase * job.target.padded + c) * depth,
              products + point * point_stride + (c - first),
              row);
      const std::int64_t last =
          end < job.target.channels ? end : job.target.channels;
      write_tiles<Short>(
          job,
          begin,
          tiles,
          phase,
          {first, last - first, products, point_stride},
          row,
          counts);
    }
}

template <class Short>
void convolve_all(
    const WinogradJob& shared,
    std::int64_t begin,
    std::int64_t end,
    double* parts) {
  constexpr int kPoints = Short::kIn * Short::kIn;
  WinogradJob job = shared;
  const TileCounts counts(shared, begin, parts);
  job.values_point = odd_lines(job.block_tiles * job.values_row);
  job.values = scratch(1, static_cast<std::size_t>(kPoints * job.values_point));
  const std::int64_t point_stride =
      odd_lines(job.block_tiles * job.block_channels);
  float* products =
      scratch(2, static_cast<std::size_t>(kPoints * point_stride));
  for (std::int64_t tile = begin; tile < end; tile += job.block_tiles) {
    const std::int64_t left = end - tile;
    convolve_block<Short>(
        job,
        tile,
        left < job.block_tiles ? left : job.block_tiles,
        products,
        point_stride,
        counts);
  }
}

template <class Short>
void convolve_one_panel(
    const WinogradJob& job,
    std::int64_t index,
    double* parts) {
  constexpr int kPoints = Short::kIn * Short::kIn;
  const Panel panel = panel_of(job.target, index);
  const std::int64_t depth = job.source.columns();
  const std::int64_t wide = std::int64_t{panel.vectors} * kLanes;
  const std::int64_t weights_point = odd_lines(depth * wide);
  float* weights =
      scratch(1, static_cast<std::size_t>(kPoints * weights_point));
  const std::int64_t point_stride = odd_lines(job.tiles * wide);
  float* products =
      scratch(2, static_cast<std::size_t>(kPoints * point_stride));
  transform_panel<Short>(
      job, panel.phase, panel.first, panel.vectors, weights, weights_point);
  for (int point = 0; point < kPoints; ++point)
    multiply_slices(
        false,
        panel.vectors,
        job.tiles,
        depth,
        job.values + point * job.values_point,
        job.values_row,
        weights + point * weights_point,
        products + point * point_stride,
        wide);
  const std::int64_t left = job.target.channels - panel.first;
  write_tiles<Short>(
      job,
      0,
      job.tiles,
      panel.phase,
      {panel.first, left < wide ? left : wide, products, point_stride},
      wide,
      TileCounts(job, 0, parts));
}

void read_tiles(const WinogradJob& job, std::int64_t begin, std::int64_t end) {
  switch (job.tile) {
    case WinogradTile::kTwo:
      return read_all<ShortTwo>(job, begin, end);
    case WinogradTile::kFour:
      return read_all<ShortFour>(job, begin, end);
    case WinogradTile::kFourStrided:
      return read_all<ShortStrided>(job, begin, end);
  }
}

void transform_weights(const WinogradJob& job, std::int64_t panel) {
  switch (job.tile) {
    case WinogradTile::kTwo:
      return weights_of_panel<ShortTwo>(job, panel);
    case WinogradTile::kFour:
      return weights_of_panel<ShortFour>(job, panel);
    case WinogradTile::kFourStrided:
      return weights_of_panel<ShortStrided>(job, panel);
  }
}

void convolve_tiles(
    const WinogradJob& job,
    std::int64_t begin,
    std::int64_t end,
    double* parts) {
  switch (job.tile) {
    case WinogradTile::kTwo:
      return convolve_all<ShortTwo>(job, begin, end, parts);
    case WinogradTile::kFour:
      return convolve_all<ShortFour>(job, begin, end, parts);
    case WinogradTile::kFourStrided:
      return convolve_all<ShortStrided>(job, begin, end, parts);
  }
}

void convolve_panel(const WinogradJob& job, std::int64_t panel, double* parts) {
  switch (job.tile) {
    case WinogradTile::kTwo:
      return convolve_one_panel<ShortTwo>(job, panel, parts);
    case WinogradTile::kFour:
      return convolve_one_panel<ShortFour>(job, panel, parts);
    case WinogradTile::kFourStrided:
      return convolve_one_panel<ShortStrided>(job, panel, parts);
  }
}

} // namespace

extern const WinogradTable winograd_table;
const WinogradTable winograd_table = {
    kLanes,
    kTileColumns,
    read_tiles,
    transform_weights,
    convolve_tiles,
    convolve_panel};

} // namespace temper::kernels::TEMPER_TARGET

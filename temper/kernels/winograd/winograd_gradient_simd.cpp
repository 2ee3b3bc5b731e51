// The weight gradient of Winograd's convolution: the adjoint of the forward
// pass. Tiles of x and of y's gradient are transformed, multiplied point by
// point with the tiles as the inner dimension, and the sums go through the
// adjoint of the weights' transform once, at the end.
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/winograd/winograd_table.h"
#include "temper/kernels/winograd/winograd_tiles.h"
#include "temper/kernels/winograd/winograd_weights.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

template <class Short>
void read_both(
    const WinogradGradientJob& job,
    std::int64_t begin,
    std::int64_t end,
    std::int64_t row) {
  const WinogradJob& forward = job.forward;
  for (std::int64_t tile = begin; tile < end; ++tile, ++row) {
    const TilePlace place = place_of(forward, tile, Short::kOut);
    for (int phase = 0; phase < forward.source.phases(); ++phase)
      tile_to_points<SourceStep<Short>>(
          forward.source,
          place,
          phase,
          forward.read,
          forward.before,
          forward.zeros,
          ColumnBlocks{
              forward.values + row * kColumnBlock,
              phase * forward.source.padded,
              kColumnBlock,
              job.values_block},
          forward.values_point);
    tile_to_points<TargetAdjointStep<Short>>(
        forward.target,
        place,
        0,
        job.gradient,
        Affine{},
        job.zeros,
        ColumnBlocks{
            job.outputs + row * kChannelBlock,
            0,
            kChannelBlock,
            job.outputs_block},
        job.outputs_point);
  }
}

// Adds `tiles` tiles to the sums of a block of outputs, point by point.
template <class Short>
void add_tiles_to_block(
    const WinogradGradientJob& job,
    std::int64_t tiles,
    const WinogradSums& sums) {
  const WinogradJob& forward = job.forward;
  const std::int64_t channels = sums.channel_end - sums.channel_begin;
  for (int point = 0; point < Short::kIn * Short::kIn; ++point)
    for (std::int64_t first = sums.column_begin; first < sums.column_end;
         first += kTileColumns) {
      const int vectors = panel_vectors(first, sums.column_end);
      const std::int64_t wide = std::int64_t{vectors} * kLanes;
      float* panel =
          sums.at + point * sums.point + (first - sums.column_begin) * channels;
      for (std::int64_t channel = sums.channel_begin;
           channel < sums.channel_end;
           channel += kChannelBlock) {
        const std::int64_t left = sums.channel_end - channel;
        add_transposed(
            vectors,
            left < kChannelBlock ? left : kChannelBlock,
            tiles,
            job.outputs + point * job.outputs_point +
                channel / kChannelBlock * job.outputs_block,
            kChannelBlock,
            forward.values + point * forward.values_point +
                first / kColumnBlock * job.values_block + first % kColumnBlock,
            kColumnBlock,
            panel + (channel - sums.channel_begin) * wide,
            wide);
      }
    }
}

template <class Short>
void clear_block(const WinogradSums& sums) {
  const std::int64_t count = (sums.channel_end - sums.channel_begin) *
      (sums.column_end - sums.column_begin);
  for (int point = 0; point < Short::kIn * Short::kIn; ++point)
    fill_zero(sums.at + point * sums.point, count);
}

template <class Short>
void sum_private(
    const WinogradGradientJob& shared,
    std::int64_t begin,
    std::int64_t end,
    const WinogradSums& sums) {
  constexpr int kPoints = Short::kIn * Short::kIn;
  WinogradGradientJob job = shared;
  WinogradJob& forward = job.forward;
  forward.values =
      scratch(1, static_cast<std::size_t>(kPoints * forward.values_point));
  job.outputs =
      scratch(2, static_cast<std::size_t>(kPoints * job.outputs_point));
  clear_block<Short>(sums);
  for (std::int64_t tile = begin; tile < end; tile += forward.block_tiles) {
    const std::int64_t left = end - tile;
    const std::int64_t tiles =
        left < forward.block_tiles ? left : forward.block_tiles;
    read_both<Short>(job, tile, tile + tiles, 0);
    add_tiles_to_block<Short>(job, tiles, sums);
  }
}

template <int kCount>
struct SumReader {
  const float* from;
  std::int64_t point_stride;
  std::int64_t parts;
  std::int64_t part_stride;
  [[gnu::always_inline]] Vec operator()(int i, int j) const {
    const float* at = from + (i * kCount + j) * point_stride;
    Vec sum = load(at);
    for (std::int64_t part = 1; part < parts; ++part)
      sum += load(at + part * part_stride);
    return sum;
  }
};

struct TapWriter {
  const PhaseTaps& taps;
  float* to;
  std::int64_t tap_stride;
  int count;
  [[gnu::always_inline]] void operator()(int i, int j, Vec value) const {
    const int tap = taps.at[i][j];
    if (tap < 0) return;
    if (count == kLanes)
      store(to + tap * tap_stride, value);
    else
      store_some(to + tap * tap_stride, value, count);
  }
};

// The adjoint of the weights' transform for a block of outputs; `parts` sums
// are added first, in order.
template <class Short>
void finish_block(
    const WinogradGradientJob& job,
    const WinogradSums& sums,
    std::int64_t parts,
    std::int64_t part_stride) {
  const WinogradJob& forward = job.forward;
  const std::int64_t channels = sums.channel_end - sums.channel_begin;
  for (std::int64_t column = sums.column_begin; column < sums.column_end;
       column += kLanes) {
    const std::int64_t panel =
        (column - sums.column_begin) / kTileColumns * kTileColumns;
    const std::int64_t wide =
        kLanes * panel_vectors(sums.column_begin + panel, sums.column_end);
    const float* from =
        sums.at + panel * channels + (column - sums.column_begin - panel);
    const int phase = static_cast<int>(column / forward.source.padded);
    const std::int64_t in = column % forward.source.padded;
    const std::int64_t left = forward.in_channels - in;
    const PhaseTaps taps = taps_of(forward, phase, Short::kPhases > 1);
    for (std::int64_t out = sums.channel_begin; out < sums.channel_end;
         ++out, from += wide)
      both_ways<WeightAdjointStep<Short>>(
          SumReader<Short::kIn>{from, sums.point, parts, part_stride},
          TapWriter{
              taps,
              job.weight_gradient + out * 9 * forward.in_channels + in,
              forward.in_channels,
              left < kLanes ? static_cast<int>(left) : kLanes});
  }
}

void gradient_read_tiles(
    const WinogradGradientJob& job,
    std::int64_t begin,
    std::int64_t end,
    std::int64_t row) {
  switch (job.forward.tile) {
    case WinogradTile::kTwo:
      return read_both<ShortTwo>(job, begin, end, row);
    case WinogradTile::kFour:
      return read_both<ShortFour>(job, begin, end, row);
    case WinogradTile::kFourStrided:
      return read_both<ShortStrided>(job, begin, end, row);
  }
}

void sum_tiles(
    const WinogradGradientJob& job,
    std::int64_t begin,
    std::int64_t end,
    const WinogradSums& sums) {
  switch (job.forward.tile) {
    case WinogradTile::kTwo:
      return sum_private<ShortTwo>(job, begin, end, sums);
    case WinogradTile::kFour:
      return sum_private<ShortFour>(job, begin, end, sums);
    case WinogradTile::kFourStrided:
      return sum_private<ShortStrided>(job, begin, end, sums);
  }
}

template <class Short>
void sum_one_block(
    const WinogradGradientJob& job,
    std::int64_t tiles,
    bool clear,
    const WinogradSums& sums) {
  if (clear) clear_block<Short>(sums);
  add_tiles_to_block<Short>(job, tiles, sums);
}

void sum_block(
    const WinogradGradientJob& job,
    std::int64_t tiles,
    bool clear,
    const WinogradSums& sums) {
  switch (job.forward.tile) {
    case WinogradTile::kTwo:
      return sum_one_block<ShortTwo>(job, tiles, clear, sums);
    case WinogradTile::kFour:
      return sum_one_block<ShortFour>(job, tiles, clear, sums);
    case WinogradTile::kFourStrided:
      return sum_one_block<ShortStrided>(job, tiles, clear, sums);
  }
}

void finish_sums(
    const WinogradGradientJob& job,
    const WinogradSums& sums,
    std::int64_t parts,
    std::int64_t part_stride) {
  switch (job.forward.tile) {
    case WinogradTile::kTwo:
      return finish_block<ShortTwo>(job, sums, parts, part_stride);
    case WinogradTile::kFour:
      return finish_block<ShortFour>(job, sums, parts, part_stride);
    case WinogradTile::kFourStrided:
      return finish_block<ShortStrided>(job, sums, parts, part_stride);
  }
}

} // namespace

extern const WinogradGradientTable winograd_gradient_table;
const WinogradGradientTable winograd_gradient_table = {
    kLanes,
    kTileColumns,
    gradient_read_tiles,
    sum_tiles,
    sum_block,
    finish_sums};

} // namespace temper::kernels::TEMPER_TARGET

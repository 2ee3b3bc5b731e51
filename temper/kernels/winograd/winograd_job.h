// One pass of a Winograd convolution, as winograd.cpp plans it and
// winograd_simd.cpp computes it piece by piece. Forward pass and data gradient
// are the same job with other sides: the source is read in overlapping tiles,
// the target written in tiles that do not overlap.
//
// A stride of 2 is a stride of 1 over phases: grid point (i, j) of phase (p, q)
// is the pixel (2 i + p, 2 j + q) of the larger side, whose four phases lie
// beside each other as if they were channels.
#pragma once

#include <cstdint>

#include "temper/kernels/norm/batch_norm.h"

namespace temper::kernels {

enum class WinogradTile {
  kTwo, // F(2x2, 3x3): 4x4 points a tile
  kFour, // F(4x4, 3x3): 6x6 points a tile
  kFourStrided // F(4x4, 2x2) over phases: 5x5 points a tile
};

struct WinogradSide {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t padded = 0; // channels in whole vectors
  int step = 1; // pixels between grid points: 1, or 2 on the side with phases
  int origin = 0; // grid point at which the first tile begins

  int phases() const {
    return step * step;
  }
  std::int64_t columns() const {
    return phases() * padded;
  }
};

struct WinogradJob {
  WinogradTile tile = WinogradTile::kFour;
  WinogradSide source;
  WinogradSide target;
  std::int64_t tile_rows = 0; // of one image
  std::int64_t tile_columns = 0;
  std::int64_t tiles = 0; // of the batch

  // The layer's weights [out_channels, 3, 3, in_channels].
  const float* weight = nullptr;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  bool transposed = false; // data gradient: targets are input channels
  // The weight's row (or column) that joins a target's grid point with the
  // source's grid point origin + j of phase p: tap[p][j], -1 for none. Here p
  // is the phase of the side that has phases.
  int tap[2][3] = {};

  const float* read = nullptr; // the source
  Affine before; // applied to the source's pixels, not to the border
  float* write = nullptr; // the target
  const float* bias = nullptr; // of target channels, or null
  GradientEnd end; // of a data gradient
  const float* zeros = nullptr; // source.padded of them, for the border

  // Transformed weights: point, panel of target channels, source column,
  // channel in the panel.
  float* weights = nullptr;
  std::int64_t weights_point = 0; // floats from point to point
  // Transformed source: point, tile, source column.
  float* values = nullptr;
  std::int64_t values_point = 0;
  std::int64_t values_row = 0;
  // Products: point, tile, some target channels of one phase.
  std::int64_t block_tiles = 0;
  std::int64_t block_channels = 0;
};

// The weight gradient: the adjoint of the forward job. Both operands are kept
// in blocks of columns, [point, block, tile, column in the block], so that a
// block of outputs reads memory in one run.
constexpr std::int64_t kColumnBlock = 64; // of x
constexpr std::int64_t kChannelBlock = 128; // of y's gradient

struct WinogradGradientJob {
  WinogradJob forward; // its read is x; its values hold transformed tiles
  std::int64_t values_block = 0; // floats from block to block
  const float* gradient = nullptr; // of y
  const float* zeros = nullptr; // for the border of the gradient's tiles
  float* outputs = nullptr; // transformed gradient
  std::int64_t outputs_point = 0;
  std::int64_t outputs_block = 0;
  float* weight_gradient = nullptr;
};

// Sums over tiles for a block of outputs, still transformed: point, panel of
// source columns, output channel, column in the panel. A block begins with a
// whole kColumnBlock and a whole kChannelBlock.
struct WinogradSums {
  float* at = nullptr;
  std::int64_t point = 0; // floats from point to point
  std::int64_t channel_begin = 0; // output channels
  std::int64_t channel_end = 0;
  std::int64_t column_begin = 0; // source columns
  std::int64_t column_end = 0;
};

} // namespace temper::kernels

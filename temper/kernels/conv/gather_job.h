// A convolution as multiplications of gathered rows, as gather.cpp plans it and
// gather_simd.cpp computes it. Forward pass and data gradient are the same job:
// each row belongs to a pixel of the target and holds the source's pixels that
// the taps join with it, channel by channel; it is multiplied by the weights of
// those taps.
//
// Rows come in groups with the same taps. A data gradient with a stride has at
// least one group for each phase. On small planes, where many taps would only
// see the padding, pixels are grouped by the taps that lie inside, and no
// multiplication by zero is left: a 3x3 on a 1x1 plane is its centre tap.
// Private to kernels/conv.
#pragma once

#include <cstdint>

#include "temper/kernels/norm/batch_norm.h"

namespace temper::kernels {

constexpr int kMostTaps = 16; // along an axis

// Target coordinates first, first + step, ... of one axis that have the same
// taps.
struct GatherAxis {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  int taps = 0;
  std::int64_t tap[kMostTaps] = {}; // of the weight, ascending
  // The source's coordinate that a tap joins with `first`; it moves by
  // source_step with each of the target's.
  std::int64_t source[kMostTaps] = {};
};

struct GatherGroup {
  GatherAxis rows; // of the plane
  GatherAxis columns;
  std::int64_t pixels = 0; // of the batch: batch * rows.count * columns.count
  std::int64_t first_block = 0; // blocks of all groups are counted through
  std::int64_t blocks = 0;
};

struct GatherJob {
  std::int64_t source_height = 0;
  std::int64_t source_width = 0;
  std::int64_t source_channels = 0;
  std::int64_t target_height = 0;
  std::int64_t target_width = 0;
  std::int64_t target_channels = 0;
  std::int64_t source_step_rows = 1;
  std::int64_t source_step_columns = 1;

  const GatherGroup* groups = nullptr;
  std::int64_t group_count = 0;
  std::int64_t blocks = 0; // of all groups
  std::int64_t block_rows = 0; // of a gathered block, at most
  std::int64_t block_floats = 0; // of a gathered block, at most

  // The layer's weights [out_channels, kernel_height, kernel_width,
  // in_channels]; `transposed`: targets are input channels.
  const float* weight = nullptr;
  bool transposed = false;
  std::int64_t kernel_width = 0;
  std::int64_t taps = 0; // kernel_height * kernel_width
  const bool* used = nullptr; // by tap

  // Packed: panel of target channels, tap, source channel, channel in the
  // panel.
  float* weights = nullptr;

  const float* read = nullptr;
  Affine before; // applied to the source's pixels, not to the padding
  float* write = nullptr;
  const float* bias = nullptr; // of target channels, or null
  GradientEnd end; // of a data gradient
};

struct RowRange {
  const GatherGroup* group;
  std::int64_t begin;
  std::int64_t end;
};

// The rows of a block, whole register tiles of `tile_rows` but for the last.
// Always inline because files of every vector unit use it (simd/vector.h).
[[gnu::always_inline]] inline RowRange rows_of_block(
    const GatherJob& job,
    std::int64_t block,
    std::int64_t tile_rows) {
  const GatherGroup* group = job.groups;
  while (block >= group->first_block + group->blocks)
    ++group;
  const std::int64_t tiles = (group->pixels + tile_rows - 1) / tile_rows;
  const std::int64_t index = block - group->first_block;
  const std::int64_t begin = tiles * index / group->blocks * tile_rows;
  const std::int64_t end = tiles * (index + 1) / group->blocks * tile_rows;
  return {
      group,
      begin < group->pixels ? begin : group->pixels,
      end < group->pixels ? end : group->pixels};
}

// Columns of a weight gradient that are computed together: `tap` alone with
// input channels [begin, end), or all taps with all channels (tap < 0).
struct GatherColumns {
  std::int64_t tap = -1;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t floats = 0; // out_channels rows of whole vectors
  std::int64_t offset = 0; // into an accumulator
};

} // namespace temper::kernels

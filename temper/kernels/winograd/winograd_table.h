// The pieces of a Winograd convolution that are compiled for each vector unit.
// Each runs on one thread; winograd.cpp cuts the work and hands it out.
// Private to kernels/winograd.
#pragma once

#include "temper/kernels/winograd/winograd_job.h"

namespace temper::kernels {

struct WinogradTable {
  int lanes;
  int columns; // target channels in a whole panel

  // Tiles [begin, end) of the source into job.values, the first at its row 0.
  void (*read_tiles)(
      const WinogradJob& job,
      std::int64_t begin,
      std::int64_t end);

  // One panel of weights into job.weights.
  void (*transform_weights)(const WinogradJob& job, std::int64_t panel);

  // Tiles [begin, end) from source to target with weights transformed before,
  // in blocks of job.block_tiles. `parts`, or null: the moments of what is
  // written, or the sums of a gradient's end (norm/batch_norm_table.h).
  void (*convolve_tiles)(
      const WinogradJob& job,
      std::int64_t begin,
      std::int64_t end,
      double* parts);

  // All tiles, read before, of the target channels of one panel, whose weights
  // are transformed on the way, with their share of `parts`.
  void (*convolve_panel)(
      const WinogradJob& job,
      std::int64_t panel,
      double* parts);
};

struct WinogradGradientTable {
  int lanes;
  int columns; // source columns in a whole panel

  // Tiles [begin, end) of x and of the gradient, the first at row `row` of
  // values and outputs.
  void (*read_tiles)(
      const WinogradGradientJob& job,
      std::int64_t begin,
      std::int64_t end,
      std::int64_t row);

  // Sums over tiles [begin, end), transformed in blocks of
  // forward.block_tiles; the sums are cleared first.
  void (*sum_tiles)(
      const WinogradGradientJob& job,
      std::int64_t begin,
      std::int64_t end,
      const WinogradSums& sums);

  // Adds the first `tiles` rows of values and outputs to the sums.
  void (*sum_block)(
      const WinogradGradientJob& job,
      std::int64_t tiles,
      bool clear,
      const WinogradSums& sums);

  // Sums become gradients of weights. There may be several parts of them, which
  // are added in order.
  void (*finish)(
      const WinogradGradientJob& job,
      const WinogradSums& sums,
      std::int64_t parts,
      std::int64_t part_stride);
};

} // namespace temper::kernels

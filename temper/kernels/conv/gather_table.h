// The pieces of a gathered convolution that are compiled for each vector unit.
// Each runs on one thread; gather.cpp cuts the work and hands it out.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv/gather_job.h"

namespace temper::kernels {

struct GatherTable {
  int lanes;
  int columns; // target channels in a whole panel
  int rows; // of a register tile

  // One panel of weights into job.weights: the taps in use.
  void (*pack_weights)(const GatherJob& job, std::int64_t panel);

  // Blocks [begin, end) of rows, panels [panel_begin, panel_end). `parts`, or
  // null: the moments of what is written, or the sums of a gradient's end
  // (norm/batch_norm_table.h).
  void (*convolve)(
      const GatherJob& job,
      std::int64_t begin,
      std::int64_t end,
      std::int64_t panel_begin,
      std::int64_t panel_end,
      double* parts);

  // Sums over blocks [begin, end) of rows of the outer products of y's gradient
  // and x, for some columns of the weights. The job is the forward pass's.
  void (*sum_gradient)(
      const GatherJob& job,
      const float* gradient,
      const GatherColumns& columns,
      std::int64_t begin,
      std::int64_t end,
      float* sums);

  // Adds `parts` sums in order and writes output channels [begin, end) of the
  // weight gradient.
  void (*write_gradient)(
      const GatherJob& job,
      const GatherColumns& columns,
      const float* sums,
      std::int64_t parts,
      std::int64_t part_stride,
      std::int64_t begin,
      std::int64_t end,
      float* weight_gradient);

  // Adds `count` rows of `channels` to `sum`.
  void (*sum_rows)(
      const float* rows,
      std::int64_t count,
      std::int64_t channels,
      double* sum);
};

} // namespace temper::kernels

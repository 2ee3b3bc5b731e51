// The jobs of a gathered convolution, made from its shape. Used by gather.cpp.
// Private to kernels/conv.
#pragma once

#include <memory>
#include <vector>

#include "temper/kernels/conv/gather_job.h"
#include "temper/kernels/conv_shape.h"

namespace temper::kernels {

struct GatherPlan {
  std::vector<GatherGroup> groups;
  std::unique_ptr<bool[]> used; // by tap
  std::int64_t products = 0; // of one channel pair and image
  bool whole = true; // one group with all taps
  GatherJob job; // points into the members above; pointers to data are unset
};

GatherPlan plan_forward(const ConvShape& shape);
GatherPlan plan_data_gradient(const ConvShape& shape);

// Cuts the groups into blocks of at most about `rows` rows; `tile_rows`: of
// the register tile. `width`: floats of the longest gathered row.
void cut_blocks(GatherPlan& plan, std::int64_t rows, std::int64_t tile_rows);

} // namespace temper::kernels

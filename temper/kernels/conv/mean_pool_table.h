// The vector code behind mean_pool.h, for images [begin, end).
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv/mean_pool.h"

namespace temper::kernels {

struct MeanPoolTable {
  void (*forward)(
      const MeanPoolShape& shape,
      std::int64_t begin,
      std::int64_t end,
      const float* x,
      float* means);
  void (*backward)(
      const MeanPoolShape& shape,
      std::int64_t begin,
      std::int64_t end,
      const float* gradient,
      float* x_gradient);
};

} // namespace temper::kernels

// The vector code behind depthwise.h; depthwise.cpp cuts the work.
// Private to kernels/conv.
#pragma once

#include <cstdint>

#include "temper/kernels/conv/depthwise.h"

namespace temper::kernels {

// Some images and some vectors of channels of them.
struct DepthwisePiece {
  std::int64_t image_begin = 0;
  std::int64_t image_end = 0;
  std::int64_t vector_begin = 0;
  std::int64_t vector_end = 0;
};

struct DepthwiseTable {
  std::int64_t lanes;
  // Weights as [vectors of channels, kernel, kernel, lanes], zeros at the end.
  void (*pack)(const DepthwiseShape& shape, const float* weight, float* packed);
  // `parts`: moments of the piece's images, see norm/batch_norm_table.h.
  void (*forward)(
      const DepthwiseForward& job,
      const float* packed,
      const DepthwisePiece& piece,
      double* parts);
  // `weights`: the piece's sums, laid out like packed weights.
  void (*backward)(
      const DepthwiseBackward& job,
      const float* packed,
      const DepthwisePiece& piece,
      double* weights,
      double* parts);
};

} // namespace temper::kernels

// Pixels with their channels to planes of pixels, and back: what lies between
// an image whose channels come last and a linear layer that numbers its inputs
// plane by plane.
#pragma once

#include <cstdint>

namespace temper::kernels {

// to[i, c, r] = from[i, r, c] for `count` matrices of rows x columns. The two
// do not overlap.
void transpose_each(
    std::int64_t count,
    std::int64_t rows,
    std::int64_t columns,
    const float* from,
    float* to);

struct PlanesTable {
  // Rows [begin, end) of one matrix.
  void (*transpose_rows)(
      std::int64_t rows,
      std::int64_t columns,
      std::int64_t begin,
      std::int64_t end,
      const float* from,
      float* to);
};

} // namespace temper::kernels

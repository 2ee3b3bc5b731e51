// Panels of columns: packing, and what is done with a panel's results while
// they are in the cache. For files named *_simd.cpp.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/gemm/micro.h"
#include "temper/kernels/norm/lanes.h"

namespace temper::kernels::TEMPER_TARGET {

// Columns of panel p of `columns` in all.
[[gnu::always_inline]] inline std::int64_t panel_width(
    std::int64_t columns,
    std::int64_t p) {
  const std::int64_t rest = columns - p * kTileColumns;
  return rest < kTileColumns ? rest : kTileColumns;
}

// A panel's rows of `depth` numbers each times a packed panel of that width.
inline void multiply(
    std::int64_t width,
    std::int64_t rows,
    std::int64_t depth,
    const float* a,
    const float* panel,
    float* c,
    std::int64_t c_stride,
    Ahead& ahead) {
  const std::int64_t vectors = (width + kLanes - 1) / kLanes;
  if (vectors == kTileVectors)
    return multiply_panel<kTileVectors>(
        rows, depth, a, depth, panel, c, c_stride, ahead);
  if constexpr (kTileVectors > 2) {
    if (vectors == 3)
      return multiply_panel<3>(
          rows, depth, a, depth, panel, c, c_stride, ahead);
    if (vectors == 2)
      return multiply_panel<2>(
          rows, depth, a, depth, panel, c, c_stride, ahead);
  }
  multiply_panel<1>(rows, depth, a, depth, panel, c, c_stride, ahead);
}

} // namespace temper::kernels::TEMPER_TARGET

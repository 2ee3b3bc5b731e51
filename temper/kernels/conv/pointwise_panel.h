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
    std::int64_t c_stride) {
  const std::int64_t vectors = (width + kLanes - 1) / kLanes;
  if (vectors == kTileVectors)
    return multiply_panel<kTileVectors, false>(
        rows, depth, a, depth, panel, c, c_stride);
  if constexpr (kTileVectors > 2) {
    if (vectors == 3)
      return multiply_panel<3, false>(
          rows, depth, a, depth, panel, c, c_stride);
    if (vectors == 2)
      return multiply_panel<2, false>(
          rows, depth, a, depth, panel, c, c_stride);
  }
  multiply_panel<1, false>(rows, depth, a, depth, panel, c, c_stride);
}

// Calls job.run(lanes, column) for every vector of a panel's columns.
template <class Job>
[[gnu::always_inline]] inline void over_vectors(
    std::int64_t width,
    const Job& job) {
  std::int64_t c = 0;
  for (; c + kLanes <= width; c += kLanes)
    job.run(Whole{}, c);
  if (c < width) job.run(Part{static_cast<int>(width - c)}, c);
}

} // namespace temper::kernels::TEMPER_TARGET

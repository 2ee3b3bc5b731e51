// The register tile of a matrix multiplication, and the packing it reads.
// C[m, n] = A[m, k] * B[k, n] with A in rows as it lies in memory (its elements
// are broadcast) and B packed in panels of kTileColumns columns.
// For files named *_simd.cpp.
//
// Each element of C is one chain of multiply-adds over k, in order, beginning
// at zero or at what C holds: its bits do not depend on where its tile lies.
#pragma once

#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

// `rows` by `vectors` vectors. `accumulate`: C's own values come first.
template <int kRows, int kVectors, bool kAccumulate>
[[gnu::always_inline]] inline void multiply_tile(
    std::int64_t depth,
    const float* __restrict a,
    std::int64_t a_stride,
    const float* __restrict panel,
    std::int64_t panel_stride,
    float* __restrict c,
    std::int64_t c_stride) {
  Vec sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      sums[i][j] = kAccumulate ? load(c + i * c_stride + j * kLanes) : Vec{};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vec b[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      b[j] = load(panel + k * panel_stride + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vec s = broadcast(a[i * a_stride + k]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j)
        sums[i][j] += s * b[j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      store(c + i * c_stride + j * kLanes, sums[i][j]);
}

// A panel of `kVectors` vectors under any number of rows.
template <int kVectors, bool kAccumulate>
inline void multiply_panel(
    std::int64_t rows,
    std::int64_t depth,
    const float* a,
    std::int64_t a_stride,
    const float* panel,
    float* c,
    std::int64_t c_stride) {
  constexpr std::int64_t kWide = kVectors * kLanes;
  std::int64_t i = 0;
  for (; i + kTileRows <= rows; i += kTileRows)
    multiply_tile<kTileRows, kVectors, kAccumulate>(
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        kWide,
        c + i * c_stride,
        c_stride);
  for (; i + 4 <= rows; i += 4)
    multiply_tile<4, kVectors, kAccumulate>(
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        kWide,
        c + i * c_stride,
        c_stride);
  for (; i + 2 <= rows; i += 2)
    multiply_tile<2, kVectors, kAccumulate>(
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        kWide,
        c + i * c_stride,
        c_stride);
  if (i < rows)
    multiply_tile<1, kVectors, kAccumulate>(
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        kWide,
        c + i * c_stride,
        c_stride);
}

} // namespace temper::kernels::TEMPER_TARGET

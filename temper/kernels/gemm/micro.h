// The register tile of a matrix multiplication, and the packing it reads.
// C[m, n] = A[m, k] * B[k, n] with A in rows as it lies in memory (its elements
// are broadcast) and B packed in panels of kTileColumns columns.
// For files named *_simd.cpp.
//
// Each element of C is one chain of multiply-adds over k, in order, beginning
// at zero: its bits do not depend on where its tile lies.
#pragma once

#include "temper/kernels/gemm/ahead.h"

namespace temper::kernels::TEMPER_TARGET {

// `rows` by `vectors` vectors.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void multiply_tile(
    std::int64_t depth,
    const float* __restrict a,
    std::int64_t a_stride,
    const float* __restrict panel,
    float* __restrict c,
    std::int64_t c_stride,
    Ahead& ahead) {
  Vec sums[kRows][kVectors] = {};
  AheadShare share = ahead.share(depth, panel);
  for (std::int64_t k = 0; k < depth; ++k) {
    share.ask();
    Vec b[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      b[j] = load(panel + (k * kVectors + j) * kLanes);
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
template <int kVectors>
inline void multiply_panel(
    std::int64_t rows,
    std::int64_t depth,
    const float* a,
    std::int64_t a_stride,
    const float* panel,
    float* c,
    std::int64_t c_stride,
    Ahead& ahead) {
  std::int64_t i = 0;
  for (; i + kTileRows <= rows; i += kTileRows)
    multiply_tile<kTileRows, kVectors>(
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        c + i * c_stride,
        c_stride,
        ahead);
  for (; i + 4 <= rows; i += 4)
    multiply_tile<4, kVectors>(
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        c + i * c_stride,
        c_stride,
        ahead);
  for (; i + 2 <= rows; i += 2)
    multiply_tile<2, kVectors>(
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        c + i * c_stride,
        c_stride,
        ahead);
  if (i < rows)
    multiply_tile<1, kVectors>(
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        c + i * c_stride,
        c_stride,
        ahead);
}

} // namespace temper::kernels::TEMPER_TARGET

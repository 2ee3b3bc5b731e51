// Multiplications as convolutions need them: rows by a panel in slices of the
// depth, and the transposed product of gradients. For files named *_simd.cpp.
#pragma once

#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

// So much of a panel stays in the first-level cache, beside the rows of A.
constexpr std::int64_t kDepthSlice = kTileColumns > 16 ? 128 : 256;

// Vectors in the panel that begins at column `first` of `columns`.
[[gnu::always_inline]] inline int panel_vectors(
    std::int64_t first,
    std::int64_t columns) {
  const std::int64_t left = (columns - first + kLanes - 1) / kLanes;
  return left < kTileVectors ? static_cast<int>(left) : kTileVectors;
}

// The end of a register tile: written, or added to what C holds. Sums begin at
// zero for each slice and are added afterwards: short chains of additions are
// more exact than one long one.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void end_tile(
    bool add,
    const Vec (&sums)[kRows][kVectors],
    float* __restrict c,
    std::int64_t c_stride) {
  if (add) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        float* to = c + i * c_stride + j * kLanes;
        store(to, load(to) + sums[i][j]);
      }
    return;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      store(c + i * c_stride + j * kLanes, sums[i][j]);
}

template <int kRows, int kVectors>
[[gnu::always_inline]] inline void slice_tile(
    bool add,
    std::int64_t depth,
    const float* __restrict a,
    std::int64_t a_stride,
    const float* __restrict panel,
    float* __restrict c,
    std::int64_t c_stride) {
  Vec sums[kRows][kVectors] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
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
  end_tile<kRows, kVectors>(add, sums, c, c_stride);
}

// One slice of the depth under any number of rows.
template <int kVectors>
inline void multiply_slice(
    bool add,
    std::int64_t rows,
    std::int64_t depth,
    const float* a,
    std::int64_t a_stride,
    const float* panel,
    float* c,
    std::int64_t c_stride) {
  std::int64_t i = 0;
  for (; i + kTileRows <= rows; i += kTileRows)
    slice_tile<kTileRows, kVectors>(
        add,
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        c + i * c_stride,
        c_stride);
  for (; i + 4 <= rows; i += 4)
    slice_tile<4, kVectors>(
        add,
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        c + i * c_stride,
        c_stride);
  for (; i + 2 <= rows; i += 2)
    slice_tile<2, kVectors>(
        add,
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        c + i * c_stride,
        c_stride);
  if (i < rows)
    slice_tile<1, kVectors>(
        add,
        depth,
        a + i * a_stride,
        a_stride,
        panel,
        c + i * c_stride,
        c_stride);
}

// C[rows, panel] = or += A[rows, depth] * panel[depth, panel], the depth in
// slices.
inline void multiply_slices(
    bool accumulate,
    int vectors,
    std::int64_t rows,
    std::int64_t depth,
    const float* a,
    std::int64_t a_stride,
    const float* panel,
    float* c,
    std::int64_t c_stride) {
  const std::int64_t wide = std::int64_t{vectors} * kLanes;
  const auto multiply = vectors == kTileVectors ? multiply_slice<kTileVectors>
      : vectors == 1                            ? multiply_slice<1>
      : vectors == 2                            ? multiply_slice<2>
                                                : multiply_slice<3>;
  for (std::int64_t k = 0; k < depth; k += kDepthSlice) {
    const std::int64_t slice =
        depth - k < kDepthSlice ? depth - k : kDepthSlice;
    multiply(
        accumulate || k > 0,
        rows,
        slice,
        a + k,
        a_stride,
        panel + k * wide,
        c,
        c_stride);
  }
}

// C[i, j] += sum over k of A[k, i] * B[k, j]: both operands in rows of k.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void add_transposed_tile(
    std::int64_t depth,
    const float* __restrict a,
    std::int64_t a_stride,
    const float* __restrict b,
    std::int64_t b_stride,
    float* __restrict c,
    std::int64_t c_stride) {
  Vec sums[kRows][kVectors] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vec right[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      right[j] = load(b + k * b_stride + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vec left = broadcast(a[k * a_stride + i]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j)
        sums[i][j] += left * right[j];
    }
  }
  end_tile<kRows, kVectors>(true, sums, c, c_stride);
}

template <int kVectors>
inline void add_transposed_panel(
    std::int64_t rows,
    std::int64_t depth,
    const float* a,
    std::int64_t a_stride,
    const float* b,
    std::int64_t b_stride,
    float* c,
    std::int64_t c_stride) {
  std::int64_t i = 0;
  for (; i + kTileRows <= rows; i += kTileRows)
    add_transposed_tile<kTileRows, kVectors>(
        depth, a + i, a_stride, b, b_stride, c + i * c_stride, c_stride);
  for (; i + 4 <= rows; i += 4)
    add_transposed_tile<4, kVectors>(
        depth, a + i, a_stride, b, b_stride, c + i * c_stride, c_stride);
  for (; i < rows; ++i)
    add_transposed_tile<1, kVectors>(
        depth, a + i, a_stride, b, b_stride, c + i * c_stride, c_stride);
}

inline void add_transposed(
    int vectors,
    std::int64_t rows,
    std::int64_t depth,
    const float* a,
    std::int64_t a_stride,
    const float* b,
    std::int64_t b_stride,
    float* c,
    std::int64_t c_stride) {
  if (vectors == kTileVectors)
    add_transposed_panel<kTileVectors>(
        rows, depth, a, a_stride, b, b_stride, c, c_stride);
  else if (vectors == 1)
    add_transposed_panel<1>(rows, depth, a, a_stride, b, b_stride, c, c_stride);
  else if (vectors == 2)
    add_transposed_panel<2>(rows, depth, a, a_stride, b, b_stride, c, c_stride);
  else
    add_transposed_panel<3>(rows, depth, a, a_stride, b, b_stride, c, c_stride);
}

inline void fill_zero(float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = 0.0F;
}

} // namespace temper::kernels::TEMPER_TARGET

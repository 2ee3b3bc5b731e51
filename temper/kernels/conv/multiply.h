// Multiplications as convolutions need them: rows by a panel in slices of the
// depth, and the transposed product of gradients. For files named *_simd.cpp.
#pragma once

#include "temper/kernels/gemm/micro.h"

namespace temper::kernels::TEMPER_TARGET {

// So much of a panel stays in the first-level cache, beside the rows of A.
constexpr std::int64_t kDepthSlice = kTileColumns > 16 ? 128 : 256;

[[gnu::always_inline]] inline std::int64_t whole_vectors(std::int64_t count) {
  return (count + kLanes - 1) / kLanes * kLanes;
}

// Vectors in the panel that begins at column `first` of `columns`.
[[gnu::always_inline]] inline int panel_vectors(
    std::int64_t first,
    std::int64_t columns) {
  const std::int64_t left = (columns - first + kLanes - 1) / kLanes;
  return left < kTileVectors ? static_cast<int>(left) : kTileVectors;
}

template <bool kAccumulate>
inline void multiply_some_panel(
    int vectors,
    std::int64_t rows,
    std::int64_t depth,
    const float* a,
    std::int64_t a_stride,
    const float* panel,
    float* c,
    std::int64_t c_stride) {
  if (vectors == kTileVectors)
    multiply_panel<kTileVectors, kAccumulate>(
        rows, depth, a, a_stride, panel, c, c_stride);
  else if (vectors == 1)
    multiply_panel<1, kAccumulate>(
        rows, depth, a, a_stride, panel, c, c_stride);
  else if (vectors == 2)
    multiply_panel<2, kAccumulate>(
        rows, depth, a, a_stride, panel, c, c_stride);
  else
    multiply_panel<3, kAccumulate>(
        rows, depth, a, a_stride, panel, c, c_stride);
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
  for (std::int64_t k = 0; k < depth; k += kDepthSlice) {
    const std::int64_t slice =
        depth - k < kDepthSlice ? depth - k : kDepthSlice;
    if (accumulate || k > 0)
      multiply_some_panel<true>(
          vectors, rows, slice, a + k, a_stride, panel + k * wide, c, c_stride);
    else
      multiply_some_panel<false>(
          vectors, rows, slice, a + k, a_stride, panel + k * wide, c, c_stride);
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
  Vec sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      sums[i][j] = load(c + i * c_stride + j * kLanes);
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
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      store(c + i * c_stride + j * kLanes, sums[i][j]);
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

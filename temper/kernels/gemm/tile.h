// The register tile of a multiplication whose sums start from zero, with what
// comes after its sum.
// Private to kernels/gemm.
#pragma once

#include "temper/kernels/gemm/row_block.h"

namespace temper::kernels::TEMPER_TARGET {

// Rows of A lie kRowStep apart, its columns `depth_step`.
template <int kRowStep>
struct TileOperands {
  std::int64_t depth = 0;
  const float* a = nullptr;
  std::int64_t depth_step = 1;
  const float* panel = nullptr;
};

template <int kRows, int kVectors, int kRowStep>
[[gnu::always_inline]] inline void sum_products(
    const TileOperands<kRowStep>& from,
    Vec (&sums)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      sums[i][j] = Vec{};
  const float* __restrict a = from.a;
  const float* __restrict panel = from.panel;
  const std::int64_t step = kRowStep == 1 ? from.depth_step : 1;
#pragma GCC unroll 2
  for (std::int64_t k = 0; k < from.depth; ++k) {
    Vec b[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      b[j] = load(panel + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vec s = broadcast(a[i * kRowStep]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j)
        sums[i][j] += s * b[j];
    }
    a += step;
    panel += kVectors * kLanes;
  }
}

template <int kRows, int kVectors>
[[gnu::always_inline]] inline void finish_tile(
    Vec (&sums)[kRows][kVectors],
    const Ending& ending,
    float* __restrict c,
    std::int64_t c_stride) {
  if (ending.add) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j)
        sums[i][j] += load(c + i * c_stride + j * kLanes);
  }
  if (ending.bias != nullptr) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const Vec bias = load(ending.bias + j * kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i)
        sums[i][j] += bias;
    }
  }
  if (ending.residual != nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j)
        sums[i][j] +=
            load(ending.residual + i * ending.residual_stride + j * kLanes);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      store(c + i * c_stride + j * kLanes, sums[i][j]);
}

template <int kRows, int kVectors, int kRowStep>
void whole_tile(
    const TileOperands<kRowStep>& from,
    const Ending& ending,
    float* c,
    std::int64_t c_stride) {
  Vec sums[kRows][kVectors];
  sum_products<kRows, kVectors, kRowStep>(from, sums);
  finish_tile<kRows, kVectors>(sums, ending, c, c_stride);
}

// A tile of which only the first `columns` columns are in C.
template <int kRows, int kVectors, int kRowStep>
void narrow_tile(
    const TileOperands<kRowStep>& from,
    const Ending& ending,
    float* c,
    std::int64_t c_stride,
    std::int64_t columns) {
  Vec sums[kRows][kVectors];
  sum_products<kRows, kVectors, kRowStep>(from, sums);
  float whole[kRows * kVectors * kLanes];
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kVectors; ++j)
      store(whole + (i * kVectors + j) * kLanes, sums[i][j]);
  for (int i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      float sum = whole[i * kVectors * kLanes + j];
      if (ending.add) sum += c[i * c_stride + j];
      if (ending.bias != nullptr) sum += ending.bias[j];
      if (ending.residual != nullptr)
        sum += ending.residual[i * ending.residual_stride + j];
      c[i * c_stride + j] = sum;
    }
}

// One tile of 1 to kRows rows.
template <int kRows, int kVectors, int kRowStep>
inline void some_rows(
    std::int64_t rows,
    const TileOperands<kRowStep>& from,
    const Ending& ending,
    float* c,
    std::int64_t c_stride,
    std::int64_t columns) {
  if (rows < kRows) {
    if constexpr (kRows > 1)
      some_rows<kRows - 1, kVectors, kRowStep>(
          rows, from, ending, c, c_stride, columns);
    return;
  }
  if (columns == kVectors * kLanes)
    whole_tile<kRows, kVectors, kRowStep>(from, ending, c, c_stride);
  else
    narrow_tile<kRows, kVectors, kRowStep>(from, ending, c, c_stride, columns);
}

// The same for a panel of 1 to kVectors vectors.
template <int kVectors, int kRowStep>
inline void some_vectors(
    int vectors,
    std::int64_t rows,
    const TileOperands<kRowStep>& from,
    const Ending& ending,
    float* c,
    std::int64_t c_stride,
    std::int64_t columns) {
  if (vectors < kVectors) {
    if constexpr (kVectors > 1)
      some_vectors<kVectors - 1, kRowStep>(
          vectors, rows, from, ending, c, c_stride, columns);
    return;
  }
  some_rows<kTileRows, kVectors, kRowStep>(
      rows, from, ending, c, c_stride, columns);
}

} // namespace temper::kernels::TEMPER_TARGET

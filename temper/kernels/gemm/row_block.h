// Matrix multiplication in pieces that stay in the caches: C = A * B for some
// rows of A at a time. For files named *_simd.cpp; the functions are compiled
// once per vector unit, in gemm_simd.cpp.
//
// A, the side whose numbers are broadcast, is a row block: its columns are cut
// into slices of kSlice, and every slice holds its rows at a distance of
// kSliceStride, an odd number of cache lines. So a tile finds its rows at fixed
// distances from one pointer, rows do not compete for the same lines of the
// first cache, and a panel of B under one slice stays there. Whoever fills the
// block can do more than copy: normalise, activate.
//
// B is packed in panels of kTileColumns columns; the last one has as many
// vectors as it needs and zeros beyond its last column.
//
// An element of C is one chain of multiply-adds per slice, the slices added in
// order, bias and residual last: its bits do not depend on the tile it is in.
#pragma once

#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

constexpr std::int64_t kSlice = 192;
constexpr std::int64_t kSliceStride = kSlice + 16;

// Rows that one pass takes through a cache: whole tiles on every unit.
constexpr std::int64_t kBlockRows = 96;

[[gnu::always_inline]] inline std::int64_t slices_of(std::int64_t columns) {
  return (columns + kSlice - 1) / kSlice;
}

// Floats of a row block; `capacity` is the number of rows it has room for.
[[gnu::always_inline]] inline std::int64_t block_floats(
    std::int64_t capacity,
    std::int64_t columns) {
  return slices_of(columns) * capacity * kSliceStride;
}

// Floats of `columns` columns packed in panels.
[[gnu::always_inline]] inline std::int64_t panel_floats(
    std::int64_t depth,
    std::int64_t columns) {
  return depth * ((columns + kLanes - 1) / kLanes * kLanes);
}

// Floats of a matrix with `columns` columns packed in strips.
[[gnu::always_inline]] inline std::int64_t strip_floats(
    std::int64_t rows,
    std::int64_t columns) {
  // A store of a whole vector may reach beyond the last strip.
  return rows * ((columns + kTileRows - 1) / kTileRows * kTileRows) + kLanes;
}

// The numbers that are added to a product once its sum over a slice is
// complete.
struct Ending {
  const float* bias = nullptr; // one number a column
  const float* residual = nullptr; // lies like C
  std::int64_t residual_stride = 0;
  bool add = false; // to what C holds
};

// C[rows, columns] = A[rows, depth] * B[depth, columns].
struct Product {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  const float* a = nullptr; // a row block
  std::int64_t a_capacity = 0;
  const float* panels = nullptr;
  std::int64_t panel_depth = 0; // as packed; 0: depth
  float* c = nullptr;
  std::int64_t c_stride = 0;
  // C is a row block of this capacity (then c_stride is not used); 0: it is
  // not.
  std::int64_t c_capacity = 0;
  Ending ending;
};
void multiply(const Product& product);

// C[rows, columns] (+)= A^T * B with A of [depth, rows]: gradients of weights
// and keys. A lies in strips (pack_strips), or is a row block of a_capacity.
struct TransposedProduct {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  const float* a = nullptr;
  std::int64_t a_capacity = 0; // 0: strips
  const float* panels = nullptr;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  bool add = false;
};
void multiply_transposed(const TransposedProduct& product);

// B(k, n) = from[k * stride + n].
void pack_panels(
    const float* from,
    std::int64_t stride,
    std::int64_t depth,
    std::int64_t columns,
    float* panels);

// B(k, n) = from[n * stride + k].
void pack_panels_transposed(
    const float* from,
    std::int64_t stride,
    std::int64_t depth,
    std::int64_t columns,
    float* panels);

// Columns side by side in strips of kTileRows: strip s holds, row after row,
// the columns from s * kTileRows on.
void pack_strips(
    const float* from,
    std::int64_t stride,
    std::int64_t rows,
    std::int64_t columns,
    float* strips);

// Copies rows into a row block, each number times `scale`.
void copy_to_block(
    const float* from,
    std::int64_t stride,
    std::int64_t rows,
    std::int64_t columns,
    float scale,
    float* block,
    std::int64_t capacity);

// to[j * to_stride + i] = from[i * from_stride + j].
void transpose(
    const float* from,
    std::int64_t from_stride,
    std::int64_t rows,
    std::int64_t columns,
    float* to,
    std::int64_t to_stride);

// The number at (row, column) of a row block.
[[gnu::always_inline]] inline float* in_block(
    float* block,
    std::int64_t capacity,
    std::int64_t row,
    std::int64_t column) {
  return block + (column / kSlice * capacity + row) * kSliceStride +
      column % kSlice;
}

} // namespace temper::kernels::TEMPER_TARGET

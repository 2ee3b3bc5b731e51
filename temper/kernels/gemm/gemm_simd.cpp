#include "temper/kernels/gemm/tile.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

int vectors_of(std::int64_t columns) {
  return static_cast<int>((columns + kLanes - 1) / kLanes);
}

Ending from_column(const Ending& ending, std::int64_t column) {
  Ending here = ending;
  if (here.bias != nullptr) here.bias += column;
  if (here.residual != nullptr) here.residual += column;
  return here;
}

// All rows of a block under one slice of one panel.
void slice_of_panel(
    const Product& p,
    std::int64_t column,
    std::int64_t slice,
    const Ending& ending) {
  const std::int64_t columns = smaller(kTileColumns, p.columns - column);
  const int vectors = vectors_of(columns);
  const std::int64_t panel_depth = p.panel_depth == 0 ? p.depth : p.panel_depth;
  TileOperands<static_cast<int>(kSliceStride)> from;
  from.depth = smaller(kSlice, p.depth - slice * kSlice);
  from.panel =
      p.panels + column * panel_depth + slice * kSlice * vectors * kLanes;
  const float* a = p.a + slice * p.a_capacity * kSliceStride;
  float* c = p.c_capacity == 0
      ? p.c + column
      : p.c + column / kSlice * p.c_capacity * kSliceStride + column % kSlice;
  const std::int64_t c_stride = p.c_capacity == 0 ? p.c_stride : kSliceStride;
  Ending here = ending;
  for (std::int64_t i = 0; i < p.rows; i += kTileRows) {
    from.a = a + i * kSliceStride;
    if (ending.residual != nullptr)
      here.residual = ending.residual + i * ending.residual_stride;
    const std::int64_t rows = smaller(kTileRows, p.rows - i);
    if (rows == kTileRows && columns == kTileColumns)
      whole_tile<kTileRows, kTileVectors, kSliceStride>(
          from, here, c + i * c_stride, c_stride);
    else
      some_vectors<kTileVectors, kSliceStride>(
          vectors, rows, from, here, c + i * c_stride, c_stride, columns);
  }
}

// Eight by eight numbers at a time would do on every unit; four by four are a
// few instructions everywhere, and packing is a hundredth of the work.
constexpr int kSquare = 4;
typedef float Quad __attribute__((vector_size(16), aligned(4), may_alias));

[[gnu::always_inline]] inline void transpose_square(
    const float* from,
    std::int64_t from_stride,
    float* to,
    std::int64_t to_stride) {
  const auto row = [&](int i) {
    return *reinterpret_cast<const Quad*>(from + i * from_stride);
  };
  const Quad a = row(0);
  const Quad b = row(1);
  const Quad c = row(2);
  const Quad d = row(3);
  const Quad ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Quad ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Quad cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const auto put = [&](int i, Quad value) {
    *reinterpret_cast<Quad*>(to + i * to_stride) = value;
  };
  put(0, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  put(1, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  put(2, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  put(3, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

} // namespace

void multiply(const Product& p) {
  const std::int64_t slices = slices_of(p.depth);
  for (std::int64_t column = 0; column < p.columns; column += kTileColumns)
    for (std::int64_t slice = 0; slice < slices; ++slice) {
      Ending ending = from_column(p.ending, column);
      if (slice + 1 < slices) ending.bias = ending.residual = nullptr;
      ending.add = p.ending.add || slice > 0;
      slice_of_panel(p, column, slice, ending);
    }
}

void multiply_transposed(const TransposedProduct& p) {
  TileOperands<1> from;
  from.depth = p.depth;
  from.depth_step = p.a_capacity == 0 ? kTileRows : kSliceStride;
  Ending ending;
  ending.add = p.add;
  for (std::int64_t column = 0; column < p.columns; column += kTileColumns) {
    const std::int64_t columns = smaller(kTileColumns, p.columns - column);
    from.panel = p.panels + column * p.depth;
    for (std::int64_t i = 0; i < p.rows; i += kTileRows) {
      from.a = p.a_capacity == 0
          ? p.a + i * p.depth
          : p.a + i / kSlice * p.a_capacity * kSliceStride + i % kSlice;
      const std::int64_t rows = smaller(kTileRows, p.rows - i);
      float* c = p.c + i * p.c_stride + column;
      if (rows == kTileRows && columns == kTileColumns)
        whole_tile<kTileRows, kTileVectors, 1>(from, ending, c, p.c_stride);
      else
        some_vectors<kTileVectors, 1>(
            vectors_of(columns), rows, from, ending, c, p.c_stride, columns);
    }
  }
}

void pack_panels(
    const float* from,
    std::int64_t stride,
    std::int64_t depth,
    std::int64_t columns,
    float* panels) {
  for (std::int64_t column = 0; column < columns; column += kTileColumns) {
    const std::int64_t valid = smaller(kTileColumns, columns - column);
    const int vectors = vectors_of(valid);
    float* to = panels + column * depth;
    const float* source = from + column;
    if (valid == kTileColumns) {
      for (std::int64_t k = 0; k < depth; ++k)
#pragma GCC unroll 4
        for (int j = 0; j < kTileVectors; ++j)
          store(
              to + k * kTileColumns + j * kLanes,
              load(source + k * stride + j * kLanes));
      continue;
    }
    const std::int64_t wide = vectors * kLanes;
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t j = 0; j < wide; ++j)
        to[k * wide + j] = j < valid ? source[k * stride + j] : 0.0f;
  }
}

void pack_panels_transposed(
    const float* from,
    std::int64_t stride,
    std::int64_t depth,
    std::int64_t columns,
    float* panels) {
  for (std::int64_t column = 0; column < columns; column += kTileColumns) {
    const std::int64_t valid = smaller(kTileColumns, columns - column);
    const std::int64_t wide = vectors_of(valid) * kLanes;
    float* to = panels + column * depth;
    transpose(from + column * stride, stride, valid, depth, to, wide);
    if (valid < wide)
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t j = valid; j < wide; ++j)
          to[k * wide + j] = 0.0f;
  }
}

void pack_strips(
    const float* from,
    std::int64_t stride,
    std::int64_t rows,
    std::int64_t columns,
    float* strips) {
  constexpr int kVectors = (kTileRows + kLanes - 1) / kLanes;
  for (std::int64_t column = 0; column < columns; column += kTileRows) {
    const std::int64_t valid = smaller(kTileRows, columns - column);
    float* to = strips + column * rows;
    const float* source = from + column;
    std::int64_t k = 0;
    // Whole vectors, as long as they stay within the row; the next row
    // overwrites what is too much.
    if (columns - column >= kVectors * kLanes)
      for (; k < rows; ++k)
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j)
          store(
              to + k * kTileRows + j * kLanes,
              load(source + k * stride + j * kLanes));
    for (; k < rows; ++k)
      for (std::int64_t j = 0; j < kTileRows; ++j)
        to[k * kTileRows + j] = j < valid ? source[k * stride + j] : 0.0f;
  }
}

void copy_to_block(
    const float* from,
    std::int64_t stride,
    std::int64_t rows,
    std::int64_t columns,
    float scale,
    float* block,
    std::int64_t capacity) {
  const Vec factor = broadcast(scale);
  for (std::int64_t slice = 0; slice * kSlice < columns; ++slice) {
    const std::int64_t valid = smaller(kSlice, columns - slice * kSlice);
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* source = from + i * stride + slice * kSlice;
      float* to = block + (slice * capacity + i) * kSliceStride;
      std::int64_t j = 0;
      for (; j + kLanes <= valid; j += kLanes)
        store(to + j, load(source + j) * factor);
      for (; j < valid; ++j)
        to[j] = source[j] * scale;
    }
  }
}

void transpose(
    const float* from,
    std::int64_t from_stride,
    std::int64_t rows,
    std::int64_t columns,
    float* to,
    std::int64_t to_stride) {
  std::int64_t i = 0;
  for (; i + kSquare <= rows; i += kSquare) {
    std::int64_t j = 0;
    for (; j + kSquare <= columns; j += kSquare)
      transpose_square(
          from + i * from_stride + j,
          from_stride,
          to + j * to_stride + i,
          to_stride);
    for (; j < columns; ++j)
      for (int q = 0; q < kSquare; ++q)
        to[j * to_stride + i + q] = from[(i + q) * from_stride + j];
  }
  for (; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      to[j * to_stride + i] = from[i * from_stride + j];
}

} // namespace temper::kernels::TEMPER_TARGET

// The work of layers on single rows of numbers: normalise them, add them up,
// activate them. Any number of columns; whole vectors are fast. For files named
// *_simd.cpp; compiled in rows_simd.cpp.
// Private to kernels/sequence.
#pragma once

#include "temper/kernels/gemm/row_block.h"
#include "temper/kernels/norm/activation.h"

namespace temper::kernels::TEMPER_TARGET {

struct RowNorm {
  std::int64_t columns = 0;
  const float* weight = nullptr; // null: ones
  const float* bias = nullptr; // null: zeros
};

struct RowMoments {
  float mean = 0;
  float inverse = 0; // one over the standard deviation, eps included
};
RowMoments moments_of(const float* x, std::int64_t columns, double eps);

void normalise_row(
    const RowNorm& norm,
    const RowMoments& moments,
    const float* x,
    float* y);

// The same into one row of a row block.
void normalise_to_block(
    const RowNorm& norm,
    const RowMoments& moments,
    const float* x,
    float* block,
    std::int64_t capacity,
    std::int64_t row);

// dx (+ residual, if any) of a row whose normalised result has the gradient g;
// adds to the gradients of weight and bias, which may both be null.
struct RowNormBackward {
  const float* gradient = nullptr;
  const float* x = nullptr;
  const float* residual = nullptr;
  float* dx = nullptr; // null: not wanted
  float* dweight = nullptr;
  float* dbias = nullptr;
};
void normalise_row_backward(
    const RowNorm& norm,
    const RowMoments& moments,
    const RowNormBackward& row);

// sums[c] += x[0, c] + x[1, c] + ...
void add_columns(
    const float* x,
    std::int64_t stride,
    std::int64_t rows,
    std::int64_t columns,
    float* sums);

// to = act(from) + residual (null: zero), row by row.
struct ActivateRows {
  Activation act = Activation::kNone;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0; // of from, to and residual
  const float* from = nullptr;
  const float* residual = nullptr;
  float* to = nullptr;
};
void activate_rows(const ActivateRows& work);

// act(from) into a row block.
void activate_to_block(
    const ActivateRows& work,
    float* block,
    std::int64_t capacity);

// Through an activation backwards: dx = gradient * act'(x), and, where `value`
// is given, act(x) once more. Results may overwrite the gradient.
struct ActivateBackward {
  Activation act = Activation::kNone;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  const float* gradient = nullptr;
  std::int64_t gradient_stride = 0;
  float* dx = nullptr;
  std::int64_t dx_stride = 0;
  float* value = nullptr;
  std::int64_t value_stride = 0;
};
void activate_rows_backward(const ActivateBackward& work);

// to[i] = parts[0][i] + parts[1][i] + ..., in this order, the parts lying
// `distance` apart.
void add_parts(
    const float* parts,
    std::int64_t distance,
    std::int64_t count,
    std::int64_t begin,
    std::int64_t end,
    float* to);

} // namespace temper::kernels::TEMPER_TARGET

// 1x1 convolutions, and convolutions of few channels, as multiplications of
// rows (row_source.h) with weights of [outputs, row length]. The normalisation
// before one is applied while its rows are read, and the statistics that the
// normalisation after it needs are gathered from results that are still in the
// cache.
//
// Scratch: a block of at most 96 rows per thread; on the calling thread the
// packed weights, and in backward up to 16 partial weight gradients (at most
// 8 MB) or, for few rows, both operands (at most 4 MB).
#pragma once

#include <cstdint>

#include "temper/kernels/conv/row_source.h"
#include "temper/kernels/norm/batch_norm.h"

namespace temper::kernels {

// y[rows, outputs] = before(x rows) * weight^T, and what `ending` makes of it.
struct PointwiseForward {
  RowSource x;
  Affine before; // for plain rows only
  std::int64_t outputs = 0;
  const float* weight = nullptr;
  float* y = nullptr;
  const Moments* moments = nullptr; // of y ahead of its ending; or null
  const NormApply* ending = nullptr; // whose x and y are this y; or null
};
void pointwise_forward(const PointwiseForward& job);

// dY = after(gradient); weight_gradient = dY^T before(x rows);
// x_gradient = (dY weight [+ x_gradient_add]) act'(before), which is the
// gradient with respect to the normalisation `before`, ahead of its activation.
struct PointwiseBackward {
  RowSource x;
  Affine before; // for plain rows only
  const float* before_mean = nullptr;
  std::int64_t outputs = 0;
  const float* weight = nullptr;
  const float* gradient = nullptr; // [rows, outputs]
  NormGradient after;
  float* weight_gradient = nullptr;
  float* x_gradient = nullptr; // null: not wanted
  const float* x_gradient_add = nullptr; // like x, or null; plain rows only
  const GradientSums* sums = nullptr; // of x_gradient, for `before`; or null
};
void pointwise_backward(const PointwiseBackward& job);

} // namespace temper::kernels

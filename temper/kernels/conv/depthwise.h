// Depthwise convolutions, 3x3 and 5x5, stride 1 and 2, padded by half the
// kernel, on channels_last memory. The normalisation before one is applied as
// its input is read, the statistics for the one after it are gathered from what
// is written, and its gradients of data and weights come from one pass.
//
// Scratch: a few rows of at most 64 channels per thread.
#pragma once

#include <cstdint>

#include "temper/kernels/norm/batch_norm.h"

namespace temper::kernels {

struct DepthwiseShape {
  std::int64_t images = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t kernel = 3; // 3 or 5
  std::int64_t stride = 1; // 1 or 2

  [[gnu::always_inline]] std::int64_t out_height() const {
    return (height - 1) / stride + 1;
  }
  [[gnu::always_inline]] std::int64_t out_width() const {
    return (width - 1) / stride + 1;
  }
};

// y = conv(before(x)); weights are [channels, kernel, kernel].
struct DepthwiseForward {
  DepthwiseShape shape;
  const float* x = nullptr;
  Affine before;
  const float* weight = nullptr;
  float* y = nullptr;
  const Moments* moments = nullptr; // of y; null: not wanted
};
void depthwise_forward(const DepthwiseForward& job);

// dY = after(gradient). x_gradient is the gradient with respect to `before`,
// ahead of its activation (conv/pointwise.h).
struct DepthwiseBackward {
  DepthwiseShape shape;
  const float* x = nullptr;
  Affine before;
  const float* before_mean = nullptr;
  const float* weight = nullptr;
  const float* gradient = nullptr;
  NormGradient after;
  float* weight_gradient = nullptr;
  float* x_gradient = nullptr;
  const float* x_gradient_add = nullptr; // like x, or null
  const GradientSums* sums = nullptr; // of x_gradient, for `before`; or null
};
void depthwise_backward(const DepthwiseBackward& job);

} // namespace temper::kernels

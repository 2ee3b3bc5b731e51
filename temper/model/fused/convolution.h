// Convolutions by our own kernels, tensor by tensor, for ops that compute more
// than a convolution: with the sums that a BatchNorm behind it needs, and the
// two gradients apart. Includes torch: see module.h.
#pragma once

#include <vector>

#include "temper/model/fused/layers.h"

namespace temper::model {

// Whether the functions below compute this convolution: float32 on the CPU, no
// groups, no dilation, no empty tensors.
bool convolution_takes(
    const ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight);

// Sums over batch and plane of each output channel, in double.
struct ConvStatistics {
  std::vector<double> sum;
  std::vector<double> squares;
  std::int64_t count = 0; // values a channel
};

// The result is channels-last. `bias` may be undefined, `statistics` null; they
// are gathered while the result is in the cache.
at::Tensor convolution_with_statistics(
    const ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight,
    const at::Tensor& bias,
    ConvStatistics* statistics);

// The gradient of x, channels-last.
at::Tensor convolution_x_gradient(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    const at::Tensor& weight,
    const at::Tensor& gradient);

// The gradient of the weight, with its strides.
at::Tensor convolution_weight_gradient(
    const ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight,
    const at::Tensor& gradient);

// The gradient of a bias.
at::Tensor convolution_bias_gradient(const at::Tensor& gradient);

} // namespace temper::model

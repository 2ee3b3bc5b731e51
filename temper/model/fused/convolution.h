// Convolutions by our own kernels (kernels/conv/convolution.h), tensor by
// tensor, with the gradients apart. Includes torch: see module.h.
#pragma once

#include "temper/model/fused/layers.h"

namespace temper::model {

// Whether the functions below compute this convolution: float32 on the CPU, no
// groups, no dilation, no empty tensors.
bool convolution_takes(
    const ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight);

// The sizes alone decide here.
bool takes_windows(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    at::IntArrayRef weight_sizes);

// The result is channels-last; `bias` may be undefined.
at::Tensor convolution(
    const ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight,
    const at::Tensor& bias);

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

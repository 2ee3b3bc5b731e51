// Questions of fused ops about tensors, and the tensors they make. Includes
// torch: see module.h.
#pragma once

#include <ATen/ATen.h>

#include "temper/kernels/conv_shape.h"
#include "temper/model/fused/layers.h"

namespace temper::model {

// A float32 tensor in this machine's memory, with elements.
bool is_plain(const at::Tensor& tensor);

at::Tensor as_channels_last(const at::Tensor& tensor);
at::Tensor empty_channels_last(
    at::IntArrayRef sizes,
    const at::TensorOptions& options);

// A tensor for the gradient of a convolution's weight, channels-last; and the
// same numbers with the weight's own strides.
at::Tensor empty_weight_gradient(const at::Tensor& weight);
at::Tensor with_strides_of(const at::Tensor& weight, at::Tensor gradient);

kernels::ConvShape shape_of(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    at::IntArrayRef weight_sizes);

} // namespace temper::model

// Layers by LibTorch's operators, as plain functions of tensors: what second
// derivatives are taken of, and what computes where no kernel fits. Includes
// torch: see model/module/module.h.
// Private to model/nn.
#pragma once

#include <ATen/ATen.h>

#include "temper/model/fused/layers.h"

namespace temper::nn {

using LayerTensors = model::FusedOp::Tensors;

at::Tensor torch_activation(model::Activation act, const at::Tensor& x);

at::Tensor torch_convolution(
    const model::ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight,
    const at::Tensor& bias);

// BatchNorm with the weight, bias, running mean and variance that stand from
// `first` on. In training the running statistics are left alone.
at::Tensor torch_norm(
    const model::NormSpec& spec,
    const at::Tensor& x,
    const LayerTensors& all,
    std::size_t first);

at::Tensor torch_attention(
    const model::AttentionSpec& spec,
    const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v);

} // namespace temper::nn

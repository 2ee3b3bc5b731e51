// temper's fused kernels for networks that are written in C++, as functions
// over torch::nn's own modules and tensors: a forward() that calls them
// computes what it computed before, in fewer passes over memory.
//
//   x = temper::nn::conv_bn_act(x, conv1, bn1, temper::nn::Activation::kRelu);
//
// Kernels compute float32 on the CPU. Whatever else comes (other types and
// devices, autocast, dilation, groups, forward-mode tangents, a call that none
// of them takes) is computed by LibTorch's operators without a word, and second
// derivatives are taken through those, too. Modules that do the same are in
// modules.h. Includes torch: see model/module/module.h.
#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/options/loss.h>

#include <optional>

#include "temper/kernels/norm/activation.h"

namespace temper::nn {

using kernels::Activation;

// act(norm(conv(x)) + residual). In training the running statistics of `norm`
// move as they do in its forward().
at::Tensor conv_bn_act(
    const at::Tensor& x,
    const torch::nn::Conv2d& conv,
    const torch::nn::BatchNorm2d& norm,
    Activation act = Activation::kNone,
    const at::Tensor& residual = {});

// act(norm(x) + residual).
at::Tensor bn_act(
    const at::Tensor& x,
    const torch::nn::BatchNorm2d& norm,
    Activation act = Activation::kNone,
    const at::Tensor& residual = {});

// act(x weight^T + bias) + residual; `bias` may be undefined.
at::Tensor linear_act(
    const at::Tensor& x,
    const at::Tensor& weight,
    const at::Tensor& bias,
    Activation act = Activation::kNone,
    const at::Tensor& residual = {});

// LayerNorm over the last dimensions, whose sizes are `shape`; `weight` and
// `bias` may be undefined. Kernels take one dimension.
at::Tensor layer_norm(
    const at::Tensor& x,
    at::IntArrayRef shape,
    const at::Tensor& weight,
    const at::Tensor& bias,
    double eps = 1e-5);

// softmax(q k^T * scale) v over the last two dimensions: [batch, heads, tokens,
// width] for the kernels, with any strides. Causal: query i sees keys 0 to i.
struct AttentionOptions {
  bool causal = false;
  std::optional<double> scale = {}; // none: 1 / sqrt(width)
};
at::Tensor attention(
    const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v,
    const AttentionOptions& options = {});

// Like torch::nn::functional::cross_entropy, for labels and for probabilities.
at::Tensor cross_entropy(
    const at::Tensor& scores,
    const at::Tensor& targets,
    const torch::nn::CrossEntropyLossOptions& options = {});

} // namespace temper::nn

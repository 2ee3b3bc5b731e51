#include "temper/model/nn/modules.h"

#include <torch/nn/init.h>

#include <cmath>
#include <utility>

namespace temper::nn {

ConvBnActImpl::ConvBnActImpl(torch::nn::Conv2dOptions of_conv, Activation act)
    : ConvBnActImpl(
          of_conv,
          torch::nn::BatchNormOptions(of_conv.out_channels()),
          act) {}

ConvBnActImpl::ConvBnActImpl(
    torch::nn::Conv2dOptions of_conv,
    torch::nn::BatchNormOptions of_norm,
    Activation act)
    : conv_options_(of_conv.bias(false)), norm_options_(of_norm), act_(act) {
  ConvBnActImpl::reset();
}

void ConvBnActImpl::reset() {
  conv = register_module("0", torch::nn::Conv2d(conv_options_));
  norm = register_module("1", torch::nn::BatchNorm2d(norm_options_));
}

at::Tensor ConvBnActImpl::forward(
    const at::Tensor& x,
    const at::Tensor& residual) {
  return conv_bn_act(x, conv, norm, act_, residual);
}

LinearActImpl::LinearActImpl(
    std::int64_t in_features,
    std::int64_t out_features,
    Activation act)
    : LinearActImpl(torch::nn::LinearOptions(in_features, out_features), act) {}

LinearActImpl::LinearActImpl(
    const torch::nn::LinearOptions& wanted,
    Activation act)
    : options(wanted), act_(act) {
  LinearActImpl::reset();
}

// The draws of torch::nn::Linear, in its order.
void LinearActImpl::reset() {
  weight = register_parameter(
      "weight", at::empty({options.out_features(), options.in_features()}));
  torch::nn::init::kaiming_uniform_(weight, std::sqrt(5));
  if (!options.bias()) return;
  bias = register_parameter("bias", at::empty({options.out_features()}));
  const double bound = 1 / std::sqrt(options.in_features());
  torch::nn::init::uniform_(bias, -bound, bound);
}

at::Tensor LinearActImpl::forward(
    const at::Tensor& x,
    const at::Tensor& residual) {
  return linear_act(x, weight, bias, act_, residual);
}

LayerNormImpl::LayerNormImpl(std::vector<std::int64_t> shape)
    : LayerNormImpl(torch::nn::LayerNormOptions(std::move(shape))) {}

LayerNormImpl::LayerNormImpl(torch::nn::LayerNormOptions wanted)
    : options(std::move(wanted)) {
  LayerNormImpl::reset();
}

void LayerNormImpl::reset() {
  if (!options.elementwise_affine()) return;
  const at::IntArrayRef shape = options.normalized_shape();
  weight = register_parameter("weight", at::ones(shape));
  bias = register_parameter("bias", at::zeros(shape));
}

at::Tensor LayerNormImpl::forward(const at::Tensor& x) {
  return nn::layer_norm(
      x, options.normalized_shape(), weight, bias, options.eps());
}

AttentionImpl::AttentionImpl(const AttentionOptions& wanted)
    : options(wanted) {}

at::Tensor AttentionImpl::forward(
    const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v) {
  return attention(q, k, v, options);
}

} // namespace temper::nn

// Layers for networks that are written in C++, as torch::nn modules whose
// forward() is one of temper's fused kernels (functional.h says when). Their
// parameters begin as torch::nn's do and have the names of torch::nn's layers
// and torchvision's blocks, so that weights go both ways. Includes torch: see
// model/module/module.h.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/common.h>
#include <torch/nn/options/linear.h>
#include <torch/nn/options/normalization.h>
#include <torch/nn/pimpl.h>

#include "temper/model/nn/functional.h"

namespace temper::nn {

// A convolution without a bias, BatchNorm and an activation. Its parameters are
// those of Sequential(Conv2d, BatchNorm2d) and of torchvision's
// Conv2dNormActivation: "0.weight", "1.weight", "1.bias", ...
class ConvBnActImpl : public torch::nn::Cloneable<ConvBnActImpl> {
 public:
  explicit ConvBnActImpl(
      torch::nn::Conv2dOptions of_conv,
      Activation act = Activation::kRelu);
  ConvBnActImpl(
      torch::nn::Conv2dOptions of_conv,
      torch::nn::BatchNormOptions of_norm,
      Activation act);

  void reset() override;
  // act(norm(conv(x)) + residual)
  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual = {});

  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(at::Tensor())})

 private:
  torch::nn::Conv2dOptions conv_options_;
  torch::nn::BatchNormOptions norm_options_;
  Activation act_;
};
TORCH_MODULE(ConvBnAct);

// MobileNetV2's block: 1x1 to `expand` times the channels, depthwise, 1x1 to
// the outputs, each with BatchNorm; x is added where its sizes are those of the
// result. One kernel call in each direction. Parameters as torchvision names
// them: "conv.0.0.weight", "conv.0.1.weight", ...
struct InvertedResidualOptions {
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t stride = 1;
  double expand = 6; // 1: the block begins with the depthwise convolution
  std::int64_t kernel = 3;
  Activation act = Activation::kRelu6; // behind the first two
};
// Its layers, under the name "conv".
class InvertedResidualLayersImpl
    : public torch::nn::Cloneable<InvertedResidualLayersImpl> {
 public:
  explicit InvertedResidualLayersImpl(const InvertedResidualOptions& wanted);

  void reset() override;

  InvertedResidualOptions options;
  ConvBnAct expand{nullptr}; // empty where there is none
  ConvBnAct depthwise{nullptr};
  torch::nn::Conv2d project{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
};
TORCH_MODULE(InvertedResidualLayers);

class InvertedResidualImpl : public torch::nn::Cloneable<InvertedResidualImpl> {
 public:
  explicit InvertedResidualImpl(const InvertedResidualOptions& wanted);

  void reset() override;
  at::Tensor forward(const at::Tensor& x);

  InvertedResidualOptions options;
  InvertedResidualLayers conv{nullptr};

 private:
  bool adds_input() const;
};
TORCH_MODULE(InvertedResidual);

// torch::nn::Linear with an activation, and a residual added behind it.
class LinearActImpl : public torch::nn::Cloneable<LinearActImpl> {
 public:
  LinearActImpl(
      std::int64_t in_features,
      std::int64_t out_features,
      Activation act = Activation::kRelu);
  explicit LinearActImpl(
      const torch::nn::LinearOptions& wanted,
      Activation act = Activation::kRelu);

  void reset() override;
  // act(x weight^T + bias) + residual
  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual = {});

  torch::nn::LinearOptions options;
  at::Tensor weight;
  at::Tensor bias; // undefined without one

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(at::Tensor())})

 private:
  Activation act_;
};
TORCH_MODULE(LinearAct);

// torch::nn::LayerNorm.
class LayerNormImpl : public torch::nn::Cloneable<LayerNormImpl> {
 public:
  explicit LayerNormImpl(std::vector<std::int64_t> shape);
  explicit LayerNormImpl(torch::nn::LayerNormOptions wanted);

  void reset() override;
  at::Tensor forward(const at::Tensor& x);

  torch::nn::LayerNormOptions options;
  at::Tensor weight; // both undefined without elementwise_affine
  at::Tensor bias;
};
TORCH_MODULE(LayerNorm);

// attention() of functional.h as a module; it has no parameters.
class AttentionImpl : public torch::nn::Cloneable<AttentionImpl> {
 public:
  explicit AttentionImpl(const AttentionOptions& wanted = {});

  void reset() override {}
  at::Tensor
  forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

  AttentionOptions options;
};
TORCH_MODULE(Attention);

} // namespace temper::nn

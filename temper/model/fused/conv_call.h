// Convolutions of our kernels on tensors: which they compute, and a call of
// each pass. Includes torch: see module.h.
#pragma once

#include "temper/kernels/conv/depthwise.h"
#include "temper/kernels/conv/row_source.h"
#include "temper/model/fused/norm_call.h"

namespace temper::model {

// How a convolution is computed.
enum class ConvWay {
  kRows, // as rows (kernels/conv/pointwise.h): 1x1, or few channels
  kDepthwise,
  kOther // by make_convolution()
};
ConvWay way_of(const ConvSpec& spec, std::int64_t input_channels);

// Whether x and the weight fit the spec and each other, for the first two ways.
bool takes_convolution(
    const ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight);

// The sizes of a convolution's result.
std::vector<std::int64_t>
result_sizes(const ConvSpec& spec, const at::Tensor& x, std::int64_t outputs);

// x and what is applied to it before the convolution; x is channels_last.
struct ConvInput {
  at::Tensor x;
  at::Tensor state; // of a normalisation before; undefined: none
  Activation act = Activation::kNone;
};

at::Tensor convolve(
    const ConvSpec& spec,
    const ConvInput& input,
    const at::Tensor& weight,
    const kernels::Moments* moments);

// The same, normalised as it is written, or in a pass of its own behind a
// depthwise one. Rows, channels, x and y of the job are filled in.
at::Tensor convolve_and_norm(
    const ConvSpec& spec,
    const ConvInput& input,
    const at::Tensor& weight,
    kernels::NormApply norm);

// Gradients of a convolution whose result had the gradient `after(gradient)`.
struct ConvGradients {
  at::Tensor x; // with respect to the normalisation before, where there is one
  at::Tensor weight; // with the weight's strides
};
struct ConvBackward {
  ConvInput input;
  at::Tensor weight;
  at::Tensor gradient; // channels_last
  kernels::NormGradient after;
  at::Tensor x_gradient_add; // added to x's gradient; or undefined
  bool wants_x = true;
  const kernels::GradientSums* sums = nullptr; // for the normalisation before
};
ConvGradients convolve_backward(const ConvSpec& spec, const ConvBackward& job);

} // namespace temper::model

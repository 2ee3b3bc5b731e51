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
  kOther // filters transformed, windows gathered (kernels/conv/convolution.h)
};
ConvWay way_of(const ConvSpec& spec, std::int64_t input_channels);

// Whether kernels compute the convolution of an x of these sizes.
bool takes_convolution(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    const at::Tensor& weight);

// Whether they can apply a normalisation to x as they read it.
bool takes_norm_before(const ConvSpec& spec, std::int64_t input_channels);

// The sizes of a convolution's result.
std::vector<std::int64_t> result_sizes(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    std::int64_t outputs);

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

// The same, normalised as it is written where that is a convolution by rows,
// and else in a pass of its own. Rows, channels, x and y of the job are filled
// in.
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
  bool spends_gradient = false; // its memory may be written to
  kernels::NormGradient after;
  at::Tensor x_gradient_add; // added to x's gradient; or undefined
  bool adds_in_place = false; // x's gradient may take its memory
  bool wants_x = true;
  bool wants_weight = true; // a pass that makes both makes it anyway
  const kernels::GradientSums* sums = nullptr; // for the normalisation before
};
ConvGradients convolve_backward(const ConvSpec& spec, const ConvBackward& job);

} // namespace temper::model

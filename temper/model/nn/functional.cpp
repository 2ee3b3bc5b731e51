#include "temper/model/nn/functional.h"

#include <torch/nn/functional/loss.h>

#include "temper/model/fused/cross_entropy.h"
#include "temper/model/fused/torch_threads.h"
#include "temper/model/nn/fused_call.h"

namespace temper::nn {
namespace {

// A convolution with a bias, or whose BatchNorm no kernel computes.
at::Tensor convolve_alone(const at::Tensor& x, const torch::nn::Conv2d& conv) {
  const auto spec = spec_of(*conv);
  if (spec) {
    const model::OpPointer op = spec->groups > 1
        ? model::make_depthwise(*spec)
        : model::make_convolution(*spec);
    const LayerTensors inputs{x, conv->weight, conv->bias};
    if (takes(op, inputs))
      return run_fused(op, inputs, [spec](const LayerTensors& in) {
        return torch_convolution(*spec, in.at(0), in.at(1), in.at(2));
      });
  }
  return conv.ptr()->forward(x);
}

at::Tensor add_and_activate(
    const at::Tensor& x,
    Activation act,
    const at::Tensor& residual) {
  return torch_activation(act, residual.defined() ? x + residual : x);
}

} // namespace

at::Tensor conv_bn_act(
    const at::Tensor& x,
    const torch::nn::Conv2d& conv,
    const torch::nn::BatchNorm2d& norm,
    Activation act,
    const at::Tensor& residual) {
  const auto spec = spec_of(*conv);
  if (!spec || conv->bias.defined())
    return bn_act(convolve_alone(x, conv), norm, act, residual);
  const model::NormSpec how = spec_of(*norm);
  const model::OpPointer op = model::make_conv_norm_act(*spec, how, act);
  LayerTensors inputs{x, conv->weight};
  add_norm(inputs, *norm);
  inputs.push_back(residual);
  if (!takes(op, inputs))
    return bn_act(convolve_alone(x, conv), norm, act, residual);
  count_batch(*norm.ptr());
  const auto again = [=, spec = *spec](const LayerTensors& in) {
    const at::Tensor y = torch_convolution(spec, in.at(0), in.at(1), {});
    return add_and_activate(torch_norm(how, y, in, 2), act, in.at(6));
  };
  return how.training ? run_fused(op, inputs, again, {4, 5})
                      : run_fused(op, inputs, again);
}

at::Tensor bn_act(
    const at::Tensor& x,
    const torch::nn::BatchNorm2d& norm,
    Activation act,
    const at::Tensor& residual) {
  const model::NormSpec how = spec_of(*norm);
  const model::OpPointer op = model::make_norm_act(how, act);
  LayerTensors inputs{x};
  add_norm(inputs, *norm);
  inputs.push_back(residual);
  if (x.dim() != 4 || !takes(op, inputs))
    return add_and_activate(norm.ptr()->forward(x), act, residual);
  count_batch(*norm.ptr());
  const auto again = [=](const LayerTensors& in) {
    return add_and_activate(torch_norm(how, in.at(0), in, 1), act, in.at(5));
  };
  return how.training ? run_fused(op, inputs, again, {3, 4})
                      : run_fused(op, inputs, again);
}

at::Tensor linear_act(
    const at::Tensor& x,
    const at::Tensor& weight,
    const at::Tensor& bias,
    Activation act,
    const at::Tensor& residual) {
  const auto by_torch = [act](const LayerTensors& in) {
    const at::Tensor y =
        torch_activation(act, at::linear(in.at(0), in.at(1), in.at(2)));
    return in.at(3).defined() ? y + in.at(3) : y;
  };
  const model::OpPointer op = model::make_linear(act);
  const LayerTensors inputs{x, weight, bias, residual};
  return takes(op, inputs) ? run_fused(op, inputs, by_torch) : by_torch(inputs);
}

at::Tensor layer_norm(
    const at::Tensor& x,
    at::IntArrayRef shape,
    const at::Tensor& weight,
    const at::Tensor& bias,
    double eps) {
  const auto by_torch = [shape = shape.vec(), eps](const LayerTensors& in) {
    return at::layer_norm(in.at(0), shape, in.at(1), in.at(2), eps);
  };
  const model::OpPointer op = model::make_layer_norm(eps);
  const LayerTensors inputs{x, weight, bias};
  const bool over_rows =
      shape.size() == 1 && x.dim() > 0 && x.size(-1) == shape[0];
  return over_rows && takes(op, inputs) ? run_fused(op, inputs, by_torch)
                                        : by_torch(inputs);
}

at::Tensor attention(
    const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v,
    const AttentionOptions& options) {
  const model::AttentionSpec spec{options.causal, options.scale};
  const auto by_torch = [spec](const LayerTensors& in) {
    return torch_attention(spec, in.at(0), in.at(1), in.at(2));
  };
  const model::OpPointer op = model::make_attention(spec);
  const LayerTensors inputs{q, k, v};
  return takes(op, inputs) ? run_fused(op, inputs, by_torch) : by_torch(inputs);
}

at::Tensor cross_entropy(
    const at::Tensor& scores,
    const at::Tensor& targets,
    const torch::nn::CrossEntropyLossOptions& options) {
  const auto reduction =
      torch::enumtype::reduction_get_enum(options.reduction());
  const at::Tensor& weight = options.weight();
  const bool mean = reduction == at::Reduction::Mean;
  const bool by_kernels = reduction != at::Reduction::None &&
      is_plain_call({scores, targets, weight}) &&
      !(weight.defined() && weight.requires_grad());
  if (by_kernels && !targets.is_floating_point()) {
    model::use_torch_threads();
    return model::fused_cross_entropy(
        scores,
        targets,
        weight,
        {options.label_smoothing(), mean, options.ignore_index()});
  }
  if (by_kernels && scores.dim() == 2 && scores.sizes() == targets.sizes() &&
      options.label_smoothing() == 0) {
    model::use_torch_threads();
    const at::Tensor sum =
        model::fused_soft_cross_entropy(scores, targets, weight);
    return mean ? sum / scores.size(0) : sum;
  }
  return torch::nn::functional::cross_entropy(scores, targets, options);
}

} // namespace temper::nn

// MobileNetV2's block as a torch::nn module: one fused op where the kernels
// take the whole of it, else one for each convolution.
#include <cmath>
#include <string>

#include "temper/model/nn/fused_call.h"
#include "temper/model/nn/modules.h"

namespace temper::nn {
namespace {

// A convolution of the block and the BatchNorm behind it.
constexpr std::size_t kInputsOfALayer = 5;

at::Tensor block_by_torch(
    const std::vector<model::ConvLayerSpec>& layers,
    bool adds_input,
    const LayerTensors& in) {
  at::Tensor y = in.at(0);
  std::size_t first = 1;
  for (const model::ConvLayerSpec& layer : layers) {
    y = torch_convolution(layer.conv, y, in.at(first), {});
    y = torch_norm(layer.norm, y, in, first + 1);
    y = torch_activation(layer.act, y);
    first += kInputsOfALayer;
  }
  return adds_input ? y + in.at(0) : y;
}

model::OpPointer block_op(
    const std::vector<model::ConvLayerSpec>& layers,
    bool adds_input) {
  model::ConvChainSpec spec;
  spec.layers = layers;
  spec.adds_input = adds_input;
  return model::make_conv_chain(spec);
}

// The layers and inputs of one call, in the block's order.
struct BlockCall {
  std::vector<model::ConvLayerSpec> layers;
  LayerTensors inputs;
  std::vector<std::size_t> moving; // running statistics of layers in training

  void add(
      const torch::nn::Conv2d& conv,
      const torch::nn::BatchNorm2d& norm,
      Activation act) {
    layers.push_back(
        {spec_of(*conv).value_or(model::ConvSpec{}), spec_of(*norm), act});
    inputs.push_back(conv->weight);
    add_norm(inputs, *norm);
    if (layers.back().norm.training)
      moving.insert(moving.end(), {inputs.size() - 2, inputs.size() - 1});
  }
};

} // namespace

InvertedResidualLayersImpl::InvertedResidualLayersImpl(
    const InvertedResidualOptions& wanted)
    : options(wanted) {
  InvertedResidualLayersImpl::reset();
}

void InvertedResidualLayersImpl::reset() {
  using Options = torch::nn::Conv2dOptions;
  const std::int64_t hidden =
      std::llround(static_cast<double>(options.in_channels) * options.expand);
  int place = 0;
  const auto name = [&] { return std::to_string(place++); };
  if (hidden != options.in_channels)
    expand = register_module(
        name(),
        ConvBnAct(Options(options.in_channels, hidden, 1), options.act));
  depthwise = register_module(
      name(),
      ConvBnAct(
          Options(hidden, hidden, options.kernel)
              .stride(options.stride)
              .padding((options.kernel - 1) / 2)
              .groups(hidden),
          options.act));
  project = register_module(
      name(),
      torch::nn::Conv2d(Options(hidden, options.out_channels, 1).bias(false)));
  norm = register_module(name(), torch::nn::BatchNorm2d(options.out_channels));
}

InvertedResidualImpl::InvertedResidualImpl(
    const InvertedResidualOptions& wanted)
    : options(wanted) {
  InvertedResidualImpl::reset();
}

void InvertedResidualImpl::reset() {
  conv = register_module("conv", InvertedResidualLayers(options));
}

bool InvertedResidualImpl::adds_input() const {
  return options.stride == 1 && options.in_channels == options.out_channels;
}

at::Tensor InvertedResidualImpl::forward(const at::Tensor& x) {
  InvertedResidualLayersImpl& of = *conv;
  BlockCall call;
  call.inputs.push_back(x);
  if (of.expand) call.add(of.expand->conv, of.expand->norm, options.act);
  call.add(of.depthwise->conv, of.depthwise->norm, options.act);
  call.add(of.project, of.norm, Activation::kNone);
  const bool adds = adds_input();
  const model::OpPointer op = block_op(call.layers, adds);
  if (takes(op, call.inputs)) {
    if (of.expand) count_batch(*of.expand->norm);
    count_batch(*of.depthwise->norm);
    count_batch(*of.norm);
    const auto again = [layers = call.layers, adds](const LayerTensors& in) {
      return block_by_torch(layers, adds, in);
    };
    return run_fused(op, call.inputs, again, call.moving);
  }
  at::Tensor y = of.expand ? of.expand->forward(x) : x;
  y = of.depthwise->forward(y);
  return conv_bn_act(
      y, of.project, of.norm, Activation::kNone, adds ? x : at::Tensor());
}

} // namespace temper::nn

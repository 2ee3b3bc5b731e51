#include "temper/graph/cost/convolution_case.h"

#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/op/operator.h"

namespace temper::graph {
namespace {

std::int64_t float_bytes(const Ints& sizes) {
  return bytes_of(Shape{DType::kFloat32, sizes});
}

// "same" of an even window pads its sides differently.
std::optional<Ints> padding_of(
    const NodeArguments& arguments,
    const ConvolutionCase& made,
    std::size_t dimensions) {
  const std::string named = arguments.text("padding", "");
  if (named.empty()) return arguments.repeated("padding", dimensions, {0});
  Ints padding(dimensions, 0);
  for (std::size_t i = 0; named == "same" && i < dimensions; ++i) {
    const std::int64_t total = times(made.dilation[i], made.weight[2 + i] - 1);
    if (total % 2 != 0) return {};
    padding[i] = total / 2;
  }
  return padding;
}

} // namespace

std::optional<ConvolutionCase> convolution_case(
    const Node& node,
    const Inferred& known) {
  const Operator* page = find_operator(node);
  const Layer layer = page == nullptr ? Layer::kOther : page->layer;
  if (layer != Layer::kConvolution && layer != Layer::kTransposedConvolution)
    return {};
  const NodeArguments arguments(node, known);
  const Shape* input = arguments.find_tensor("input");
  const Shape* weight = arguments.find_tensor("weight");
  if (input == nullptr || weight == nullptr || weight->sizes.size() < 3 ||
      input->sizes.size() != weight->sizes.size() ||
      input->dtype != DType::kFloat32 || weight->dtype != DType::kFloat32)
    return {};
  const std::size_t dimensions = weight->sizes.size() - 2;
  ConvolutionCase made;
  made.input = input->sizes;
  made.weight = weight->sizes;
  made.stride = arguments.repeated("stride", dimensions, {1});
  made.dilation = arguments.repeated("dilation", dimensions, {1});
  made.output_padding = arguments.repeated("output_padding", dimensions, {0});
  made.groups = arguments.integer("groups", 1);
  made.transposed = layer == Layer::kTransposedConvolution ||
      arguments.flag("transposed", false);
  const auto padding = padding_of(arguments, made, dimensions);
  if (!padding) return {};
  made.padding = *padding;
  return made;
}

std::int64_t most_convolution_bytes(
    const ConvolutionCase& asked,
    const Ints& result) {
  std::int64_t windows = 1; // of one sample
  for (std::size_t i = 1; i < asked.weight.size(); ++i)
    windows = times(windows, asked.weight[i]);
  windows = times(windows, asked.groups);
  const Ints& inner = asked.transposed ? asked.input : result;
  for (std::size_t i = 2; i < inner.size(); ++i)
    windows = times(windows, inner[i]);
  const std::int64_t filters = float_bytes(asked.weight);
  const std::int64_t a_thread = plus(times(windows, 4), times(filters, 4));
  constexpr std::int64_t kBlock = 16 * 16;
  const bool depthwise = asked.groups > 1 && asked.weight[1] == 1;
  return plus(
      plus(times(float_bytes(asked.input), 2), times(float_bytes(result), 2)),
      plus(
          times(a_thread, asked.threads),
          times(filters, depthwise ? kBlock + 4 : 4)));
}

} // namespace temper::graph

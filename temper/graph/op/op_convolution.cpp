// Convolutions, forward and transposed, in 1 to 3 dimensions, with or without
// a batch.
#include "temper/base/text.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

struct Convolution {
  const Shape* input = nullptr;
  const Shape* weight = nullptr;
  std::size_t spatial = 0; // how many dimensions the window slides over
  Ints stride, padding_low, padding_high, dilation, output_padding;
  std::int64_t groups = 1;
};

Convolution convolution_of(const NodeShapes& node) {
  Convolution conv;
  conv.input = &node.tensor("input");
  conv.weight = &node.tensor("weight");
  const auto rank = conv.weight->sizes.size();
  node.require(rank >= 3, "its weight has fewer than 3 dimensions");
  conv.spatial = rank - 2;
  const auto input_rank = conv.input->sizes.size();
  node.require(
      input_rank == rank || input_rank + 1 == rank,
      cat("its input is ",
          sizes_text(conv.input->sizes),
          ", its weight ",
          sizes_text(conv.weight->sizes)));
  conv.stride = node.repeated("stride", conv.spatial, {1});
  conv.dilation = node.repeated("dilation", conv.spatial, {1});
  conv.output_padding = node.repeated("output_padding", conv.spatial, {0});
  conv.groups = node.integer("groups", 1);
  node.require(conv.groups >= 1, "it has no groups");

  const std::string named = node.text("padding", "");
  if (named == "same") {
    for (std::size_t i = 0; i < conv.spatial; ++i) {
      const auto total = times(conv.dilation[i], conv.weight->sizes[2 + i] - 1);
      conv.padding_low.push_back(total / 2);
      conv.padding_high.push_back(total - total / 2);
    }
  } else {
    conv.padding_low = named.empty()
        ? node.repeated("padding", conv.spatial, {0})
        : Ints(conv.spatial, 0);
    conv.padding_high = conv.padding_low;
  }
  return conv;
}

void require_channels(
    const NodeShapes& node,
    const Convolution& conv,
    std::int64_t wanted) {
  const auto channels =
      conv.input->sizes[conv.input->sizes.size() - conv.spatial - 1];
  node.require(
      channels == wanted,
      cat("its weight wants ",
          plural(wanted, "channel"),
          ", its input has ",
          channels));
}

Ints convolution_batch(const Convolution& conv) {
  if (conv.input->sizes.size() == conv.spatial + 1) return {};
  return {conv.input->sizes.front()};
}

void plain_convolution(NodeShapes& node, const Convolution& conv) {
  require_channels(node, conv, times(conv.weight->sizes[1], conv.groups));
  Ints sizes = convolution_batch(conv);
  sizes.push_back(conv.weight->sizes[0]);
  const auto first = conv.input->sizes.size() - conv.spatial;
  for (std::size_t i = 0; i < conv.spatial; ++i)
    sizes.push_back(positions(
        node,
        conv.input->sizes[first + i],
        {conv.weight->sizes[2 + i],
         conv.stride[i],
         conv.padding_low[i],
         conv.padding_high[i],
         conv.dilation[i]}));
  node.give(conv.input->dtype, sizes);
}

void transposed_convolution(NodeShapes& node, const Convolution& conv) {
  require_channels(node, conv, conv.weight->sizes[0]);
  Ints sizes = convolution_batch(conv);
  sizes.push_back(times(conv.weight->sizes[1], conv.groups));
  const auto first = conv.input->sizes.size() - conv.spatial;
  for (std::size_t i = 0; i < conv.spatial; ++i) {
    const auto kernel = conv.weight->sizes[2 + i];
    node.require(
        conv.stride[i] >= 1 && conv.stride[i] <= INT32_MAX &&
            conv.dilation[i] >= 1 && conv.dilation[i] <= INT32_MAX &&
            kernel <= INT32_MAX && conv.output_padding[i] >= 0 &&
            conv.output_padding[i] <= INT32_MAX && conv.padding_low[i] >= 0 &&
            conv.padding_low[i] <= INT32_MAX &&
            conv.input->sizes[first + i] <= INT32_MAX,
        "its stride, dilation or padding is out of range");
    sizes.push_back(
        (conv.input->sizes[first + i] - 1) * conv.stride[i] -
        2 * conv.padding_low[i] + conv.dilation[i] * (kernel - 1) +
        conv.output_padding[i] + 1);
  }
  node.give(conv.input->dtype, sizes);
}

void conv(NodeShapes& node) {
  const auto read_node = convolution_of(node);
  if (node.flag("transposed", false))
    transposed_convolution(node, read_node);
  else
    plain_convolution(node, read_node);
}

void conv_transpose(NodeShapes& node) {
  transposed_convolution(node, convolution_of(node));
}

void save_convolution(SavedContext& node) {
  node.keep("input");
  node.keep("weight");
}

// Each output gathers a window.
std::int64_t gathered_macs(const NodeArguments& node, const Shape& made) {
  return times(
      product_of(made.sizes), product_of(node.tensor("weight").sizes, 1));
}

// Each input is spread over a window.
std::int64_t spread_macs(const NodeArguments& node, const Shape&) {
  return times(
      product_of(node.tensor("input").sizes),
      product_of(node.tensor("weight").sizes, 1));
}

std::int64_t convolution_macs(const NodeArguments& node, const Shape& made) {
  return node.flag("transposed", false) ? spread_macs(node, made)
                                        : gathered_macs(node, made);
}

} // namespace

const OperatorRows& convolution_operators() {
  static const OperatorRows rows{
      {{"conv1d", "conv2d", "conv3d", "convolution"},
       {.shape = conv,
        .memory = fresh,
        .gradient = Gradient::kComputed,
        .saved = save_convolution,
        .macs = convolution_macs,
        .layer = Layer::kConvolution}},
      {{"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"},
       {.shape = conv_transpose,
        .memory = fresh,
        .gradient = Gradient::kComputed,
        .saved = save_convolution,
        .macs = spread_macs,
        .layer = Layer::kTransposedConvolution}},
  };
  return rows;
}

} // namespace temper::graph

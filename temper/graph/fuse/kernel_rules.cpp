#include "temper/graph/fuse/kernel_rules.h"

#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"

namespace temper::graph {
namespace {

using Pair = std::array<std::int64_t, 2>;
constexpr Pair kOnes{1, 1};
constexpr Pair kZeros{0, 0};

std::optional<Pair> pair_of(
    const NodeArguments& arguments,
    const char* name,
    std::int64_t otherwise) {
  if (!arguments.given(name)) return Pair{otherwise, otherwise};
  const Ints values = arguments.repeated(name, 2, Ints{otherwise, otherwise});
  if (values.size() != 2) return std::nullopt;
  return Pair{values[0], values[1]};
}

// A layer that kernels compute, or why they do not.
template <class Layer>
struct Reading {
  std::optional<Layer> layer;
  std::string why;
};

bool is_square(const Pair& pair) {
  return pair[0] == pair[1];
}

std::string depthwise_left(const FusedConvolution& convolution) {
  if (fits_depthwise_kernels(convolution)) return "";
  return cat("depthwise ", convolution.kernel[0], "x", convolution.kernel[1]);
}

std::string sizes_left(
    const FusedConvolution& convolution,
    const Sizes& weight) {
  if (convolution.dilation != kOnes) return "dilation";
  for (const std::size_t i : {0U, 1U})
    if (convolution.stride[i] < 1 || convolution.padding[i] < 0 ||
        convolution.kernel[i] > kLargestKernel)
      return "an unusual size";
  if (convolution.groups == 1) return "";
  const bool depthwise = weight[0].fixed() && weight[1].fixed() &&
      weight[0].value == convolution.groups && weight[1].value == 1;
  return depthwise ? depthwise_left(convolution) : "groups";
}

Reading<FusedConvolution> read_convolution(
    const GraphView& view,
    std::size_t index) {
  const Node& node = view.node(index);
  const std::string name = view.name(index);
  const NodeArguments arguments(node);
  const Operator* page = find_operator(node);
  if (page == nullptr ||
      (page->layer != Layer::kConvolution &&
       page->layer != Layer::kTransposedConvolution))
    return {};
  if (page->layer == Layer::kTransposedConvolution ||
      arguments.flag("transposed", false))
    return {{}, "transposed"};
  if (op_name(node.op).overload == "padding")
    return {{}, "padding given as a word"};
  const std::string weight = arguments.tensor_name("weight");
  if (!view.is_float(weight)) return {{}, "a type other than float32"};
  if (!view.is_image(arguments.tensor_name("input")) || !view.is_image(weight))
    return {{}, "no images"};
  const auto stride = pair_of(arguments, "stride", 1);
  const auto padding = pair_of(arguments, "padding", 0);
  const auto dilation = pair_of(arguments, "dilation", 1);
  const Sizes& sizes = view.graph().meta(weight).sizes;
  if ((name != "conv2d" && name != "convolution") || !stride || !padding ||
      !dilation || !sizes[2].fixed() || !sizes[3].fixed())
    return {{}, "an unusual form"};
  const FusedConvolution found{
      {sizes[2].value, sizes[3].value},
      *stride,
      *padding,
      *dilation,
      arguments.integer("groups", 1)};
  if (std::string why = sizes_left(found, sizes); !why.empty())
    return {{}, std::move(why)};
  return {found, ""};
}

Reading<FusedNorm> read_norm(const GraphView& view, std::size_t index) {
  const Node& node = view.node(index);
  if (!is_batch_norm(node)) return {};
  if (view.name(index) != "batch_norm") return {{}, "an unusual form"};
  const NodeArguments arguments(node);
  if (!view.is_image(arguments.tensor_name("input"))) return {{}, "no images"};
  for (const char* value : {"weight", "bias"})
    if (!view.is_float(arguments.tensor_name(value)))
      return {{}, "no weight of its own"};
  for (const char* value : {"running_mean", "running_var"})
    if (!view.is_float(arguments.tensor_name(value)))
      return {{}, "no running statistics"};
  return {
      FusedNorm{
          arguments.real("momentum", 0.1),
          arguments.real("eps", 1e-5),
          uses_batch_statistics(node)},
      ""};
}

} // namespace

std::optional<FusedConvolution> convolution_at(
    const GraphView& view,
    std::size_t index) {
  return read_convolution(view, index).layer;
}

std::optional<FusedNorm> norm_at(const GraphView& view, std::size_t index) {
  if (norm_alone_at(view, index)) return std::nullopt;
  return read_norm(view, index).layer;
}

bool norm_alone_at(const GraphView& view, std::size_t index) {
  return view.options().norms_stay_alone && read_norm(view, index).layer &&
      uses_batch_statistics(view.node(index));
}

std::string why_left(const GraphView& view, std::size_t index) {
  for (const std::string& why :
       {read_convolution(view, index).why, read_norm(view, index).why})
    if (!why.empty()) return why;
  const std::string name = view.name(index);
  const NodeArguments arguments(view.node(index));
  if (name == "scaled_dot_product_attention") {
    if (arguments.given("attn_mask")) return "a mask";
    if (arguments.real("dropout_p", 0) != 0) return "dropout in attention";
  }
  if (name == "layer_norm")
    return arguments.integers("normalized_shape").size() == 1
        ? "no weight of its own"
        : "LayerNorm over several dimensions";
  return "";
}

bool fits_depthwise_kernels(const FusedConvolution& convolution) {
  const std::int64_t kernel = convolution.kernel[0];
  const std::int64_t half = (kernel - 1) / 2;
  return convolution.dilation == kOnes && is_square(convolution.kernel) &&
      (kernel == 3 || kernel == 5) && convolution.padding == Pair{half, half} &&
      is_square(convolution.stride) &&
      (convolution.stride[0] == 1 || convolution.stride[0] == 2);
}

bool follows_norm(FusedActivation act) {
  return act != FusedActivation::kGelu && act != FusedActivation::kGeluTanh;
}

std::optional<std::int64_t>
pool_behind(const GraphView& view, std::size_t convolution, std::size_t pool) {
  if (view.name(pool) != "max_pool2d") return std::nullopt;
  const NodeArguments cells(view.node(pool));
  const auto side = pair_of(cells, "kernel_size", 0);
  const auto stride = pair_of(cells, "stride", side ? (*side)[0] : 0);
  const bool plain = side == Pair{2, 2} && stride == side &&
      pair_of(cells, "padding", 0) == kZeros &&
      pair_of(cells, "dilation", 1) == kOnes && !cells.flag("ceil_mode", false);
  const auto layer = convolution_at(view, convolution);
  if (!plain || !layer) return std::nullopt;
  const Sizes& made = view.graph().meta(view.result(convolution)).sizes;
  const Sizes& weight =
      view.graph()
          .meta(NodeArguments(view.node(convolution)).tensor_name("weight"))
          .sizes;
  const auto at_least = [](const Size& size, std::int64_t low) {
    return size.fixed() && size.value >= low;
  };
  const bool computed = layer->kernel == Pair{3, 3} && layer->stride == kOnes &&
      is_square(layer->padding) && layer->padding[0] <= 1 &&
      layer->groups == 1 && weight[1].fixed() &&
      weight[1].value <= kMostPooledChannels && at_least(made[2], 2) &&
      at_least(made[3], 2);
  if (!computed) return std::nullopt;
  return (*side)[0];
}

std::optional<bool> mean_over_plane(const GraphView& view, std::size_t index) {
  const std::string name = view.name(index);
  const NodeArguments arguments(view.node(index));
  if (name != "mean" && name != "adaptive_avg_pool2d") return std::nullopt;
  if (!view.is_image(arguments.subject()) || !view.is_float(view.result(index)))
    return std::nullopt;
  if (name == "adaptive_avg_pool2d") {
    if (pair_of(arguments, "output_size", 0) != kOnes) return std::nullopt;
    return true;
  }
  if (!arguments.given("dim") || arguments.given("dtype")) return std::nullopt;
  std::vector<std::size_t> axes;
  for (const std::int64_t dim : arguments.integers("dim"))
    axes.push_back(arguments.axis(dim, 4));
  std::sort(axes.begin(), axes.end());
  if (axes != std::vector<std::size_t>{2, 3}) return std::nullopt;
  return arguments.flag("keepdim", false);
}

bool makes_rows_of_image(const GraphView& view, std::size_t index) {
  const std::string name = view.name(index);
  const std::string image = NodeArguments(view.node(index)).subject();
  if ((name != "flatten" && name != "view" && name != "reshape") ||
      !view.is_image(image) || view.rank(view.result(index)) != 2)
    return false;
  const Sizes& sizes = view.graph().meta(image).sizes;
  const Sizes& rows = view.graph().meta(view.result(index)).sizes;
  return rows[0] == sizes[0] && (sizes[2] != Size(1) || sizes[3] != Size(1));
}

} // namespace temper::graph

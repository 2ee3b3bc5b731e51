// The layers: each writes the arguments that torch.export would, in the order
// of the operator's schema, and registers its weights before its node.
#include <utility>

#include "temper/base/error.h"
#include "temper/graph/build/builder.h"

namespace temper::graph {
namespace {

TensorName as_tensor(const Value& value) {
  return {value.name};
}

// An argument that may be left out with all that follow it.
struct Optional {
  NamedArgument argument;
  bool at_default = false;
};

void append_until_default(
    std::vector<NamedArgument>& arguments,
    std::vector<Optional> optional) {
  while (!optional.empty() && optional.back().at_default)
    optional.pop_back();
  for (Optional& each : optional)
    arguments.push_back(std::move(each.argument));
}

Ints twice(std::int64_t value) {
  return {value, value};
}

std::string path_within(const std::string& path, const char* name) {
  return path.empty() ? name : path + "." + name;
}

} // namespace

Value Builder::conv2d(
    const std::string& path,
    const Value& x,
    const Conv2d& layer) {
  const std::int64_t in = sizes(x).at(0);
  check(
      in % layer.groups == 0 && layer.out % layer.groups == 0,
      "groups divide the channels");
  const Ints shape{layer.out, in / layer.groups, layer.kernel, layer.kernel};
  const Value weight =
      parameter(path_within(path, "weight"), shape, fills_.conv_weight(shape));
  Argument bias = None{};
  if (layer.bias)
    bias = as_tensor(parameter(
        path_within(path, "bias"), {layer.out}, fills_.conv_bias(shape)));
  std::vector<NamedArgument> arguments{
      {"input", as_tensor(x)}, {"weight", as_tensor(weight)}};
  append_until_default(
      arguments,
      {{{"bias", std::move(bias)}, !layer.bias},
       {{"stride", twice(layer.stride)}, layer.stride == 1},
       {{"padding", twice(layer.padding)}, layer.padding == 0},
       {{"dilation", twice(1)}, true},
       {{"groups", layer.groups}, layer.groups == 1}});
  return node(path, "aten.conv2d.default", std::move(arguments));
}

Value Builder::linear(
    const std::string& path,
    const Value& x,
    const Linear& layer) {
  const Ints shape{layer.out, sizes(x).back()};
  const Value weight = parameter(
      path_within(path, "weight"),
      shape,
      layer.weight ? *layer.weight : fills_.linear_weight(shape));
  if (!layer.bias) return tied_linear(path, x, weight);
  const Value bias = parameter(
      path_within(path, "bias"), {layer.out}, fills_.linear_bias(shape));
  return node(
      path,
      "aten.linear.default",
      {{"input", as_tensor(x)},
       {"weight", as_tensor(weight)},
       {"bias", as_tensor(bias)}});
}

Value Builder::tied_linear(
    const std::string& path,
    const Value& x,
    const Value& weight) {
  return node(
      path,
      "aten.linear.default",
      {{"input", as_tensor(x)}, {"weight", as_tensor(weight)}});
}

Value Builder::embedding(
    const std::string& path,
    const Value& x,
    const Value& table) {
  return node(
      path,
      "aten.embedding.default",
      {{"weight", as_tensor(table)}, {"indices", as_tensor(x)}});
}

Value Builder::batch_norm(const std::string& path, const Value& x) {
  const Shape per_channel{DType::kFloat32, {sizes(x).at(0)}};
  const Value weight =
      parameter(path_within(path, "weight"), per_channel.sizes, constant(1));
  const Value bias =
      parameter(path_within(path, "bias"), per_channel.sizes, constant(0));
  const Value mean =
      buffer(path_within(path, "running_mean"), per_channel, constant(0));
  const Value variance =
      buffer(path_within(path, "running_var"), per_channel, constant(1));
  const Value batches = buffer(
      path_within(path, "num_batches_tracked"),
      {DType::kInt64, {}},
      constant(0));
  node(
      path,
      "aten.add_.Tensor",
      {{"self", as_tensor(batches)}, {"other", std::int64_t{1}}});
  return node(
      path,
      "aten.batch_norm.default",
      {{"input", as_tensor(x)},
       {"weight", as_tensor(weight)},
       {"bias", as_tensor(bias)},
       {"running_mean", as_tensor(mean)},
       {"running_var", as_tensor(variance)},
       {"training", true},
       {"momentum", 0.1},
       {"eps", 1e-5},
       {"cudnn_enabled", true}});
}

Value Builder::layer_norm(const std::string& path, const Value& x, double eps) {
  const Ints shape{sizes(x).back()};
  const Value weight =
      parameter(path_within(path, "weight"), shape, constant(1));
  const Value bias = parameter(path_within(path, "bias"), shape, constant(0));
  std::vector<NamedArgument> arguments{
      {"input", as_tensor(x)},
      {"normalized_shape", shape},
      {"weight", as_tensor(weight)},
      {"bias", as_tensor(bias)}};
  append_until_default(arguments, {{{"eps", eps}, eps == 1e-5}});
  return node(path, "aten.layer_norm.default", std::move(arguments));
}

Value Builder::relu(const std::string& path, const Value& x) {
  return node(path, "aten.relu.default", {{"self", as_tensor(x)}});
}

Value Builder::relu_(const std::string& path, const Value& x) {
  return node(path, "aten.relu_.default", {{"self", as_tensor(x)}});
}

Value Builder::relu6_(const std::string& path, const Value& x) {
  return node(
      path,
      "aten.hardtanh_.default",
      {{"self", as_tensor(x)}, {"min_val", 0.0}, {"max_val", 6.0}});
}

Value Builder::gelu(const std::string& path, const Value& x) {
  return node(path, "aten.gelu.default", {{"self", as_tensor(x)}});
}

Value Builder::dropout(const std::string& path, const Value& x, double p) {
  if (p == 0) return x;
  return node(
      path,
      "aten.dropout.default",
      {{"input", as_tensor(x)}, {"p", p}, {"train", true}});
}

Value Builder::max_pool2d(
    const std::string& path,
    const Value& x,
    const Pool& pool) {
  std::vector<NamedArgument> arguments{
      {"self", as_tensor(x)},
      {"kernel_size", twice(pool.kernel)},
      {"stride", twice(pool.stride)}};
  append_until_default(
      arguments, {{{"padding", twice(pool.padding)}, pool.padding == 0}});
  return node(path, "aten.max_pool2d.default", std::move(arguments));
}

Value Builder::average_pool2d(const std::string& path, const Value& x) {
  return node(
      path,
      "aten.adaptive_avg_pool2d.default",
      {{"self", as_tensor(x)}, {"output_size", twice(1)}});
}

Value Builder::add(const std::string& path, const Value& a, const Value& b) {
  return node(
      path,
      "aten.add.Tensor",
      {{"self", as_tensor(a)}, {"other", as_tensor(b)}});
}

Value Builder::add_(const std::string& path, const Value& a, const Value& b) {
  return node(
      path,
      "aten.add_.Tensor",
      {{"self", as_tensor(a)}, {"other", as_tensor(b)}});
}

Value Builder::attention(
    const std::string& path,
    const Value& query,
    const Value& key,
    const Value& value,
    const Attention& options) {
  std::vector<NamedArgument> arguments{
      {"query", as_tensor(query)},
      {"key", as_tensor(key)},
      {"value", as_tensor(value)}};
  append_until_default(
      arguments,
      {{{"attn_mask", None{}}, true},
       {{"dropout_p", options.dropout}, options.dropout == 0},
       {{"is_causal", options.causal}, !options.causal}});
  return node(
      path, "aten.scaled_dot_product_attention.default", std::move(arguments));
}

Value Builder::flatten(
    const std::string& path,
    const Value& x,
    std::int64_t start) {
  return node(
      path,
      "aten.flatten.using_ints",
      {{"self", as_tensor(x)}, {"start_dim", start}});
}

Value Builder::permute(
    const std::string& path,
    const Value& x,
    const Ints& order) {
  return node(
      path, "aten.permute.default", {{"self", as_tensor(x)}, {"dims", order}});
}

Value Builder::transpose(
    const std::string& path,
    const Value& x,
    int first,
    int second) {
  return node(
      path,
      "aten.transpose.int",
      {{"self", as_tensor(x)},
       {"dim0", std::int64_t{first}},
       {"dim1", std::int64_t{second}}});
}

Value Builder::select(
    const std::string& path,
    const Value& x,
    std::int64_t dim,
    std::int64_t index) {
  return node(
      path,
      "aten.select.int",
      {{"self", as_tensor(x)}, {"dim", dim}, {"index", index}});
}

Value Builder::cat(
    const std::string& path,
    const std::vector<Value>& parts,
    std::int64_t dim) {
  TensorNames names;
  for (const Value& part : parts)
    names.push_back(as_tensor(part));
  return node(path, "aten.cat.default", {{"tensors", names}, {"dim", dim}});
}

} // namespace temper::graph

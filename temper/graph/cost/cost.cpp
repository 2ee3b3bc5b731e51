#include "temper/graph/cost/cost.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "temper/base/text.h"
#include "temper/graph/cost/saved.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/ir/saturating.h"

namespace temper::graph {
namespace {

std::int64_t product(const Ints& sizes, std::size_t first = 0) {
  std::int64_t all = 1;
  for (std::size_t i = first; i < sizes.size(); ++i)
    all = times(all, sizes[i]);
  return all;
}

// Multiply-adds from the arguments and the first result.
using MacRule = std::int64_t (*)(const NodeArguments&, const Shape& made);

std::int64_t convolution_macs(const NodeArguments& node, const Shape& made) {
  const Ints& weight = node.tensor("weight").sizes;
  const bool transposed = node.flag("transposed", false) ||
      contains(node.node().op, "conv_transpose");
  // A transposed one spreads each input, another gathers each output.
  return times(
      product(transposed ? node.tensor("input").sizes : made.sizes),
      product(weight, 1));
}

std::int64_t linear_macs(const NodeArguments& node, const Shape& made) {
  return times(product(made.sizes), node.tensor("input").sizes.back());
}

std::int64_t
inner(const NodeArguments& node, const Shape& made, const char* left) {
  const Ints& sizes = node.tensor(left).sizes;
  return times(product(made.sizes), sizes.empty() ? 1 : sizes.back());
}

std::int64_t matmul_macs(const NodeArguments& node, const Shape& made) {
  return inner(node, made, "self");
}

std::int64_t add_product_macs(const NodeArguments& node, const Shape& made) {
  return inner(node, made, node.given("batch1") ? "batch1" : "mat1");
}

// Queries with keys, weights with values; masked places count too.
std::int64_t attention_macs(const NodeArguments& node, const Shape& made) {
  const Ints& query = node.tensor("query").sizes;
  const Ints& key = node.tensor("key").sizes;
  const auto keys = key[key.size() - 2];
  return plus(times(product(query), keys), times(product(made.sizes), keys));
}

// One multiply-add for each combination of all letters.
std::int64_t einsum_macs(const NodeArguments& node, const Shape&) {
  const auto shapes = node.tensors("tensors");
  const std::string equation = node.text("equation", "");
  const auto terms = split(equation.substr(0, equation.find("->")), ',');
  if (terms.size() != shapes.size() || shapes.size() < 2) return 0;
  std::unordered_map<char, std::int64_t> size_of;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::string letters(trim(terms[i]));
    for (std::size_t j = 0; j < letters.size(); ++j)
      if (j < shapes[i].sizes.size())
        size_of[letters[j]] = std::max(size_of[letters[j]], shapes[i].sizes[j]);
  }
  std::int64_t all = 1;
  for (const auto& [letter, size] : size_of)
    all = times(all, size);
  return all;
}

// Every matrix once a step.
std::int64_t recurrent_macs(const NodeArguments& node, const Shape&) {
  const Ints& input = node.tensor("input").sizes;
  std::int64_t weights = 0;
  for (const auto& each : node.tensors("params"))
    if (each.sizes.size() == 2) weights = plus(weights, product(each.sizes));
  const std::int64_t features = std::max<std::int64_t>(input.back(), 1);
  return times(weights, product(input) / features);
}

const std::unordered_map<std::string_view, MacRule>& mac_rules() {
  static const std::unordered_map<std::string_view, MacRule> table{
      {"conv1d", convolution_macs},
      {"conv2d", convolution_macs},
      {"conv3d", convolution_macs},
      {"convolution", convolution_macs},
      {"conv_transpose1d", convolution_macs},
      {"conv_transpose2d", convolution_macs},
      {"conv_transpose3d", convolution_macs},
      {"linear", linear_macs},
      {"matmul", matmul_macs},
      {"mm", matmul_macs},
      {"bmm", matmul_macs},
      {"mv", matmul_macs},
      {"dot", matmul_macs},
      {"addmm", add_product_macs},
      {"baddbmm", add_product_macs},
      {"scaled_dot_product_attention", attention_macs},
      {"einsum", einsum_macs},
      {"lstm", recurrent_macs},
      {"gru", recurrent_macs},
      {"rnn_tanh", recurrent_macs},
      {"rnn_relu", recurrent_macs},
  };
  return table;
}

// Operations an element of the result, where it is not one. Rough: a
// transcendental function counts as several.
std::int64_t flops_an_element(std::string_view name) {
  static const std::unordered_map<std::string_view, int> table{
      {"batch_norm", 4},    {"layer_norm", 6}, {"group_norm", 6},
      {"instance_norm", 6}, {"rms_norm", 4},   {"softmax", 5},
      {"log_softmax", 5},   {"gelu", 8},       {"silu", 5},
      {"sigmoid", 4},       {"tanh", 6},       {"exp", 4},
      {"mish", 8},          {"hardswish", 3},  {"dropout", 2},
      {"embedding", 0},     {"cat", 0},        {"stack", 0},
      {"clone", 0},         {"contiguous", 0}, {"pad", 0},
      {"zeros", 0},         {"ones", 0},       {"full", 0},
      {"index", 0},         {"roll", 0},
  };
  const auto found = table.find(name);
  return found == table.end() ? 1 : found->second;
}

// Pooling and reductions look at each input.
std::int64_t elements_seen(const NodeArguments& node, const Shape& made) {
  std::int64_t most = product(made.sizes);
  for (const auto& input : node.node().inputs)
    if (const Shape* shape = node.shape_of(input.value))
      most = std::max(most, product(shape->sizes));
  return most;
}

} // namespace

Cost& Cost::operator+=(const Cost& other) {
  macs = plus(macs, other.macs);
  flops = plus(flops, other.flops);
  backward_flops = plus(backward_flops, other.backward_flops);
  bytes_read = plus(bytes_read, other.bytes_read);
  bytes_written = plus(bytes_written, other.bytes_written);
  return *this;
}

std::vector<Cost>
costs(const Graph& graph, const Inferred& known, const Symbols& symbols) {
  const auto with_gradient = values_with_gradient(graph, known);
  const StorageMap places = place(graph, known, symbols, true);
  std::vector<Cost> all;
  for (const auto& node : graph.nodes) {
    Cost& cost = all.emplace_back();
    const NodeArguments arguments(node, known);
    std::vector<std::string> made;
    for (const auto& output : node.outputs)
      for (auto& value : tensors_in(output))
        made.push_back(std::move(value));
    const OpName op = op_name(node.op);
    const bool moves =
        op.in_place ||
        std::any_of(made.begin(), made.end(), [&](const auto& value) {
          return places.storages[places.at(value).storage].value == value;
        });
    if (made.empty() || !moves) continue;

    int gradients = 0;
    for (const auto& input : node.inputs)
      for (const auto& value : tensors_in(input.value)) {
        cost.bytes_read =
            plus(cost.bytes_read, bytes_of(known.tensors.at(value)));
        if (with_gradient.count(value) > 0) ++gradients;
      }
    for (const auto& value : made)
      cost.bytes_written =
          plus(cost.bytes_written, bytes_of(known.tensors.at(value)));
    const Shape& first = known.tensors.at(made.front());
    if (op.name == "embedding") // reads the rows it gives
      cost.bytes_read =
          plus(cost.bytes_written, bytes_of(arguments.tensor("indices")));
    const auto rule = mac_rules().find(op.name);
    if (rule != mac_rules().end()) {
      cost.macs = rule->second(arguments, first);
      cost.flops = times(2, cost.macs);
      // As much again for each factor that wants a gradient; a bias is cheap.
      cost.backward_flops = times(cost.flops, std::min(gradients, 2));
    } else {
      cost.flops =
          times(elements_seen(arguments, first), flops_an_element(op.name));
      if (gradients > 0) cost.backward_flops = cost.flops;
    }
  }
  return all;
}

} // namespace temper::graph

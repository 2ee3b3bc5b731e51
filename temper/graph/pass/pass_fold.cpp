// In eval mode BatchNorm is y = (x - mean) * s + beta with s = gamma /
// sqrt(var + eps), one s per channel; a convolution before it takes s into its
// weights and the rest into its bias. Computed in double.
#include <algorithm>
#include <cmath>
#include <set>

#include "temper/base/text.h"
#include "temper/graph/ir/elements.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/norm_mode.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

using Names = std::set<std::string>;
using Counts = std::map<std::string, int>;

bool is_layer(const Graph& graph, const Node& node) {
  const std::string_view op = op_name(node.op).name;
  if (op == "conv1d" || op == "conv2d" || op == "conv3d") return true;
  if (op == "convolution")
    return !NodeArguments(node).flag("transposed", false);
  // Over [batch, length, channels] BatchNorm would take the length.
  return op == "linear" &&
      graph.meta(values_made(node).front()).sizes.size() == 2;
}

const TensorData* bytes_of_value(
    const Program& program,
    const std::string& value) {
  const Input* input = find_input(program.graph, value);
  if (input == nullptr) return nullptr;
  const auto found = program.weights.find(input->target);
  return found == program.weights.end() || !is_floating(found->second.dtype)
      ? nullptr
      : &found->second;
}

// Per channel: y = x * scale + shift. Empty when a statistic is computed by the
// graph rather than stored.
struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;
};
Affine affine_of(const Program& program, const Node& norm) {
  const TensorData* mean =
      bytes_of_value(program, NodeArguments(norm).tensor_name("running_mean"));
  const TensorData* var =
      bytes_of_value(program, NodeArguments(norm).tensor_name("running_var"));
  if (mean == nullptr || var == nullptr) return {};
  const std::vector<double> means = elements_of(*mean);
  const std::vector<double> vars = elements_of(*var);
  std::vector<double> gamma(means.size(), 1.0);
  std::vector<double> beta(means.size(), 0.0);
  const auto stored = [&](const char* name, std::vector<double>& values) {
    const std::string value = NodeArguments(norm).tensor_name(name);
    if (value.empty()) return true;
    const TensorData* bytes = bytes_of_value(program, value);
    if (bytes != nullptr) values = elements_of(*bytes);
    return bytes != nullptr;
  };
  if (!stored("weight", gamma) || !stored("bias", beta)) return {};
  const std::size_t channels = means.size();
  if (vars.size() != channels || gamma.size() != channels ||
      beta.size() != channels)
    return {};
  const double eps = NodeArguments(norm).real("eps", 1e-5);
  Affine affine;
  for (std::size_t c = 0; c < channels; ++c) {
    affine.scale.push_back(gamma[c] / std::sqrt(vars[c] + eps));
    affine.shift.push_back(beta[c] - means[c] * affine.scale[c]);
  }
  return affine;
}

// A bias for a layer that had none, beside its weight.
void add_bias(
    Program& program,
    Node& layer,
    const Input& weight,
    const TensorData& bias) {
  Graph& graph = program.graph;
  std::string target = parent_path(weight.target);
  target += target.empty() ? "bias" : ".bias";
  while (graph.find_target(target) != nullptr || program.weights.count(target))
    target += "_folded";
  Input input = weight;
  input.kind = InputKind::kParameter;
  input.target = target;
  input.value = free_name(graph, value_name(input.kind, target));
  TensorMeta meta = graph.meta(weight.value);
  meta.sizes = {bias.sizes.front()};
  meta.strides = {1};
  graph.tensors[input.value] = meta;
  program.weights[target] = bias;
  set_argument(layer, "bias", TensorName{input.value}, "weight");
  const auto at = &weight - graph.inputs.data();
  graph.inputs.insert(graph.inputs.begin() + at + 1, std::move(input));
}

// False when the layer's weights are not its own, or not stored.
bool fold_into(
    Program& program,
    Node& layer,
    const Affine& affine,
    const Counts& readers) {
  const Graph& graph = program.graph;
  const std::string weight = NodeArguments(layer).tensor_name("weight");
  const std::string bias = NodeArguments(layer).tensor_name("bias");
  const TensorData* weight_bytes = bytes_of_value(program, weight);
  const TensorData* bias_bytes =
      bias.empty() ? nullptr : bytes_of_value(program, bias);
  const std::size_t channels = affine.scale.size();
  if (weight_bytes == nullptr || readers.at(weight) != 1 || channels == 0 ||
      weight_bytes->sizes.empty() ||
      weight_bytes->sizes[0] != static_cast<std::int64_t>(channels))
    return false;
  if (!bias.empty() && (bias_bytes == nullptr || readers.at(bias) != 1))
    return false;

  std::vector<double> weights = elements_of(*weight_bytes);
  std::vector<double> biases = bias_bytes == nullptr
      ? std::vector<double>(channels, 0.0)
      : elements_of(*bias_bytes);
  const std::size_t row = weights.size() / channels;
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] *= affine.scale[i / row];
  for (std::size_t c = 0; c < channels; ++c)
    biases[c] = biases[c] * affine.scale[c] + affine.shift[c];

  const Input& input = *find_input(graph, weight);
  const DType dtype = weight_bytes->dtype;
  const TensorData new_bias =
      tensor_of(dtype, {static_cast<std::int64_t>(channels)}, biases);
  program.weights[input.target] =
      tensor_of(dtype, weight_bytes->sizes, weights);
  if (bias_bytes == nullptr)
    add_bias(program, layer, input, new_bias);
  else
    program.weights[find_input(graph, bias)->target] = new_bias;
  return true;
}

bool fold(Program& program, const Node& norm, const Counts& readers) {
  Graph& graph = program.graph;
  const std::vector<std::string> made = values_made(norm);
  for (std::size_t i = 1; i < made.size(); ++i) // saved statistics
    if (readers.count(made[i]) > 0) return false;
  const std::string before = NodeArguments(norm).tensor_name("input");
  Node* layer = maker_of(graph, before);
  if (layer == nullptr || !is_layer(graph, *layer) || readers.at(before) != 1)
    return false;
  return fold_into(program, *layer, affine_of(program, norm), readers);
}

} // namespace

Passed fold_batch_norm(const Program& program) {
  Passed passed{program, ""};
  Graph& graph = passed.program.graph;
  const Counts readers = reader_counts(graph);
  Names folded; // first results
  Names freed; // what only they read
  int all = 0;
  int training = 0;
  for (const Node& norm : graph.nodes) {
    if (!is_batch_norm(norm)) continue;
    ++all;
    if (uses_batch_statistics(norm)) ++training;
    if (uses_batch_statistics(norm) || !fold(passed.program, norm, readers))
      continue;
    folded.insert(values_made(norm).front());
    for (const char* name : {"weight", "bias", "running_mean", "running_var"})
      freed.insert(NodeArguments(norm).tensor_name(name));
    freed.insert(counter_of(graph, norm));
  }
  std::vector<std::pair<std::string, std::string>> renamed;
  std::erase_if(graph.nodes, [&](const Node& node) {
    const std::vector<std::string> made = values_made(node);
    if (made.empty() || folded.count(made.front()) == 0) return false;
    renamed.emplace_back(
        made.front(), NodeArguments(node).tensor_name("input"));
    return true;
  });
  for (const auto& [from, to] : renamed)
    replace_value(graph, from, to);

  const Counts left = reader_counts(graph);
  std::int64_t gone = 0;
  for (const std::string& value : freed) {
    if (left.count(value) > 0 || find_input(graph, value) == nullptr) continue;
    remove_input(passed.program, value);
    ++gone;
  }
  forget_unmade(graph);
  passed.report =
      cat("folded ",
          folded.size(),
          " of ",
          plural(all, "BatchNorm"),
          " into the layer before");
  if (gone > 0) passed.report += cat(", ", plural(gone, "tensor"), " gone");
  if (training > 0)
    passed.report +=
        cat("; ", training, " run in training mode, which cannot be folded");
  return passed;
}

} // namespace temper::graph

#include "temper/graph/ir/effects.h"

#include <algorithm>
#include <set>

#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"

namespace temper::graph {
namespace {

using Names = std::set<std::string>;

const Names& dropouts() {
  static const Names names{
      "dropout",
      "feature_dropout",
      "alpha_dropout",
      "feature_alpha_dropout",
      "native_dropout"};
  return names;
}

const Names& recurrent_layers() {
  static const Names names{"lstm", "gru", "rnn_tanh", "rnn_relu"};
  return names;
}

// May give back a view of what they read, or the very same tensor.
bool may_alias(const Node& node) {
  static const Names views{"alias",        "atleast_1d",
                           "atleast_2d",   "atleast_3d",
                           "broadcast_to", "chunk",
                           "contiguous",   "detach",
                           "diagonal",     "expand",
                           "expand_as",    "flatten",
                           "lift_fresh",   "movedim",
                           "narrow",       "numpy_T",
                           "permute",      "positive",
                           "ravel",        "real",
                           "reshape",      "reshape_as",
                           "select",       "slice",
                           "split",        "split_with_sizes",
                           "squeeze",      "swapaxes",
                           "swapdims",     "t",
                           "tensor_split", "to",
                           "transpose",    "type_as",
                           "unbind",       "unflatten",
                           "unfold",       "unsqueeze",
                           "view",         "view_as"};
  const OpName name = op_name(node.op);
  if (name.in_place) return true;
  const std::string op(name.name);
  if (dropouts().count(op) > 0) return !draws_randomness(node);
  return views.count(op) > 0;
}

} // namespace

bool is_batch_norm(const Node& node) {
  static const Names names{
      "batch_norm",
      "native_batch_norm",
      "cudnn_batch_norm",
      "miopen_batch_norm",
      "_batch_norm_impl_index",
      "_native_batch_norm_legit",
      "_native_batch_norm_legit_functional",
      "_native_batch_norm_legit_no_training"};
  return names.count(std::string(op_name(node.op).name)) > 0;
}

bool uses_batch_statistics(const Node& node) {
  return is_batch_norm(node) && NodeArguments(node).flag("training", false);
}

bool draws_randomness(const Node& node) {
  static const Names always{
      "bernoulli",
      "cauchy",
      "exponential",
      "geometric",
      "log_normal",
      "multinomial",
      "normal",
      "poisson",
      "rand",
      "rand_like",
      "randint",
      "randint_like",
      "randn",
      "randn_like",
      "random",
      "randperm",
      "uniform",
      "normal_functional"};
  const std::string op(op_name(node.op).name);
  const NodeArguments arguments(node);
  if (always.count(op) > 0) return true;
  if (dropouts().count(op) > 0)
    return arguments.flag("train", true) && arguments.real("p", 0.5) > 0;
  if (recurrent_layers().count(op) > 0)
    return arguments.flag("train", false) && arguments.real("dropout", 0) > 0;
  if (starts_with(op, "rrelu")) return arguments.flag("training", false);
  if (contains(op, "scaled_dot_product"))
    return arguments.real("dropout_p", 0) > 0;
  return false;
}

std::vector<std::string> values_written(const Node& node) {
  std::vector<std::string> written;
  const auto add = [&](const std::string& value) {
    if (!value.empty()) written.push_back(value);
  };
  const OpName op = op_name(node.op);
  const NodeArguments arguments(node);
  if (op.in_place) add(arguments.subject());
  add(arguments.tensor_name("out"));
  const bool normalises = uses_batch_statistics(node) ||
      (op.name == "instance_norm" && arguments.flag("use_input_stats", false));
  if (normalises && !op.name.ends_with("_functional")) {
    add(arguments.tensor_name("running_mean"));
    add(arguments.tensor_name("running_var"));
  }
  return written;
}

AliasMap::AliasMap(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!may_alias(node)) continue;
    const std::string subject = NodeArguments(node).subject();
    if (subject.empty()) continue;
    const std::string first = owner(subject);
    for (const Result& result : node.outputs)
      for (const std::string& value : tensors_in(result))
        owners_[value] = first;
  }
}

std::string AliasMap::owner(const std::string& value) const {
  const auto found = owners_.find(value);
  return found == owners_.end() ? value : found->second;
}

std::set<std::string> buffers_written(const Graph& graph) {
  std::map<std::string, std::string> buffers; // value, target
  for (const Input* input : graph.inputs_of(InputKind::kBuffer))
    buffers[input->value] = input->target;
  const AliasMap memory(graph);
  std::set<std::string> written;
  for (const Node& node : graph.nodes)
    for (const std::string& value : starts_with(node.op, "aten.")
             ? values_written(node)
             : values_read(node))
      if (const auto found = buffers.find(memory.owner(value));
          found != buffers.end())
        written.insert(found->second);
  for (const Output& output : graph.outputs)
    if (output.kind == OutputKind::kBufferMutation)
      written.insert(output.target);
  return written;
}

} // namespace temper::graph

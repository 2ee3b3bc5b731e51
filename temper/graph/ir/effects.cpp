#include "temper/graph/ir/effects.h"

#include <algorithm>
#include <set>

#include "temper/base/text.h"

namespace temper::graph {
namespace {

using Names = std::set<std::string>;

// add_ and __iadd__ write; __and__ does not.
bool works_in_place(const std::string& op) {
  if (op.ends_with("__")) return starts_with(op, "__i");
  return op.ends_with("_");
}

std::string without_underscore(const std::string& op) {
  return works_in_place(op) ? op.substr(0, op.size() - 1) : op;
}

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
  const std::string op = operator_of(node);
  if (works_in_place(op)) return true;
  if (dropouts().count(op) > 0) return !draws_randomness(node);
  return views.count(op) > 0;
}

} // namespace

std::string operator_of(const Node& node) {
  const auto begin = node.op.find('.');
  if (begin == std::string::npos) return node.op;
  const auto end = node.op.find('.', begin + 1);
  return node.op.substr(
      begin + 1,
      end == std::string::npos ? std::string::npos : end - begin - 1);
}

std::string tensor_argument(const Node& node, const std::string& name) {
  const Argument* argument = node.find(name);
  const auto* tensor =
      argument == nullptr ? nullptr : std::get_if<TensorName>(argument);
  return tensor == nullptr ? "" : tensor->name;
}

std::string subject_of(const Node& node) {
  for (const NamedArgument& argument : node.inputs)
    if (const auto* tensor = std::get_if<TensorName>(&argument.value))
      return tensor->name;
  return "";
}

bool truth(const Node& node, const std::string& name, bool otherwise) {
  const Argument* argument = node.find(name);
  const bool* value =
      argument == nullptr ? nullptr : std::get_if<bool>(argument);
  return value == nullptr ? otherwise : *value;
}

double number(const Node& node, const std::string& name, double otherwise) {
  const Argument* argument = node.find(name);
  if (argument == nullptr) return otherwise;
  if (const auto* real = std::get_if<double>(argument)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(argument))
    return static_cast<double>(*whole);
  return otherwise;
}

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
  return names.count(operator_of(node)) > 0;
}

bool uses_batch_statistics(const Node& node) {
  return is_batch_norm(node) && truth(node, "training", false);
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
  const std::string op = without_underscore(operator_of(node));
  if (always.count(op) > 0) return true;
  if (dropouts().count(op) > 0)
    return truth(node, "train", true) && number(node, "p", 0.5) > 0;
  if (recurrent_layers().count(op) > 0)
    return truth(node, "train", false) && number(node, "dropout", 0) > 0;
  if (starts_with(op, "rrelu")) return truth(node, "training", false);
  if (contains(op, "scaled_dot_product"))
    return number(node, "dropout_p", 0) > 0;
  return false;
}

std::vector<std::string> values_written(const Node& node) {
  std::vector<std::string> written;
  const auto add = [&](const std::string& value) {
    if (!value.empty()) written.push_back(value);
  };
  const std::string op = operator_of(node);
  if (works_in_place(op)) add(subject_of(node));
  add(tensor_argument(node, "out"));
  const bool normalises = uses_batch_statistics(node) ||
      (op == "instance_norm" && truth(node, "use_input_stats", false));
  if (normalises && !op.ends_with("_functional")) {
    add(tensor_argument(node, "running_mean"));
    add(tensor_argument(node, "running_var"));
  }
  return written;
}

AliasMap::AliasMap(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!may_alias(node)) continue;
    const std::string subject = subject_of(node);
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

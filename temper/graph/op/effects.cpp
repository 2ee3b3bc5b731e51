#include "temper/graph/op/effects.h"

#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {

bool is_batch_norm(const Node& node) {
  const Operator* page = find_operator(node);
  return page != nullptr && page->layer == Layer::kBatchNorm;
}

bool uses_batch_statistics(const Node& node) {
  return is_batch_norm(node) &&
      NodeArguments(node).flag(find_operator(node)->mode->argument, false);
}

bool draws_randomness(const Node& node) {
  const Operator* page = find_operator(node);
  return page != nullptr && page->random != nullptr &&
      page->random(NodeArguments(node));
}

std::vector<std::string> values_written(const Node& node) {
  std::vector<std::string> written;
  const NodeArguments arguments(node);
  const auto add = [&](const std::string& value) {
    if (!value.empty()) written.push_back(value);
  };
  if (op_name(node.op).in_place) add(arguments.subject());
  add(arguments.tensor_name("out"));
  const Operator* page = find_operator(node);
  if (page != nullptr && page->moves_statistics &&
      arguments.flag(page->mode->argument, false)) {
    add(arguments.tensor_name("running_mean"));
    add(arguments.tensor_name("running_var"));
  }
  return written;
}

bool may_share_memory(const Node& node) {
  if (op_name(node.op).in_place) return true;
  const Operator* page = find_operator(node);
  if (page == nullptr || page->memory == nullptr || page->memory == fresh)
    return false;
  return !draws_randomness(node); // new numbers need new memory
}

std::optional<Ints> shared_strides(
    const NodeArguments& node,
    const ViewOf& view) {
  const OpName op = op_name(node.node().op);
  if (op.in_place && view.base.sizes == view.made.sizes) return view.strides;
  const Operator* page = find_operator(op);
  if (page == nullptr || page->memory == nullptr) return std::nullopt;
  return page->memory(node, view);
}

AliasMap::AliasMap(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!may_share_memory(node)) continue;
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
    for (const std::string& value : op_name(node.op).space == "aten"
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

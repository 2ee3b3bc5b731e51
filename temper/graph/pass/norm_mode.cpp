#include "temper/graph/pass/norm_mode.h"

#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"

namespace temper::graph {
namespace {

constexpr const char* kCounter = ".num_batches_tracked";

// In place as torch.export writes it, or as a new value that a buffer mutation
// puts into the buffer, as its decompositions do.
bool counts(const Node& node, const std::set<std::string>& counters) {
  if (op_name(node.op).name != "add") return false;
  return counters.count(NodeArguments(node).subject()) > 0 &&
      NodeArguments(node).real("other", 0) == 1;
}

Node counting_node(
    const Graph& graph,
    const Node& norm,
    const std::string& counter) {
  Node node;
  node.op = "aten.add_.Tensor";
  node.inputs = {
      {"self", TensorName{counter}, false}, {"other", std::int64_t{1}, false}};
  node.outputs = {TensorName{free_name(graph, "add_")}};
  node.module = norm.module;
  node.source = norm.source;
  node.recompute_segment = norm.recompute_segment;
  const auto stack = norm.metadata.find("nn_module_stack");
  if (stack != norm.metadata.end()) node.metadata.insert(*stack);
  return node;
}

// In eval the two saved statistics are empty, in training one per channel.
void resize_saved(Graph& graph, const Node& node, bool training) {
  if (op_name(node.op).name == "batch_norm" || node.outputs.size() < 3) return;
  const Size channels =
      graph.meta(NodeArguments(node).tensor_name("running_mean")).sizes.at(0);
  for (std::size_t i = 1; i < 3; ++i)
    for (const std::string& value : tensors_in(node.outputs[i]))
      graph.tensors[value].sizes = {training ? channels : Size(0)};
}

} // namespace

void set_norm_mode(Graph& graph, Node& batch_norm, bool training) {
  if (op_name(batch_norm.op).name == "_native_batch_norm_legit_no_training")
    batch_norm.op = "aten._native_batch_norm_legit.default";
  set_argument(batch_norm, "training", training, "running_var");
  resize_saved(graph, batch_norm, training);
}

std::string counter_of(const Graph& graph, const Node& batch_norm) {
  const Input* mean =
      find_input(graph, NodeArguments(batch_norm).tensor_name("running_mean"));
  if (mean == nullptr) return "";
  const Input* counter =
      graph.find_target(parent_path(mean->target) + kCounter);
  return counter == nullptr ? "" : counter->value;
}

int add_counters(Graph& graph, const std::set<std::string>& batch_norms) {
  std::vector<Node> nodes;
  int added = 0;
  for (Node& node : graph.nodes) {
    const std::vector<std::string> made = values_made(node);
    if (!made.empty() && batch_norms.count(made.front()) > 0) {
      const std::string counter = counter_of(graph, node);
      if (!counter.empty()) {
        nodes.push_back(counting_node(graph, node, counter));
        graph.tensors[values_made(nodes.back()).front()] = graph.meta(counter);
        ++added;
      }
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
  return added;
}

int remove_counters(Graph& graph) {
  std::set<std::string> counters;
  for (const Node& node : graph.nodes)
    if (is_batch_norm(node)) counters.insert(counter_of(graph, node));
  return remove_counters(graph, counters);
}

int remove_counters(Graph& graph, const std::set<std::string>& counters) {
  std::set<std::string> removed;
  std::map<std::string, int> readers = reader_counts(graph);
  for (const Output& output : graph.outputs)
    if (output.kind == OutputKind::kBufferMutation)
      for (const std::string& value : tensors_in(output.value))
        --readers[value];
  // One whose count somebody reads is more than a counter.
  std::erase_if(graph.nodes, [&](const Node& node) {
    if (!counts(node, counters)) return false;
    const std::string made = values_made(node).front();
    return readers[made] == 0 && removed.insert(made).second;
  });
  std::erase_if(graph.outputs, [&](const Output& output) {
    const std::vector<std::string> values = tensors_in(output.value);
    return values.size() == 1 && removed.count(values.front()) > 0;
  });
  forget_unmade(graph);
  return static_cast<int>(removed.size());
}

} // namespace temper::graph

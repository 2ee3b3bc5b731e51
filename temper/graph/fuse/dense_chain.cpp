#include "temper/graph/fuse/dense_chain.h"

#include <set>

#include "temper/graph/fuse/graph_view.h"
#include "temper/graph/ir/node_arguments.h"

namespace temper::graph {
namespace {

// The value that the first layer reads when nothing but a flatten is before it.
// No value if the graph begins otherwise; `used` counts the nodes.
std::optional<std::string> first_rows(
    const GraphView& view,
    std::size_t& used) {
  const std::vector<const Input*> inputs =
      view.graph().inputs_of(InputKind::kUser);
  if (inputs.size() != 1) return std::nullopt;
  const std::string& x = inputs.front()->value;
  const auto reader = view.only_reader(x);
  if (!reader || !view.is_float(x)) return std::nullopt;
  if (view.name(*reader) != "flatten") {
    if (view.rank(x) != 2) return std::nullopt; // a layer for every place
    return x;
  }
  const Node& node = view.node(*reader);
  const Argument* start = node.find("start_dim");
  if (start == nullptr || *start != Argument{std::int64_t{1}} ||
      node.find("end_dim") != nullptr)
    return std::nullopt;
  ++used;
  return view.result(*reader);
}

} // namespace

std::optional<std::vector<DenseLayer>> dense_chain(const Graph& graph) {
  if (graph.outputs.size() != 1) return std::nullopt;
  const auto* output = std::get_if<TensorName>(&graph.outputs.front().value);
  if (output == nullptr) return std::nullopt;
  std::map<std::string, std::string> parameters; // real names, by value
  for (const Input* input : graph.inputs_of(InputKind::kParameter))
    parameters[input->value] = input->target;
  const GraphView view(graph);
  std::size_t used = 0;
  auto value = first_rows(view, used);
  if (!value) return std::nullopt;
  std::vector<DenseLayer> layers;
  std::set<std::string> seen;
  const Fusions found = find_fusions(graph);
  for (const Fusion& group : found.groups) {
    if (group.kind != FusionKind::kLinear || group.inputs[0] != *value ||
        !group.inputs[3].empty())
      return std::nullopt;
    DenseLayer layer;
    layer.act = group.act;
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
      if (i == 2 && group.inputs[i].empty()) continue;
      const auto parameter = parameters.find(group.inputs[i]);
      if (parameter == parameters.end() ||
          !seen.insert(parameter->second).second)
        return std::nullopt;
      (i == 1 ? layer.weight : layer.bias) = parameter->second;
    }
    used += group.nodes.size();
    value = group.output;
    layers.push_back(std::move(layer));
  }
  if (layers.empty() || *value != output->name || used != graph.nodes.size() ||
      seen.size() != parameters.size())
    return std::nullopt;
  return layers;
}

} // namespace temper::graph

#include "temper/graph/pass/edit.h"

#include <algorithm>
#include <set>

#include "temper/base/text.h"

namespace temper::graph {
namespace {

void replace_in(
    Argument& argument,
    const std::string& from,
    const std::string& to) {
  const auto swap = [&](std::string& name) {
    if (name == from) name = to;
  };
  if (auto* tensor = std::get_if<TensorName>(&argument)) {
    swap(tensor->name);
  } else if (auto* tensors = std::get_if<TensorNames>(&argument)) {
    for (TensorName& each : *tensors)
      swap(each.name);
  } else if (auto* some = std::get_if<OptionalTensorNames>(&argument)) {
    for (std::optional<TensorName>& each : *some)
      if (each) swap(each->name);
  } else if (auto* number = std::get_if<NumberName>(&argument)) {
    swap(number->name);
  } else if (auto* mixed = std::get_if<std::vector<IntOrName>>(&argument)) {
    for (IntOrName& each : *mixed)
      if (auto* name = std::get_if<NumberName>(&each)) swap(name->name);
  }
}

template <class Inputs>
auto find_in(Inputs& inputs, const std::string& value) {
  const auto found =
      std::find_if(inputs.begin(), inputs.end(), [&](const Input& input) {
        return input.value == value;
      });
  return found == inputs.end() ? nullptr : &*found;
}

template <class Nodes>
auto made_in(Nodes& nodes, const std::string& value) {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) {
        const std::vector<std::string> made = values_made(node);
        return std::find(made.begin(), made.end(), value) != made.end();
      });
  return found == nodes.end() ? nullptr : &*found;
}

} // namespace

void set_argument(
    Node& node,
    const std::string& name,
    Argument value,
    const std::string& after) {
  auto& inputs = node.inputs;
  const auto at = [&](const std::string& wanted) {
    return std::find_if(
        inputs.begin(), inputs.end(), [&](const NamedArgument& argument) {
          return argument.name == wanted;
        });
  };
  if (const auto found = at(name); found != inputs.end()) {
    found->value = std::move(value);
    return;
  }
  const auto before = at(after);
  if (before == inputs.end())
    inputs.push_back({name, std::move(value), true});
  else
    inputs.insert(before + 1, {name, std::move(value), before->keyword});
}

void erase_argument(Node& node, const std::string& name) {
  auto& inputs = node.inputs;
  inputs.erase(
      std::remove_if(
          inputs.begin(),
          inputs.end(),
          [&](const NamedArgument& argument) { return argument.name == name; }),
      inputs.end());
}

void replace_value(
    Graph& graph,
    const std::string& from,
    const std::string& to) {
  for (Node& node : graph.nodes)
    for (NamedArgument& argument : node.inputs)
      replace_in(argument.value, from, to);
  for (Output& output : graph.outputs)
    replace_in(output.value, from, to);
}

std::string free_name(const Graph& graph, const std::string& wanted) {
  const auto taken = [&](const std::string& name) {
    return graph.tensors.count(name) > 0 || graph.numbers.count(name) > 0;
  };
  if (!taken(wanted)) return wanted;
  for (int number = 1;; ++number)
    if (std::string name = cat(wanted, "_", number); !taken(name)) return name;
}

std::map<std::string, int> reader_counts(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node& node : graph.nodes)
    for (const std::string& value : values_read(node))
      ++counts[value];
  for (const Output& output : graph.outputs) {
    for (const std::string& value : tensors_in(output.value))
      ++counts[value];
    if (const auto* number = std::get_if<NumberName>(&output.value))
      ++counts[number->name];
  }
  return counts;
}

const Node* maker_of(const Graph& graph, const std::string& value) {
  return made_in(graph.nodes, value);
}

Node* maker_of(Graph& graph, const std::string& value) {
  return made_in(graph.nodes, value);
}

const Input* find_input(const Graph& graph, const std::string& value) {
  return find_in(graph.inputs, value);
}

Input* find_input(Graph& graph, const std::string& value) {
  return find_in(graph.inputs, value);
}

void remove_input(Program& program, const std::string& value) {
  Graph& graph = program.graph;
  const Input* input = find_input(graph, value);
  if (input == nullptr) return;
  program.weights.erase(input->target);
  graph.tensors.erase(value);
  graph.inputs.erase(graph.inputs.begin() + (input - graph.inputs.data()));
}

void forget_unmade(Graph& graph) {
  std::set<std::string> made;
  for (const Input& input : graph.inputs)
    made.insert(input.value);
  for (const Node& node : graph.nodes)
    for (const std::string& value : values_made(node))
      made.insert(value);
  std::erase_if(graph.tensors, [&](const auto& entry) {
    return made.count(entry.first) == 0;
  });
  std::erase_if(graph.numbers, [&](const auto& entry) {
    return made.count(entry.first) == 0;
  });
}

std::string parent_path(const std::string& target) {
  const auto dot = target.rfind('.');
  return dot == std::string::npos ? "" : target.substr(0, dot);
}

std::string value_name(InputKind kind, const std::string& target) {
  std::string name = cat(kind == InputKind::kParameter ? "p_" : "b_", target);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

} // namespace temper::graph

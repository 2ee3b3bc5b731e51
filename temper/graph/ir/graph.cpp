#include "temper/graph/ir/graph.h"

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::graph {
namespace {

// Every name an argument holds; numbers only when they are wanted too.
struct NameCollector {
  std::vector<std::string>& names;
  bool numbers;

  void operator()(const TensorName& tensor) const {
    names.push_back(tensor.name);
  }
  void operator()(const TensorNames& tensors) const {
    for (const TensorName& each : tensors)
      names.push_back(each.name);
  }
  void operator()(const OptionalTensorNames& tensors) const {
    for (const auto& each : tensors)
      if (each) names.push_back(each->name);
  }
  void operator()(const NumberName& number) const {
    if (numbers) names.push_back(number.name);
  }
  void operator()(const std::vector<IntOrName>& sizes) const {
    for (const IntOrName& each : sizes)
      if (const auto* name = std::get_if<NumberName>(&each)) (*this)(*name);
  }
  template <class Other>
  void operator()(const Other&) const {}
};

template <class Variant>
void collect(
    const Variant& from,
    std::vector<std::string>& names,
    bool numbers) {
  std::visit(NameCollector{names, numbers}, from);
}

} // namespace

Node::Node() = default;
Node::Node(const Node& other) = default;
Node::Node(Node&& other) noexcept = default;
Node& Node::operator=(const Node& other) = default;
Node& Node::operator=(Node&& other) noexcept = default;
Node::~Node() = default;

Graph::Graph() = default;
Graph::Graph(const Graph& other) = default;
Graph::Graph(Graph&& other) noexcept = default;
Graph& Graph::operator=(const Graph& other) = default;
Graph& Graph::operator=(Graph&& other) noexcept = default;
Graph::~Graph() = default;

const Argument* Node::find(const std::string& name) const {
  for (const NamedArgument& each : inputs)
    if (each.name == name) return &each.value;
  return nullptr;
}

const Input* Graph::find_target(const std::string& target) const {
  for (const Input& each : inputs)
    if (each.target == target) return &each;
  return nullptr;
}

std::vector<const Input*> Graph::inputs_of(InputKind kind) const {
  std::vector<const Input*> found;
  for (const Input& each : inputs)
    if (each.kind == kind) found.push_back(&each);
  return found;
}

const TensorMeta& Graph::meta(const std::string& value) const {
  const auto found = tensors.find(value);
  if (found == tensors.end())
    throw Error(cat("[graph] the tensor ", value, " has no shape."));
  return found->second;
}

std::vector<std::string> tensors_in(const Argument& argument) {
  std::vector<std::string> names;
  collect(argument, names, false);
  return names;
}

std::vector<std::string> tensors_in(const Result& result) {
  std::vector<std::string> names;
  collect(result, names, false);
  return names;
}

std::vector<std::string> values_read(const Node& node) {
  std::vector<std::string> names;
  for (const NamedArgument& each : node.inputs)
    collect(each.value, names, true);
  return names;
}

std::vector<std::string> values_made(const Node& node) {
  std::vector<std::string> names;
  for (const Result& each : node.outputs)
    collect(each, names, true);
  return names;
}

} // namespace temper::graph

// Checks what must hold of every graph, whoever made it: a hostile file, the
// zoo, a pass. The executor and the inference rely on it and check nothing
// again.
#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/program.h"

namespace temper::graph {
namespace {

std::string place_of(const Node& node, std::size_t index) {
  std::string place = cat("node ", index, " (", node.op);
  if (!node.module.empty()) place += cat(" in ", node.module);
  if (!node.source.empty()) place += cat(", ", node.source);
  return place + ")";
}

[[noreturn]] void refuse_graph(const std::string& what) {
  throw Error(
      cat("[graph] the model's graph is not sound: ", what, "."),
      "Export the model again.");
}

// Follows the run: which names are there when a node reads them.
class Walk {
 public:
  explicit Walk(const Graph& graph) : graph_(graph) {}

  void whole() {
    inputs();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      node(graph_.nodes[i], i);
    outputs();
  }

 private:
  void inputs() {
    std::set<std::string> targets;
    for (const Input& input : graph_.inputs) {
      made(input.value, "an input");
      tensor(input.value, "an input");
      if (input.target.empty())
        refuse_graph(cat("the input ", input.value, " has no name"));
      if (input.kind == InputKind::kUser) continue;
      if (!targets.insert(input.target).second)
        refuse_graph(cat("the input ", input.target, " is there twice"));
    }
  }

  void node(const Node& node, std::size_t index) {
    const auto read = [&](const std::string& name) {
      if (known_.count(name) > 0) return;
      refuse_graph(
          cat(place_of(node, index),
              " reads ",
              name,
              ", which nothing before it makes"));
    };
    for (const std::string& name : values_read(node))
      read(name);
    std::set<std::string> arguments;
    for (const NamedArgument& each : node.inputs)
      if (!arguments.insert(each.name).second)
        refuse_graph(cat(
            place_of(node, index), " has its argument ", each.name, " twice"));
    for (const Result& result : node.outputs) {
      for (const std::string& name : tensors_in(result)) {
        made(name, place_of(node, index));
        tensor(name, place_of(node, index));
      }
      if (const auto* number = std::get_if<NumberName>(&result))
        made(number->name, place_of(node, index));
    }
  }

  void outputs() {
    bool result = false;
    for (const Output& output : graph_.outputs) {
      for (const std::string& name : tensors_in(output.value))
        if (known_.count(name) == 0)
          refuse_graph(cat("its output ", name, " is made by nothing"));
      if (output.kind == OutputKind::kUser)
        result |= !tensors_in(output.value).empty();
      else if (graph_.find_target(output.target) == nullptr)
        refuse_graph(
            cat("it changes ", output.target, ", which it does not have"));
    }
    if (!result) refuse_graph("it has no output");
  }

  void made(const std::string& name, const std::string& by) {
    if (name.empty()) refuse_graph(cat(by, " makes a value without a name"));
    if (!known_.insert(name).second)
      refuse_graph(cat(by, " makes ", name, ", which is there already"));
  }

  void tensor(const std::string& name, const std::string& by) {
    const auto found = graph_.tensors.find(name);
    if (found == graph_.tensors.end())
      refuse_graph(cat(by, " makes ", name, ", whose shape is not given"));
    const TensorMeta& meta = found->second;
    if (meta.sizes.size() != meta.strides.size())
      refuse_graph(cat("the tensor ", name, " has other strides than sizes"));
    for (const Size& size : meta.sizes)
      if (size.value < 0)
        refuse_graph(cat("the tensor ", name, " has a size of ", size.value));
  }

  const Graph& graph_;
  std::set<std::string> known_;
};

} // namespace

void validate(const Graph& graph) {
  Walk(graph).whole();
}

void validate(const Program& program) {
  validate(program.graph);
  for (const Input& input : program.graph.inputs) {
    if (input.kind == InputKind::kUser) continue;
    const auto found = program.weights.find(input.target);
    if (found == program.weights.end())
      refuse_graph(cat("the values of ", input.target, " are missing"));
    const TensorData& data = found->second;
    const TensorMeta& meta = program.graph.meta(input.value);
    bool same =
        data.dtype == meta.dtype && data.sizes.size() == meta.sizes.size();
    for (std::size_t i = 0; same && i < data.sizes.size(); ++i)
      same = meta.sizes[i].fixed() && meta.sizes[i].value == data.sizes[i];
    if (!same)
      refuse_graph(
          cat("the values of ",
              input.target,
              " have another type or shape than "
              "the graph says"));
    const auto count = static_cast<std::uint64_t>(element_count(data.sizes));
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, bytes_of(data.dtype), &bytes) ||
        bytes != data.byte_count || (bytes > 0 && data.bytes == nullptr))
      refuse_graph(
          cat("the values of ", input.target, " have the wrong length"));
  }
}

} // namespace temper::graph

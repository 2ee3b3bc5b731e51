#include <algorithm>
#include <set>

#include "temper/base/error.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/cut.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

using Names = std::set<std::string>;

// torch.export's words for one tensor in, and for one tensor out.
constexpr const char* kOneIn =
    R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": )"
    R"([{"type": "builtins.tuple", "context": "null", "children_spec": )"
    R"([{"type": null, "context": null, "children_spec": []}]}, )"
    R"({"type": "builtins.dict", "context": "[]", "children_spec": []}]}])";
constexpr const char* kOneOut =
    R"([1, {"type": null, "context": null, "children_spec": []}])";

Names read_by(const std::vector<Node>& nodes) {
  Names read;
  for (const Node& node : nodes)
    for (const std::string& value : values_read(node))
      read.insert(value);
  return read;
}

Names made_by(const std::vector<Node>& nodes) {
  Names made;
  for (const Node& node : nodes)
    for (const std::string& value : values_made(node))
      made.insert(value);
  return made;
}

// Weights go where they are read. One that nobody reads (a batch counter in
// eval mode) goes with its module, so that nothing is lost.
void share_inputs(const Program& program, Split& split) {
  Graph& first = split.prefix.graph;
  Graph& second = split.rest.graph;
  Names read[2] = {read_by(first.nodes), read_by(second.nodes)};
  for (const Output& output : second.outputs)
    for (const std::string& value : tensors_in(output.value))
      read[1].insert(value);
  Names modules;
  for (const Input& input : program.graph.inputs)
    if (read[0].count(input.value) > 0)
      modules.insert(parent_path(input.target));
  for (const Input& input : program.graph.inputs) {
    const bool is_user = input.kind == InputKind::kUser;
    const bool in_rest = read[1].count(input.value) > 0;
    const bool in_prefix = read[0].count(input.value) > 0 || is_user ||
        (!in_rest && modules.count(parent_path(input.target)) > 0);
    if (in_prefix) first.inputs.push_back(input);
    if (!in_prefix || (in_rest && !is_user)) second.inputs.push_back(input);
    const auto bytes = program.weights.find(input.target);
    if (bytes == program.weights.end()) continue;
    if (in_prefix) split.prefix.weights.insert(*bytes);
    if (!in_prefix || in_rest) split.rest.weights.insert(*bytes);
  }
}

void share_outputs(const Graph& graph, const std::string& value, Split& split) {
  const Names made = made_by(split.prefix.graph.nodes);
  split.prefix.graph.outputs.push_back(
      {OutputKind::kUser, TensorName{value}, ""});
  for (const Output& output : graph.outputs) {
    const std::vector<std::string> values = tensors_in(output.value);
    const bool in_prefix = output.kind == OutputKind::kBufferMutation &&
        !values.empty() && made.count(values.front()) > 0;
    Graph& side = in_prefix ? split.prefix.graph : split.rest.graph;
    // torch.export lists mutations before what the user gets.
    if (in_prefix)
      side.outputs.insert(side.outputs.end() - 1, output);
    else
      side.outputs.push_back(output);
  }
}

[[noreturn]] void refuse_unknown(const Graph& graph, const std::string& value) {
  std::vector<std::string> known;
  for (const Node& node : graph.nodes)
    for (const std::string& made : values_made(node))
      known.push_back(made);
  const auto close = nearest(value, known);
  throw Error(
      cat("[graph] cannot split at '", value, "': no node makes such a value."),
      close ? cat("Did you mean '", *close, "'?")
            : "temper model show --nodes lists the values.");
}

// Values that are the same in every epoch for the same sample.
Names untouched_values(const Graph& graph) {
  const AliasMap memory(graph);
  Names moving;
  for (const Node& node : graph.nodes)
    for (const std::string& value : values_written(node))
      moving.insert(memory.owner(value));
  Names untouched;
  for (const Input& input : graph.inputs) {
    const bool learns = input.kind == InputKind::kParameter && input.trainable;
    const bool moves =
        input.kind != InputKind::kUser && moving.count(input.value) > 0;
    if (!learns && !moves) untouched.insert(input.value);
  }
  for (const Output& output : graph.outputs)
    if (const Input* buffer = graph.find_target(output.target);
        output.kind == OutputKind::kBufferMutation && buffer != nullptr)
      untouched.erase(buffer->value);

  for (const Node& node : graph.nodes) {
    const std::vector<std::string> read = values_read(node);
    const bool clean = !draws_randomness(node) &&
        !uses_batch_statistics(node) &&
        std::all_of(read.begin(), read.end(), [&](const std::string& value) {
          return untouched.count(value) > 0;
        });
    if (clean) {
      for (const std::string& value : values_made(node))
        untouched.insert(value);
      continue;
    }
    // A value that is written into touches everything in that memory from here
    // on.
    for (const std::string& value : values_written(node))
      std::erase_if(untouched, [&](const std::string& other) {
        return memory.owner(other) == memory.owner(value);
      });
  }
  return untouched;
}

} // namespace

Split split_at(const Program& program, const std::string& value) {
  const Graph& graph = program.graph;
  const Dependencies dependencies(graph);
  if (dependencies.maker(value) < 0 || graph.tensors.count(value) == 0)
    refuse_unknown(graph, value);
  Cut cut = cut_at(graph, dependencies, value);
  if (!cut.refusal.empty())
    throw Error(
        cat("[graph] cannot split at '", value, "': ", cut.refusal, "."),
        "Choose a value through which everything flows, such as the result of "
        "a whole block.");

  Split split;
  for (Program* part : {&split.prefix, &split.rest}) {
    part->graph.tensors = graph.tensors;
    part->graph.numbers = graph.numbers;
    part->graph.symbols = graph.symbols;
    part->graph.calling = graph.calling;
    part->graph.producer = graph.producer;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (cut.in_prefix[i]) split.prefix.graph.nodes.push_back(graph.nodes[i]);
  split.rest.graph.nodes = std::move(cut.rest);
  share_outputs(graph, value, split);
  share_inputs(program, split);
  split.rest.graph.inputs.push_back(
      {InputKind::kUser, value, value, true, true});
  split.prefix.graph.calling.out_spec = kOneOut;
  split.rest.graph.calling.in_spec = kOneIn;
  split.rest.graph.calling.argument_names = {value};
  forget_unmade(split.prefix.graph);
  forget_unmade(split.rest.graph);
  split.report =
      cat("split at ",
          value,
          ": ",
          split.prefix.graph.nodes.size(),
          " nodes before it, ",
          split.rest.graph.nodes.size(),
          " after");
  return split;
}

std::string frozen_frontier(const Graph& graph) {
  const Dependencies dependencies(graph);
  const Names untouched = untouched_values(graph);
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    for (const Result& result : graph.nodes[i].outputs) {
      const auto* tensor = std::get_if<TensorName>(&result);
      if (tensor == nullptr || untouched.count(tensor->name) == 0) continue;
      if (cut_at(graph, dependencies, tensor->name).refusal.empty())
        return tensor->name;
    }
  return "";
}

} // namespace temper::graph

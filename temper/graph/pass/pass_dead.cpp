#include <set>

#include "temper/base/text.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

using Names = std::set<std::string>;

// From the last node to the first: a node lives when something after it reads
// what it makes, or any value in the memory that it changes. Inputs outlive the
// run, so what is written into them is read by somebody.
std::vector<bool> living(const Graph& graph) {
  const AliasMap memory(graph);
  Names values;
  Names memories;
  const auto need = [&](const std::string& value) {
    values.insert(value);
    memories.insert(memory.owner(value));
  };
  for (const Input& input : graph.inputs)
    memories.insert(input.value);
  for (const Output& output : graph.outputs) {
    for (const std::string& value : tensors_in(output.value))
      need(value);
    if (const auto* number = std::get_if<NumberName>(&output.value))
      need(number->name);
  }
  std::vector<bool> lives(graph.nodes.size(), false);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    const std::vector<std::string> made = values_made(node);
    bool alive = made.empty(); // an assertion, say
    for (const std::string& value : made)
      alive = alive || values.count(value) > 0;
    for (const std::string& value : values_written(node))
      alive = alive || memories.count(memory.owner(value)) > 0;
    if (!alive) continue;
    lives[i] = true;
    for (const std::string& value : values_read(node))
      need(value);
  }
  return lives;
}

} // namespace

Passed remove_dead(const Program& program) {
  Passed passed{program, ""};
  Graph& graph = passed.program.graph;
  const std::map<std::string, int> before = reader_counts(graph);
  const std::vector<bool> lives = living(graph);
  std::vector<Node> kept;
  for (std::size_t i = 0; i < lives.size(); ++i)
    if (lives[i]) kept.push_back(std::move(graph.nodes[i]));
  const std::size_t removed = graph.nodes.size() - kept.size();
  graph.nodes = std::move(kept);

  // Inputs that nobody ever read stay: they are part of the state dict.
  const std::map<std::string, int> after = reader_counts(graph);
  std::vector<std::string> unread;
  for (const Input& input : graph.inputs) {
    bool mutated = false;
    for (const Output& output : graph.outputs)
      mutated = mutated ||
          (output.kind == OutputKind::kBufferMutation &&
           output.target == input.target);
    if (input.kind != InputKind::kUser && !mutated &&
        before.count(input.value) > 0 && after.count(input.value) == 0)
      unread.push_back(input.value);
  }
  for (const std::string& value : unread)
    remove_input(passed.program, value);
  forget_unmade(graph);
  passed.report = removed == 0
      ? "no dead nodes"
      : cat("removed ",
            plural(static_cast<std::int64_t>(removed), "dead node"),
            " of ",
            lives.size(),
            ", and ",
            plural(static_cast<std::int64_t>(unread.size()), "weight"),
            " only they read");
  return passed;
}

} // namespace temper::graph

#include "temper/train/setup/freeze.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/graph/pass/passes.h"
#include "temper/weights/load_weights.h"

namespace temper::train {
namespace {

constexpr const char* kBackbone = "backbone";

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "backbone" as the names it stands for; other patterns as they are.
Names spelled_out(const graph::Graph& graph, const Names& patterns) {
  Names all;
  for (const std::string& pattern : patterns) {
    if (pattern != kBackbone) {
      all.push_back(pattern);
      continue;
    }
    const Names head = weights::head_parameters(graph);
    bool others = false;
    for (const graph::Input& input : graph.inputs) {
      if (input.kind == graph::InputKind::kUser || holds(head, input.target))
        continue;
      others = others || input.kind == graph::InputKind::kParameter;
      all.push_back(input.target);
    }
    if (head.empty() || !others)
      throw Error(
          "[train] model.freeze = \"backbone\" freezes all but the last "
          "layer, and this model has nothing else.",
          "Freeze by name: model.freeze = [\"features.*\"].");
  }
  return all;
}

bool matches_any(const Names& patterns, const std::string& name) {
  return std::any_of(
      patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        return graph::matches(pattern, name);
      });
}

} // namespace

FrozenModel freeze_model(const graph::Program& program, const Names& patterns) {
  const Names wanted = spelled_out(program.graph, patterns);
  FrozenModel made;
  Names of_parameters;
  for (const std::string& pattern : wanted) {
    const graph::Input* exact = program.graph.find_target(pattern);
    // Buffers that "backbone" stands for are no parameters to freeze.
    if (exact == nullptr || exact->kind == graph::InputKind::kParameter)
      of_parameters.push_back(pattern);
  }
  for (const graph::Input& input : program.graph.inputs)
    if (input.kind != graph::InputKind::kUser &&
        matches_any(wanted, input.target))
      made.still_norms.push_back(input.target);
  graph::Program still = made.still_norms.empty()
      ? program
      : graph::freeze_statistics(program, made.still_norms).program;
  graph::Passed frozen = graph::freeze(still, of_parameters);
  made.program = std::move(frozen.program);
  made.report = std::move(frozen.report);
  return made;
}

graph::Program unfrozen(const graph::Program& program) {
  graph::Program made = program;
  for (graph::Input& input : made.graph.inputs) {
    if (input.kind != graph::InputKind::kParameter) continue;
    graph::TensorMeta& meta = made.graph.tensors.at(input.value);
    input.trainable = meta.requires_grad = graph::is_floating(meta.dtype);
  }
  return made;
}

} // namespace temper::train

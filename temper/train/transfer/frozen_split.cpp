#include "temper/train/transfer/frozen_split.h"

#include <algorithm>

#include "temper/base/digest/hash.h"
#include "temper/graph/pass/passes.h"

namespace temper::train {
namespace {

using graph::InputKind;

bool has_frozen_parameter(const graph::Graph& graph) {
  return std::any_of(
      graph.inputs.begin(), graph.inputs.end(), [](const graph::Input& input) {
        return input.kind == InputKind::kParameter && !input.trainable;
      });
}

// The shape of one sample; empty unless the first dimension is the batch's and
// nothing else is open.
std::vector<std::int64_t> sample_shape(
    const graph::Graph& graph,
    const std::string& value) {
  const auto& sizes = graph.meta(value).sizes;
  const auto users = graph.inputs_of(InputKind::kUser);
  if (users.size() != 1 || sizes.size() < 2) return {};
  const auto& batch = graph.meta(users[0]->value).sizes;
  if (batch.empty() || batch[0] != sizes[0] || sizes[0].fixed()) return {};
  std::vector<std::int64_t> shape;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (!sizes[i].fixed() || sizes[i].value < 1) return {};
    shape.push_back(sizes[i].value);
  }
  return shape;
}

std::uint64_t hash_of(const graph::Program& program) {
  Hasher hasher;
  hasher.add(graph::hash_of(program.graph));
  for (const auto& [name, tensor] : program.weights) {
    hasher.add(std::string_view(name));
    hasher.add(static_cast<std::uint64_t>(tensor.dtype));
    hasher.add(std::uint64_t{tensor.byte_count});
    hasher.add(tensor.bytes.get(), tensor.byte_count);
  }
  return hasher.value();
}

void add_frozen(const graph::Program& whole, FrozenSplit& made) {
  for (const auto& [name, tensor] : whole.weights) {
    if (made.rest.program->weights.count(name) > 0) continue;
    made.frozen[name] = tensor;
    const graph::Input* input = whole.graph.find_target(name);
    if (input != nullptr && input->kind == InputKind::kParameter)
      made.frozen_values += graph::element_count(tensor.sizes);
  }
}

} // namespace

std::optional<FrozenSplit> split_frozen(
    const RunModel& model,
    std::string& why) {
  why.clear();
  if (!model.program) {
    if (!model.freeze.empty()) why = "a TorchScript file cannot be looked into";
    return std::nullopt;
  }
  if (!has_frozen_parameter(model.program->graph)) return std::nullopt;
  graph::Program training = graph::switch_mode(*model.program, true).program;
  if (!model.still_norms.empty())
    training = graph::freeze_statistics(training, model.still_norms).program;
  const std::string frontier = graph::frozen_frontier(training.graph);
  graph::Split split;
  if (!frontier.empty()) split = graph::split_at(training, frontier);
  if (frontier.empty() || !has_frozen_parameter(split.prefix.graph)) {
    why = "what trains comes before what is frozen";
    return std::nullopt;
  }
  FrozenSplit made;
  made.shape = sample_shape(split.prefix.graph, frontier);
  if (made.shape.empty() ||
      training.graph.meta(frontier).dtype != graph::DType::kFloat32) {
    why = "its result is not one row of numbers a sample";
    return std::nullopt;
  }
  const auto eval = graph::switch_mode(split.prefix, false).program;
  made.prefix =
      graph::remove_dead(graph::fold_batch_norm(eval).program).program;
  made.hash = hash_of(made.prefix);
  made.rest = model;
  made.rest.program = std::move(split.rest);
  std::erase_if(made.rest.still_norms, [&](const std::string& name) {
    return made.rest.program->graph.find_target(name) == nullptr;
  });
  add_frozen(*model.program, made);
  return made;
}

} // namespace temper::train

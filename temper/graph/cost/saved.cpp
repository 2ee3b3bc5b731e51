#include "temper/graph/cost/saved.h"

#include <algorithm>

#include "temper/graph/op/operator.h"

namespace temper::graph {

std::set<std::string> values_with_gradient(
    const Graph& graph,
    const Inferred& known) {
  std::set<std::string> reached;
  const auto floating = [&](const std::string& value) {
    const auto shape = known.tensors.find(value);
    return shape != known.tensors.end() && is_floating(shape->second.dtype);
  };
  for (const auto& input : graph.inputs)
    if (input.kind == InputKind::kParameter && input.trainable &&
        floating(input.value))
      reached.insert(input.value);
  for (const auto& node : graph.nodes) {
    const Operator* page = find_operator(node);
    if (page != nullptr && page->gradient == Gradient::kCut) continue;
    const auto read = values_read(node);
    if (std::none_of(read.begin(), read.end(), [&](const auto& value) {
          return reached.count(value) > 0;
        }))
      continue;
    for (const auto& made : values_made(node))
      if (floating(made)) reached.insert(made);
  }
  return reached;
}

Saved saved_by(
    const Node& node,
    const Inferred& known,
    const StorageMap& places,
    const std::set<std::string>& with_gradient,
    bool fused_attention) {
  const auto made = values_made(node);
  if (std::none_of(made.begin(), made.end(), [&](const auto& value) {
        return with_gradient.count(value) > 0;
      }))
    return {};
  const Operator* page = find_operator(node);
  if (page == nullptr || page->saved == nullptr) return {};
  SavedContext saver(node, known, places, with_gradient, fused_attention);
  page->saved(saver);
  return saver.saved();
}

} // namespace temper::graph

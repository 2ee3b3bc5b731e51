#include "temper/graph/fuse/graph_view.h"

#include <algorithm>

#include "temper/graph/ir/op_name.h"

namespace temper::graph {

GraphView::GraphView(const Graph& graph, const FusionOptions& options)
    : graph_(graph), options_(options), memory_(graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& value : values_read(graph.nodes[i]))
      readers_[value].push_back(i);
    for (const std::string& value : values_made(graph.nodes[i]))
      makers_[value] = i;
  }
  for (const Output& output : graph.outputs)
    for (const std::string& value : tensors_in(output.value))
      returned_.insert(value);
}

std::string GraphView::name(std::size_t index) const {
  const OpName parts = op_name(node(index).op);
  return parts.space == "aten" ? std::string(parts.name) : std::string();
}

std::optional<std::size_t> GraphView::only_reader(
    const std::string& value) const {
  if (returned_.count(value) > 0) return std::nullopt;
  const auto found = readers_.find(value);
  if (found == readers_.end() || found->second.size() != 1) return std::nullopt;
  return found->second.front();
}

std::optional<std::size_t> GraphView::maker(const std::string& value) const {
  const auto found = makers_.find(value);
  if (found == makers_.end()) return std::nullopt;
  return found->second;
}

std::string GraphView::result(std::size_t index) const {
  const Node& made = node(index);
  if (made.outputs.empty()) return "";
  const auto* tensor = std::get_if<TensorName>(&made.outputs.front());
  return tensor == nullptr ? "" : tensor->name;
}

bool GraphView::can_wait(const Fusion& fusion) const {
  std::set<std::string> inside;
  for (const std::size_t index : fusion.nodes) {
    if (taken(index)) return false;
    if (node(index).recompute_segment !=
        node(fusion.nodes.front()).recompute_segment)
      return false;
    for (const std::string& value : values_made(node(index)))
      inside.insert(value);
  }
  std::set<std::string> read;
  for (const std::string& value : fusion.inputs)
    if (!value.empty()) read.insert(memory_.owner(value));
  const std::set<std::size_t> own(fusion.nodes.begin(), fusion.nodes.end());
  for (std::size_t i = fusion.nodes.front(); i < fusion.nodes.back(); ++i) {
    if (own.count(i) > 0) continue;
    for (const std::string& value : values_written(node(i)))
      if (read.count(memory_.owner(value)) > 0) return false;
    for (const std::string& value : values_read(node(i)))
      if (inside.count(value) > 0) return false;
  }
  return true;
}

bool GraphView::is_closed(const Fusion& fusion) const {
  const std::set<std::size_t> own(fusion.nodes.begin(), fusion.nodes.end());
  for (const std::size_t index : fusion.nodes)
    for (const std::string& value : values_made(node(index))) {
      if (value == fusion.output) continue;
      if (returned_.count(value) > 0) return false;
      const auto found = readers_.find(value);
      if (found == readers_.end()) continue;
      for (const std::size_t reader : found->second)
        if (own.count(reader) == 0) return false;
    }
  return true;
}

bool GraphView::is_image(const std::string& value) const {
  return is_float(value) && rank(value) == 4;
}

bool GraphView::is_float(const std::string& value) const {
  const auto found = graph_.tensors.find(value);
  return found != graph_.tensors.end() &&
      found->second.dtype == DType::kFloat32;
}

std::size_t GraphView::rank(const std::string& value) const {
  const auto found = graph_.tensors.find(value);
  return found == graph_.tensors.end() ? 0 : found->second.sizes.size();
}

} // namespace temper::graph

#include "temper/graph/op/storage_map.h"

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/strides.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

// A fresh result keeps the order of dimensions that the graph declares for it,
// if it still has the declared sizes.
Ints fresh_strides(
    const Graph& graph,
    const std::string& value,
    const Shape& shape,
    const Symbols& symbols) {
  const auto declared = graph.tensors.find(value);
  if (declared == graph.tensors.end() ||
      declared->second.strides.size() != shape.sizes.size())
    return strides_in_order(shape.sizes);
  Ints strides;
  for (std::size_t i = 0; i < shape.sizes.size(); ++i) {
    if (evaluate(declared->second.sizes[i], symbols) != shape.sizes[i])
      return strides_in_order(shape.sizes);
    strides.push_back(evaluate(declared->second.strides[i], symbols));
  }
  return strides;
}

// An image computed anew, rather than copied because a view would not do.
bool keeps_order(const Operator* page, const Shape& made) {
  return made.sizes.size() == 4 &&
      (page == nullptr || page->memory == nullptr || page->memory == fresh);
}

bool reads_channels_last(
    const std::vector<std::string>& read,
    const Inferred& known,
    const StorageMap& places) {
  return !read.empty() &&
      has_channels_last(
          known.tensors.at(read.front()).sizes,
          places.at(read.front()).strides);
}

} // namespace

const StorageView& StorageMap::at(const std::string& value) const {
  const auto found = values.find(value);
  if (found == values.end())
    throw Error(cat("[graph] it is not known where ", value, " lies."));
  return found->second;
}

StorageMap place(
    const Graph& graph,
    const Inferred& known,
    const Symbols& symbols,
    const PlacedValues& layout) {
  StorageMap places;
  const auto make = [&](const std::string& value, Ints strides, bool made) {
    places.values[value] = {places.storages.size(), std::move(strides)};
    places.storages.push_back({value, bytes_of(known.tensors.at(value)), made});
  };
  for (const auto& input : graph.inputs) {
    const auto shape = known.tensors.find(input.value);
    if (shape == known.tensors.end()) continue;
    const bool last = layout.channels_last && shape->second.sizes.size() == 4 &&
        is_floating(shape->second.dtype);
    make(
        input.value,
        last ? channels_last_strides(shape->second.sizes)
             : fresh_strides(graph, input.value, shape->second, symbols),
        false);
  }
  for (const auto& node : graph.nodes) {
    const NodeArguments arguments(node, known);
    std::vector<std::string> read;
    for (const auto& input : node.inputs)
      for (auto& name : tensors_in(input.value))
        read.push_back(std::move(name));
    for (const auto& output : node.outputs)
      for (const auto& value : tensors_in(output)) {
        const Shape& shape = known.tensors.at(value);
        if (const auto own = layout.own.find(value); own != layout.own.end()) {
          make(value, own->second, true);
          continue;
        }
        if (!read.empty()) {
          const StorageView base = places.at(read.front());
          const auto strides = shared_strides(
              arguments, {known.tensors.at(read.front()), base.strides, shape});
          if (strides) {
            places.values[value] = {base.storage, *strides};
            continue;
          }
        }
        const Operator* page = find_operator(node);
        const bool in_sequence = !layout.fused_attention && page != nullptr &&
            page->layer == Layer::kAttention;
        if (in_sequence)
          make(value, strides_in_order(shape.sizes), true);
        else if (
            !layout.own.empty() && keeps_order(page, shape) &&
            reads_channels_last(read, known, places))
          make(value, channels_last_strides(shape.sizes), true);
        else
          make(value, fresh_strides(graph, value, shape, symbols), true);
      }
  }
  return places;
}

} // namespace temper::graph

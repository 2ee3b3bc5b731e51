#include "temper/graph/cost/storage_map.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/cost/storage_views.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/weights.h"

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

} // namespace

const StorageView& StorageMap::at(const std::string& value) const {
  const auto found = values.find(value);
  if (found == values.end())
    throw Error(cat("[graph] it is not known where ", value, " lies."));
  return found->second;
}

std::int64_t bytes_of(const Shape& shape) {
  return times(
      element_count(shape.sizes),
      static_cast<std::int64_t>(bytes_of(shape.dtype)));
}

Ints strides_in_order(const Ints& sizes) {
  Ints strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = times(strides[i], std::max<std::int64_t>(sizes[i], 1));
  return strides;
}

bool in_order(const Ints& sizes, const Ints& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected = times(expected, sizes[i]);
  }
  return true;
}

// Dimensions that follow each other without a gap act as one; each such run
// must be cut into whole new dimensions. Both are walked from the last.
std::optional<Ints>
viewed(const Ints& sizes, const Ints& strides, const Ints& wanted) {
  if (element_count(sizes) == 0 || sizes.empty())
    return strides_in_order(wanted);
  Ints result(wanted.size(), 1);
  std::size_t next = wanted.size();
  std::int64_t run_stride = strides.back();
  std::int64_t run = 1;
  std::int64_t cut = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    run = times(run, sizes[i]);
    const bool ends = i == 0 ||
        (sizes[i - 1] != 1 && strides[i - 1] != times(run, run_stride));
    if (!ends) continue;
    while (next > 0 && (cut < run || wanted[next - 1] == 1)) {
      --next;
      result[next] = times(cut, run_stride);
      cut = times(cut, wanted[next]);
    }
    if (cut != run) return std::nullopt;
    if (i > 0) {
      run_stride = strides[i - 1];
      run = 1;
      cut = 1;
    }
  }
  return next == 0 ? std::optional(result) : std::nullopt;
}

StorageMap place(
    const Graph& graph,
    const Inferred& known,
    const Symbols& symbols,
    bool fused_attention) {
  StorageMap places;
  const auto make = [&](const std::string& value, Ints strides, bool made) {
    places.values[value] = {places.storages.size(), std::move(strides)};
    places.storages.push_back({value, bytes_of(known.tensors.at(value)), made});
  };
  for (const auto& input : graph.inputs) {
    const auto shape = known.tensors.find(input.value);
    if (shape == known.tensors.end()) continue;
    make(
        input.value,
        fresh_strides(graph, input.value, shape->second, symbols),
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
        if (!read.empty()) {
          const StorageView base = places.at(read.front());
          const auto strides = view_strides(
              arguments, {known.tensors.at(read.front()), base.strides, shape});
          if (strides) {
            places.values[value] = {base.storage, *strides};
            continue;
          }
        }
        const bool in_sequence = !fused_attention &&
            op_name(node.op).name == "scaled_dot_product_attention";
        make(
            value,
            in_sequence ? strides_in_order(shape.sizes)
                        : fresh_strides(graph, value, shape, symbols),
            true);
      }
  }
  return places;
}

} // namespace temper::graph

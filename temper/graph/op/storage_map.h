// Which values lie in the same memory, and how: a view shares its base's bytes,
// an operator in place writes into them, and reshape copies when the strides
// make it. Used by liveness and costs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"
#include "temper/graph/ir/shape.h"

namespace temper::graph {

// A piece of memory that values share.
struct Storage {
  std::string value; // the first of them
  std::int64_t bytes = 0;
  bool activation = false; // made by a node: not a parameter, not an input
};

struct StorageView {
  std::size_t storage = 0; // index into StorageMap::storages
  Ints strides; // in elements
};

struct StorageMap {
  std::vector<Storage> storages;
  std::map<std::string, StorageView> values;

  const StorageView& at(const std::string& value) const;
};

// The places of values, apart from what the graph says.
struct PlacedValues {
  // Without fused attention, as LibTorch 1.13 is, its result is laid out in
  // order; fused, heads lie side by side as the exporter noted.
  bool fused_attention = false;
  // Images and filters come with their channels last.
  bool channels_last = false;
  // Results that lie in memory of their own, with these strides, whatever made
  // them. Where there are any, what is computed from an image with its channels
  // last has them last, too.
  std::map<std::string, Ints> own;
};
StorageMap place(
    const Graph& graph,
    const Inferred& known,
    const Symbols& symbols,
    const PlacedValues& layout);

} // namespace temper::graph

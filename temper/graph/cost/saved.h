// The values that autograd keeps of each node for the backward pass: inputs,
// results, and memory of its own such as a mask. The table is LibTorch's
// derivative rules on the CPU; tests hold it against what PyTorch really saved.
// Used by liveness.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "temper/graph/cost/storage_map.h"

namespace temper::graph {

struct Saved {
  std::vector<std::string> values; // by name; the memory they lie in stays
  std::int64_t extra_bytes = 0; // masks, indices, statistics, copies
};

// The values a gradient flows through: what a trainable parameter has touched.
std::set<std::string> values_with_gradient(
    const Graph& graph,
    const Inferred& known);

// Empty for a node that no gradient flows through.
Saved saved_by(
    const Node& node,
    const Inferred& known,
    const StorageMap& places,
    const std::set<std::string>& with_gradient,
    bool fused_attention);

} // namespace temper::graph

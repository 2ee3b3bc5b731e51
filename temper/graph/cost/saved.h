// The values that autograd keeps of each node for the backward pass: inputs,
// results, and memory of its own such as a mask. Each operator's page has the
// rule; tests hold them against what PyTorch really saved. Used by liveness.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "temper/graph/op/saved_context.h"

namespace temper::graph {

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

// Operators that newer PyTorch exports and an older LibTorch lacks, spelled out
// as nodes that it has: the same list as executor_decomposed.cpp runs, for the
// TorchScript writer. No torch.
#pragma once

#include <vector>

#include "temper/graph/ir/graph.h"

namespace temper::model {

// Nodes that do the same, in order; the last ones make its results, and values
// in between are named after the first of them. Empty when the operator is not
// in the list.
std::vector<graph::Node> older_nodes(
    const graph::Node& node,
    const graph::Graph& graph);

// The operators in it.
std::vector<std::string> operators_with_older_nodes();

} // namespace temper::model

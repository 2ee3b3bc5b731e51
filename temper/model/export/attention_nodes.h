// Attention spelled out as the nodes it stands for, where the operator itself
// is missing: LibTorch before 2.0. Used by the TorchScript writer. No torch.
#pragma once

#include <vector>

#include "temper/graph/ir/graph.h"

namespace temper::model {

// The steps of an aten.scaled_dot_product_attention.default of this graph as
// nodes, in order; the last makes its result. Values in between are named after
// it.
std::vector<graph::Node> attention_nodes(
    const graph::Node& node,
    const graph::Graph& graph);

} // namespace temper::model

// The graph between torch.export's JSON and ours: nodes, values, signature.
// Private to graph/pt2.
#pragma once

#include "temper/graph/ir/graph.h"
#include "temper/graph/pt2/pt2_json.h"

namespace temper::graph::pt2 {

// Unreadable, with the node, when there is something temper does not know.
Graph read_graph(const Json& program);
Json write_graph(const Graph& graph);

} // namespace temper::graph::pt2

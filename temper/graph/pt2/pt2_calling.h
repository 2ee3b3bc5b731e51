// How Python calls a model: torch.export's notation of nested arguments, kept
// where it still fits and made up where there is none.
// Private to graph/pt2.
#pragma once

#include "temper/graph/ir/graph.h"
#include "temper/graph/pt2/pt2_json.h"

namespace temper::graph::pt2 {

// The module_call_graph: the model's signature, then its modules.
Json write_calls(const Graph& graph);

} // namespace temper::graph::pt2

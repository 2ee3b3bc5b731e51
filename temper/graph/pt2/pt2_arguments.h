// Arguments and results of nodes between torch.export's JSON and the graph: one
// reader and one writer per kind.
// Private to graph/pt2.
#pragma once

#include "temper/graph/ir/graph.h"
#include "temper/graph/pt2/pt2_json.h"

namespace temper::graph::pt2 {

// Unreadable for a kind that the graph has no place for: nested graphs (control
// flow), custom objects, complex numbers, lists of lists, and what later schema
// versions add.
Argument read_argument(const Json& json);
Json write_argument(const Argument& argument);

Result read_result(const Json& json);
Json write_result(const Result& result);

} // namespace temper::graph::pt2

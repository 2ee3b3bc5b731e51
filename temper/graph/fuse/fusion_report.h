// The report of what was fused and what was left, and why.
// Private to graph/fuse.
#pragma once

#include "temper/graph/fuse/graph_view.h"

namespace temper::graph {

// Fills counts, left and report from the groups.
void report(const GraphView& view, Fusions& found);

} // namespace temper::graph

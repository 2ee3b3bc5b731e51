// The mode of BatchNorms, and num_batches_tracked: their modules count the
// batches they have seen, by nodes that a train export has and an eval export
// lacks. Used by the passes that switch modes.
// Private to graph/pass.
#pragma once

#include <set>
#include <string>

#include "temper/graph/ir/graph.h"

namespace temper::graph {

// Normalises over the batch and moves the running statistics (training), or
// normalises by those. Saved statistics, which some forms give as further
// results, change their sizes.
void set_norm_mode(Graph& graph, Node& batch_norm, bool training);

// The counter of the module whose running statistics the node has; empty when
// there is none.
std::string counter_of(const Graph& graph, const Node& batch_norm);

// Adds a counter before each batch_norm whose first result is named. Returns
// how many.
int add_counters(Graph& graph, const std::set<std::string>& batch_norms);

// Removes the counters of all modules, or of the modules whose counters are
// named. Returns how many.
int remove_counters(Graph& graph);
int remove_counters(Graph& graph, const std::set<std::string>& counters);

} // namespace temper::graph

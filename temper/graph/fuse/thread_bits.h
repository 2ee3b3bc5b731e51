// The question whether the last bits of a model's results and gradients depend
// on the number of threads. Kernels of our own cut their work by the shapes
// alone; LibTorch's operators that add numbers up cut it by the threads.
#pragma once

#include <string>
#include <vector>

#include "temper/graph/fuse/fusion.h"

namespace temper::graph {

// The nodes that LibTorch computes and in which, forward or backward, numbers
// may be added up in an order that the threads decide; in the graph's order.
// Careful: an operator that is not known to be safe is among them.
std::vector<std::size_t> thread_dependent_nodes(
    const Graph& graph,
    const Fusions& fusions);

// A node as a user knows it: "layer1.0.fc (matmul)".
std::string layer_name(const Node& node);

} // namespace temper::graph

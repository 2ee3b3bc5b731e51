// A whole network that is nothing but linear layers one after the other, with
// activations between them: small enough to be trained without autograd. No
// torch here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "temper/graph/fuse/fusion.h"

namespace temper::graph {

struct DenseLayer {
  std::string weight; // real names of parameters: "hidden.0.weight"
  std::string bias; // empty: none
  FusedActivation act = FusedActivation::kNone;
};

// The layers, if the graph has one input of numbers, flattened or not, one
// output, and nothing else; each parameter belongs to one layer.
std::optional<std::vector<DenseLayer>> dense_chain(const Graph& graph);

} // namespace temper::graph

// A graph with the bytes of its parameters, buffers and constants: what a .pt2
// file is, what the zoo makes, what the executor takes.
#pragma once

#include "temper/graph/ir/graph.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {

struct Program {
  Graph graph;
  Weights weights; // by Input::target, for every input but the user's
};

// Every parameter, buffer and constant has bytes of the declared type and
// sizes. Error, naming the first that has not.
void validate(const Program& program);

} // namespace temper::graph

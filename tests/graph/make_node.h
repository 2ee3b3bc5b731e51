// A node in one line, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "temper/graph/ir/graph.h"

namespace temper::graph {

inline Node make_node(
    std::string op,
    std::vector<NamedArgument> inputs,
    std::vector<Result> outputs,
    std::string module = "",
    std::string source = "") {
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.module = std::move(module);
  node.source = std::move(source);
  return node;
}

} // namespace temper::graph

// The shape and type of every value of a graph for given inputs, without
// running anything. Used by the builder, `temper model show`, the memory
// forecast and the passes that change shapes.
#pragma once

#include <cstdint>
#include <string>

#include "temper/graph/ir/graph.h"
#include "temper/graph/ir/shape.h"

namespace temper::graph {

// All values, the graph's symbols having these values ({"s77", 32}). The shapes
// that the graph declares are believed: whoever made it ran it. Only where one
// cannot be computed is the operator's rule asked.
Inferred infer(const Graph& graph, const Symbols& symbols);

// The same by the operators' rules alone, as far as there are some. Error,
// naming node, module and the user's line, when shapes do not fit together.
Inferred infer_by_rules(const Graph& graph, const Symbols& symbols);

// One node: `known` holds what it reads, and then what it makes too. False when
// the operator has no rule.
bool infer_node(const Node& node, Inferred& known);

// The graph's batch symbol bound to `batch` and every other symbol to its
// example; a fixed-batch graph binds nothing.
Symbols bind_batch(const Graph& graph, std::int64_t batch);

// The symbol of the first user input's first size; empty when it is fixed.
std::string batch_symbol(const Graph& graph);

} // namespace temper::graph

// How each operator that gives a view lays it out over its base.
// Private to graph/cost.
#pragma once

#include <optional>

#include "temper/graph/ir/node_arguments.h"

namespace temper::graph {

struct ViewOf {
  const Shape& base;
  const Ints& strides; // of the base
  const Shape& made;
};

// Nothing when the node makes memory of its own.
std::optional<Ints> view_strides(const NodeArguments& node, const ViewOf& view);

} // namespace temper::graph

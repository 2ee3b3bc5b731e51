// The changes of shapes when the number of classes changes: the dimension that
// counts them is followed from the head through views, pools and activations to
// the outputs. Used by replace_head.
// Private to graph/pass.
#pragma once

#include <cstdint>
#include <string>

#include "temper/graph/ir/graph.h"

namespace temper::graph {

// Dimension `dim` of `value`, made by the head, had `before` entries and now
// has `after`. Every shape after it follows, and literal sizes of views. Error,
// naming the node, where the dimension cannot be followed.
void follow_classes(
    Graph& graph,
    const std::string& value,
    std::size_t dim,
    std::int64_t before,
    std::int64_t after);

} // namespace temper::graph

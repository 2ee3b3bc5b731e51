// One layer with what follows it: the smallest groups, from which blocks are
// put together.
// Private to graph/fuse.
#pragma once

#include "temper/graph/fuse/graph_view.h"

namespace temper::graph {

// kNone: the node is no activation.
FusedActivation activation_at(const GraphView& view, std::size_t index);

// The groups that begin with the layer at the node, as long as they get; no
// value when nothing there can be fused.
std::optional<Fusion> conv_norm_act_at(
    const GraphView& view,
    std::size_t index);
std::optional<Fusion> norm_act_at(const GraphView& view, std::size_t index);
std::optional<Fusion> conv_act_pool_at(
    const GraphView& view,
    std::size_t index);
std::optional<Fusion> mean_pool_at(const GraphView& view, std::size_t index);
std::optional<Fusion> linear_at(const GraphView& view, std::size_t index);
std::optional<Fusion> layer_norm_at(const GraphView& view, std::size_t index);
std::optional<Fusion> attention_at(const GraphView& view, std::size_t index);

} // namespace temper::graph

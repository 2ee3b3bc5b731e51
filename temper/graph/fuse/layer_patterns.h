// One layer with what follows it: the smallest groups, from which blocks are
// put together.
// Private to graph/fuse.
#pragma once

#include "temper/graph/fuse/graph_view.h"

namespace temper::graph {

// The convolution at the node; no value when the kernels have none like it.
std::optional<FusedConvolution> convolution_at(
    const GraphView& view,
    std::size_t index);
// The BatchNorm at the node; likewise.
std::optional<FusedNorm> norm_at(const GraphView& view, std::size_t index);

// Why kernels do not compute the convolution, BatchNorm, LayerNorm, linear
// layer or attention at the node, in a few words: "dilation", "a mask". Empty:
// they do, or it is none of these.
std::string why_left(const GraphView& view, std::size_t index);

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

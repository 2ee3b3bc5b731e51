// The layers that temper's kernels compute, as far as a graph tells. The ops of
// model/fused ask the same of tensors, and more: types, devices, strides. A
// test holds one against the other.
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

// The activations that kernels apply behind a BatchNorm.
bool follows_norm(FusedActivation act);

constexpr std::int64_t kLargestKernel = 16; // of gathered windows, a side
constexpr std::int64_t kMostPooledChannels = 16; // that a pooling is behind

// Whether there are kernels for it with one filter a channel: 3x3 or 5x5,
// padded by half of that, stride 1 or 2, no dilation.
bool fits_depthwise_kernels(const FusedConvolution& convolution);

// Whether the node is a BatchNorm that stays out of groups and is computed by
// the kernels all the same.
bool norm_alone_at(const GraphView& view, std::size_t index);

// The side of the cells, when `pool` is a max pooling that the convolution
// before it can be computed with.
std::optional<std::int64_t>
pool_behind(const GraphView& view, std::size_t convolution, std::size_t pool);

// Whether the mean over height and width at the node keeps a plane of one
// pixel; no value when the node is no such mean.
std::optional<bool> mean_over_plane(const GraphView& view, std::size_t index);

// Whether the node lays the numbers of each image, of more than one pixel, out
// in a row.
bool makes_rows_of_image(const GraphView& view, std::size_t index);

} // namespace temper::graph

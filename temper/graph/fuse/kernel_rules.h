// The layers that temper's kernels compute, as far as a graph tells. The ops of
// model/fused ask the same of tensors, and more: types, devices, strides. A
// test holds one against the other.
// Private to graph/fuse.
#pragma once

#include "temper/graph/fuse/graph_view.h"

namespace temper::graph {

// The activations that kernels apply behind a BatchNorm.
bool follows_norm(FusedActivation act);

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

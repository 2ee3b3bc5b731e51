// Blocks of convolutions, put together from layers: MobileNet's inverted
// residuals, and ResNet's basic and bottleneck blocks.
// Private to graph/fuse.
#pragma once

#include "temper/graph/fuse/graph_view.h"

namespace temper::graph {

struct ConvolutionBlock {
  Fusion fusion;
  std::vector<std::size_t> parts; // of the layers
};

// The blocks of a graph. An inverted residual is [1x1,] depthwise, 1x1 [+ x]; a
// residual block is layers one after the other whose last result is added to x,
// or to that of one layer beside them. In `view` nothing is taken.
std::vector<ConvolutionBlock> convolution_blocks(
    const GraphView& view,
    const std::vector<Fusion>& layers);

} // namespace temper::graph

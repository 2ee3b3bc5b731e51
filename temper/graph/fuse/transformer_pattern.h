// Pre-norm transformer blocks, put together from layers.
// Private to graph/fuse.
#pragma once

#include "temper/graph/fuse/graph_view.h"

namespace temper::graph {

struct TransformerBlock {
  Fusion fusion;
  std::vector<std::size_t> parts; // of the layers
};

// The blocks of a graph:
//   m = x + proj(attention(qkv(norm(x))));  y = m + fc2(act(fc1(norm(m)))),
// where queries, keys and values are views of one linear layer's result. In
// `view` nothing is taken.
std::vector<TransformerBlock> transformer_blocks(
    const GraphView& view,
    const std::vector<Fusion>& layers);

} // namespace temper::graph

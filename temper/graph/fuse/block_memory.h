// The memory of a block of convolutions (model/fused/conv_chain.cpp).
// Private to graph/fuse.
#pragma once

#include "temper/graph/fuse/group_tensors.h"

namespace temper::graph {

// Blocks keep x, what each convolution wrote, and the states of the norms.
FusedMemory of_convolution_block(const GroupTensors& group);

} // namespace temper::graph

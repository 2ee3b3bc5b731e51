// The op that computes a group of nodes. Includes torch: see module.h.
#pragma once

#include "temper/graph/fuse/fusion.h"
#include "temper/model/fused/layers.h"

namespace temper::model {

// Null when there is no kernel for such a group, whatever its sizes.
OpPointer make_fused(const graph::Fusion& fusion);

// Kernels run on LibTorch's threads from here on. Called by whoever is about to
// use them; more than once does no harm.
void use_torch_threads();

} // namespace temper::model

// The op that computes a group of nodes. Includes torch: see module.h.
#pragma once

#include "temper/graph/fuse/fusion.h"
#include "temper/model/fused/layers.h"

namespace temper::model {

Activation activation_of(graph::FusedActivation act);

// Null when there is no kernel for such a group, whatever its sizes.
OpPointer make_fused(const graph::Fusion& fusion);

} // namespace temper::model

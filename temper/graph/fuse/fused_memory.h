// The memory of a group of nodes that kernels compute at once, beside what it
// reads and makes: what its op (model/fused) keeps for the backward pass, and
// what it takes and gives back on the way. Values inside the group never exist.
// Read by liveness; tests hold it against what LibTorch's allocator handed out.
// The kernels' own scratch is no tensor and not in it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "temper/graph/fuse/fusion.h"
#include "temper/graph/op/storage_map.h"

namespace temper::graph {

struct FusedMemory {
  // Values that stay for the backward pass, the result possibly among them.
  std::vector<std::string> kept;
  std::int64_t kept_bytes = 0; // tensors of its own that stay
  std::int64_t forward_bytes = 0; // given back at the end of the forward pass
  std::int64_t eval_bytes = 0; // likewise, when nothing is kept
  // Beside the result's gradient, those of its inputs, and what is kept.
  std::int64_t backward_bytes = 0;
  std::string handed_on; // the input whose gradient is that of the result
};

// One call of a group.
struct FusedCall {
  const Fusion& fusion;
  const Inferred& known;
  const StorageMap& places;
  const std::set<std::string>& with_gradient;
  // The result's gradient comes in an order of its own and is copied first.
  bool copies_gradient = false;
};
FusedMemory fused_memory(const FusedCall& call);

// How results of groups lie in memory: channels last where they are images,
// the heads of a token side by side.
Ints fused_strides(const Fusion& fusion, const Inferred& known);

// Whether the group's result is an image, whose channels come last.
bool makes_image(const Fusion& fusion);

} // namespace temper::graph

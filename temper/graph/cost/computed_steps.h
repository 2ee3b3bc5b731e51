// A graph as it is computed: a step for each node, where a group that kernels
// compute at once is the step of its last node and the others do nothing.
// Private to graph/cost.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "temper/graph/cost/liveness.h"
#include "temper/graph/cost/saved.h"
#include "temper/graph/fuse/fused_memory.h"

namespace temper::graph {

struct ComputedStep {
  const Node* node = nullptr; // null: a group, or nothing is done here
  std::optional<FusedMemory> group;
  std::vector<std::string> reads;
  std::vector<std::string> makes;
  Saved saved;
  bool tracked = false; // a gradient flows through it
  // Taken while it runs forward, and given back: with and without a backward
  // pass behind it.
  std::int64_t forward_bytes = 0;
  std::int64_t eval_bytes = 0;
};

struct ComputedSteps {
  StorageMap places;
  std::vector<ComputedStep> steps; // as many as the graph has nodes
  bool images_last = false; // some groups make images with channels last
};

// Groups whose kernels do not take these sizes are left to LibTorch.
ComputedSteps steps_of(
    const Graph& graph,
    const Inferred& known,
    const Symbols& symbols,
    const std::set<std::string>& with_gradient,
    const LivenessOptions& options);

} // namespace temper::graph

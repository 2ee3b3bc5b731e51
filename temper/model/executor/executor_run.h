// Running a compiled graph's steps, plainly or as a segment that keeps only
// what enters it and is computed again in the backward pass.
// Private to model/executor.
#pragma once

#include <memory>

#include "temper/model/executor/compiled_graph.h"
#include "temper/model/executor/executor.h"

namespace temper::model {

using SharedHooks = std::shared_ptr<const NodeHooks>; // null: none

Frame empty_frame(const CompiledGraph& compiled);

// Steps [begin, end). `again`: in the backward pass.
void run_steps(
    const CompiledGraph& compiled,
    std::size_t begin,
    std::size_t end,
    Frame& frame,
    const SharedHooks& hooks,
    bool again = false);

// The same numbers and, later, the same gradients as run_steps would give, bit
// for bit.
void run_segment(
    const std::shared_ptr<const CompiledGraph>& compiled,
    const Segment& segment,
    Frame& frame,
    const SharedHooks& hooks);

} // namespace temper::model

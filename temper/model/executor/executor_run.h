// Running a plan's steps, plainly or as a segment that keeps only what enters
// it and is computed again in the backward pass.
// Private to model/executor.
#pragma once

#include <memory>

#include "temper/model/executor/executor.h"
#include "temper/model/executor/executor_plan.h"

namespace temper::model {

using SharedHooks = std::shared_ptr<const NodeHooks>; // null: none

Frame empty_frame(const Plan& plan);

// Steps [begin, end). `again`: in the backward pass.
void run_steps(
    const Plan& plan,
    std::size_t begin,
    std::size_t end,
    Frame& frame,
    const SharedHooks& hooks,
    bool again = false);

// The same numbers and, later, the same gradients as run_steps would give, bit
// for bit.
void run_segment(
    const std::shared_ptr<const Plan>& plan,
    const Segment& segment,
    Frame& frame,
    const SharedHooks& hooks);

} // namespace temper::model

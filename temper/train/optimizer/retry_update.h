// Going on where memory ran out in the middle of an update. Before the first
// parameter has changed a step can be taken back; after it, the way is forward:
// each part of the update either happens or leaves no trace, so the part that
// failed is tried again when something was freed. Used by the optimisers and
// by averaged weights. No torch.
#pragma once

#include <functional>

#include "temper/train/engine/engine.h"

namespace temper::train {

void roll_parts_forward(
    bool touched,
    const std::function<void()>& part,
    const std::function<void()>& free);

// Runs `part`, and again while memory is short: after free() first,
// then after ever longer pauses, a second in all. `touched`: an earlier part
// has happened, so that giving up is HalfDone; otherwise what was thrown goes
// on. Both are handed on by reference: a copy would take memory before anything
// is caught.
template <class Part, class Free>
void roll_forward(bool touched, const Part& part, const Free& free) {
  roll_parts_forward(touched, std::cref(part), std::cref(free));
}

} // namespace temper::train

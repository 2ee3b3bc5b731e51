// An engine's tensors as a checkpoint has them, and back: always by way of the
// CPU. Includes torch: see task.h.
// Private to train/torch.
#pragma once

#include <vector>

#include "temper/model/module/module.h"
#include "temper/train/engine/engine.h"

namespace temper::train {

EngineState saved(const std::vector<model::NamedTensor>& tensors);
// Error, before anything changes, when a name, type or shape is another.
void fill(
    const std::vector<model::NamedTensor>& tensors,
    const EngineState& state);

} // namespace temper::train

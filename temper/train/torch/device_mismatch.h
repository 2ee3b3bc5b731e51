// A step that mixed tensors of two devices or two types: which one is the odd
// one, by the name a person knows it by, and what to do. Includes torch: see
// task.h.
// Private to train/torch.
#pragma once

#include <string>

#include "temper/train/torch/step_errors.h"

namespace temper::train {

// `why`: LibTorch's own sentence.
[[noreturn]] void mixed_devices(
    const StepContext& context,
    const std::string& why);
[[noreturn]] void mixed_types(
    const StepContext& context,
    const std::string& why);

// "batch.inputs is float32 [8, 6] on cpu, ... the model float32 on cpu".
std::string given(const StepContext& context);
// The type of the model's first parameter that is no integer.
at::ScalarType model_type(const StepContext& context);
std::string type_name(at::ScalarType type); // "float32"

} // namespace temper::train

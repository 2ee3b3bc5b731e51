// The gradient of a whole batch: how long it is, and clipped. Nothing here
// waits for the device. Includes torch: see task.h.
// Private to train/torch.
#pragma once

#include <vector>

#include "temper/config/config.h"
#include "temper/model/module/module.h"

namespace temper::train {

void forget_gradients(const std::vector<model::NamedTensor>& parameters);

// One number on the device, of all gradients together.
at::Tensor gradient_norm(
    const std::vector<model::NamedTensor>& parameters,
    const at::Device& device);

// train.clip and train.clip_value, as PyTorch's clip_grad_norm_ and
// clip_grad_value_ do it.
void clip_gradients(
    const std::vector<model::NamedTensor>& parameters,
    const config::Train& options,
    const at::Tensor& norm);

} // namespace temper::train

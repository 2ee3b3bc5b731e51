// A call of a fused op from a program's own network: what torch::nn's modules
// say as fused ops know it, whether the op may compute it, and the call with
// second derivatives. Includes torch: see model/module/module.h.
// Private to model/nn.
#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

#include <optional>

#include "temper/model/nn/by_torch.h"

namespace temper::nn {

// No value for a padding that has no number of its own on each side, and for
// one that is not zeros.
std::optional<model::ConvSpec> spec_of(const torch::nn::Conv2dImpl& conv);

// The normalisation as its next forward() would compute it.
model::NormSpec spec_of(const torch::nn::BatchNorm2dImpl& norm);

// Appends weight, bias, running mean and variance.
void add_norm(LayerTensors& inputs, const torch::nn::BatchNorm2dImpl& norm);

// Counts a batch in training, as the module's forward() does.
void count_batch(torch::nn::BatchNorm2dImpl& norm);

// Whether nothing stands around the call that kernels know nothing of:
// autocast, forward-mode derivatives.
bool is_plain_call(const LayerTensors& inputs);

// Whether the op computes this call here and now.
bool takes(const model::OpPointer& op, const LayerTensors& inputs);

// Runs an op that takes its inputs. `again` computes the same by LibTorch's
// operators. `moving`: the places of running statistics that this call moves
// and `again` does not read.
at::Tensor run_fused(
    const model::OpPointer& op,
    const LayerTensors& inputs,
    model::SameByTorch again,
    const std::vector<std::size_t>& moving = {});

} // namespace temper::nn

// The ways a node becomes a step, tried in this order: a kernel handed in, a
// number or a check of numbers, a direct call, the boxed dispatcher, a
// decomposition of what this LibTorch lacks.
// Private to model/executor.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <string>

#include "temper/model/executor/executor_arguments.h"

namespace temper::model {

// Step makers by the graph's spelling: "aten.relu.default".
using StepMakers = std::map<std::string, StepMaker, std::less<>>;

const StepMakers& number_steps();
const StepMakers& direct_layers();
const StepMakers& direct_shapes();
const StepMakers& decomposed_steps();

NodeCall boxed_step(const c10::OperatorHandle& op, Arguments& arguments);

// BatchNorm's input in training. Python's batch_norm refuses a single value a
// channel, whose variance is none; the operator beneath makes NaN of it.
void check_values_a_channel(const at::Tensor& input);

// The operator of that name; no value when this LibTorch does not have it.
std::optional<c10::OperatorHandle> find_torch_operator(const std::string& op);

} // namespace temper::model

#include "temper/model/executor/executor_run.h"

#include "temper/model/executor/executor_errors.h"

namespace temper::model {
namespace {

std::vector<at::Tensor> tensors_at(
    const Frame& frame,
    const std::vector<int>& slots) {
  std::vector<at::Tensor> tensors;
  for (const int slot : slots)
    tensors.push_back(at_slot(frame, slot));
  return tensors;
}

void release(const Step& step, Frame& frame) {
  for (const int slot : step.releases)
    at_slot(frame, slot).reset();
}

// Hooks stand outside the try: what they throw is theirs.
void run_watched(
    const CompiledGraph& compiled,
    std::size_t index,
    Frame& frame,
    const NodeHooks& hooks,
    bool again) {
  const Step& step = compiled.steps[index];
  const NodeEvent event{index, compiled.graph.nodes[index], again};
  if (hooks.before) hooks.before(event);
  try {
    step.run(frame);
  } catch (...) {
    rethrow_of_node(event.node, tensors_at(frame, step.reads));
  }
  if (hooks.after) hooks.after(event, tensors_at(frame, step.makes));
  release(step, frame);
}

} // namespace

Frame empty_frame(const CompiledGraph& compiled) {
  Frame frame;
  frame.tensors.resize(static_cast<std::size_t>(compiled.tensor_count));
  frame.numbers.resize(static_cast<std::size_t>(compiled.number_count));
  for (const auto& [slot, tensor] : compiled.constants)
    at_slot(frame, slot) = tensor;
  return frame;
}

void run_steps(
    const CompiledGraph& compiled,
    std::size_t begin,
    std::size_t end,
    Frame& frame,
    const SharedHooks& hooks,
    bool again) {
  if (hooks != nullptr) {
    for (std::size_t i = begin; i < end; ++i)
      run_watched(compiled, i, frame, *hooks, again);
    return;
  }
  std::size_t index = begin;
  try {
    for (; index < end; ++index) {
      compiled.steps[index].run(frame);
      release(compiled.steps[index], frame);
    }
  } catch (...) {
    rethrow_of_node(
        compiled.graph.nodes[index],
        tensors_at(frame, compiled.steps[index].reads));
  }
}

} // namespace temper::model

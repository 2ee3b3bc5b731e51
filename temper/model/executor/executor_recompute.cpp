// A segment forgets what it computed and computes it again when its gradients
// are asked for. That the gradients are the same bits takes five things: the
// same precision (autocast is as it was in the first run), the same random
// numbers (the generators are set back for the second run), the same buffers
// (the second run has copies from before the first, so statistics move once),
// the same tensors (those that enter are kept, and nothing writes to them), and
// the same order of sums: autograd adds the gradients of a value in the order
// of its uses, last first. So each use of an entering value is an input of its
// own here, listed in that order.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <mutex>
#include <optional>

#include "temper/libtorch/torch/autocast.h"
#include "temper/model/executor/executor_run.h"

namespace temper::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct GeneratorState {
  at::Generator generator;
  at::Tensor state;
};

GeneratorState generator_state_of(at::Generator generator) {
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return {generator, generator.get_state()};
}

void restore(const std::vector<GeneratorState>& states) {
  for (const auto& [generator, state] : states) {
    at::Generator changed = generator;
    const std::lock_guard<std::mutex> lock(changed.mutex());
    changed.set_state(state);
  }
}

std::vector<GeneratorState> generator_states(const at::Device& device) {
  std::vector<GeneratorState> states{
      generator_state_of(at::detail::getDefaultCPUGenerator())};
  if (device.is_cpu()) return states;
  try {
    states.push_back(
        generator_state_of(at::globalContext().defaultGenerator(device)));
  } catch (const c10::Error&) {
    // A device without a generator of its own draws from the CPU's.
  }
  return states;
}

// The facts that the second run needs besides the tensors that enter.
struct SegmentInputs : torch::CustomClassHolder {
  std::shared_ptr<const CompiledGraph> compiled;
  const Segment* segment = nullptr; // the compiled graph's
  SharedHooks hooks;
  std::vector<at::Scalar> numbers;
  std::vector<std::pair<int, at::Tensor>> buffers;
  std::vector<GeneratorState> generators;
  std::optional<libtorch::Autocast> autocast; // as in the first run
  Frame* outer = nullptr; // during the first run only
};

// Runs again with entering values as fresh leaves, one a use.
std::vector<at::Tensor> run_again(
    const SegmentInputs& memory,
    const variable_list& entering,
    variable_list& leaves) {
  const CompiledGraph& compiled = *memory.compiled;
  const Segment& segment = *memory.segment;
  Frame frame = empty_frame(compiled);
  frame.numbers = memory.numbers;
  for (const auto& [slot, tensor] : memory.buffers)
    at_slot(frame, slot) = tensor;
  leaves.resize(entering.size());
  std::size_t use = segment.uses.size();
  for (std::size_t step = segment.begin; step < segment.end; ++step) {
    while (use > 0 && segment.uses[use - 1].step == step) {
      --use;
      leaves[use] = entering[use].detach().set_requires_grad(
          entering[use].requires_grad());
      at_slot(frame, segment.uses[use].slot) = leaves[use];
    }
    run_steps(compiled, step, step + 1, frame, memory.hooks, true);
  }
  std::vector<at::Tensor> results;
  for (const int slot : segment.outputs)
    results.push_back(at_slot(frame, slot));
  return results;
}

struct Recompute : torch::autograd::Function<Recompute> {
  static variable_list forward(
      AutogradContext* context,
      const c10::intrusive_ptr<SegmentInputs>& memory,
      at::TensorList entering) {
    const Segment& segment = *memory->segment;
    Frame frame = empty_frame(*memory->compiled);
    frame.numbers = memory->outer->numbers;
    for (const auto& slots : {segment.buffers, segment.changed_buffers})
      for (const int slot : slots)
        at_slot(frame, slot) = at_slot(*memory->outer, slot);
    for (std::size_t i = 0; i < entering.size(); ++i)
      at_slot(frame, segment.uses[i].slot) = entering[i];
    run_steps(
        *memory->compiled, segment.begin, segment.end, frame, memory->hooks);
    memory->outer->numbers = frame.numbers;
    variable_list results;
    for (const int slot : segment.outputs)
      results.push_back(at_slot(frame, slot));
    context->set_materialize_grads(false);
    context->save_for_backward(entering.vec());
    context->saved_data["memory"] = c10::IValue::make_capsule(memory);
    return results;
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& given) {
    const auto capsule = context->saved_data["memory"].toCapsule();
    const auto& memory = static_cast<const SegmentInputs&>(*capsule);
    const variable_list entering = context->get_saved_variables();
    variable_list leaves;
    std::vector<at::Tensor> results;
    {
      const at::AutoGradMode with_grad(true);
      std::vector<GeneratorState> now;
      if (memory.segment->random) {
        now = generator_states(memory.compiled->place.device);
        restore(memory.generators);
      }
      std::optional<libtorch::AutocastScope> autocast;
      if (memory.autocast) autocast.emplace(*memory.autocast);
      results = run_again(memory, entering, leaves);
      restore(now);
    }
    variable_list roots;
    variable_list root_grads;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (given[i].defined() && results[i].requires_grad()) {
        roots.push_back(results[i]);
        root_grads.push_back(given[i]);
      }
    results.clear();
    variable_list wanted;
    for (const auto& leaf : leaves)
      if (leaf.requires_grad()) wanted.push_back(leaf);
    variable_list grads;
    if (!roots.empty() && !wanted.empty())
      grads =
          torch::autograd::grad(roots, wanted, root_grads, false, false, true);
    // The first argument of forward() is no tensor.
    variable_list all(1 + leaves.size());
    for (std::size_t i = 0, next = 0; i < leaves.size(); ++i)
      if (leaves[i].requires_grad() && !grads.empty())
        all[1 + i] = grads[next++];
    return all;
  }
};

} // namespace

void run_segment(
    const std::shared_ptr<const CompiledGraph>& compiled,
    const Segment& segment,
    Frame& frame,
    const SharedHooks& hooks) {
  variable_list entering;
  bool needs_grad = false;
  for (const auto& use : segment.uses) {
    entering.push_back(at_slot(frame, use.slot));
    needs_grad = needs_grad || entering.back().requires_grad();
  }
  if (!at::GradMode::is_enabled() || !needs_grad) {
    run_steps(*compiled, segment.begin, segment.end, frame, hooks);
    return;
  }
  auto memory = c10::make_intrusive<SegmentInputs>();
  memory->compiled = compiled;
  memory->segment = &segment;
  memory->hooks = hooks;
  memory->numbers = frame.numbers;
  for (const int slot : segment.buffers)
    memory->buffers.emplace_back(slot, at_slot(frame, slot));
  for (const int slot : segment.changed_buffers)
    memory->buffers.emplace_back(slot, at_slot(frame, slot).clone());
  if (segment.random)
    memory->generators = generator_states(compiled->place.device);
  memory->autocast = libtorch::AutocastScope::now();
  memory->outer = &frame;
  const variable_list results =
      Recompute::apply(memory, at::TensorList(entering));
  memory->outer = nullptr;
  for (std::size_t i = 0; i < results.size(); ++i)
    at_slot(frame, segment.outputs[i]) = results[i];
  for (const int slot : segment.releases)
    at_slot(frame, slot).reset();
}

} // namespace temper::model

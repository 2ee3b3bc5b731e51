// A group of nodes that a kernel computes at once becomes the step of its last
// node; the steps of the others do nothing. What the kernel does not take is
// computed by the smaller groups it was put together from, and those by the
// steps as they were.
#include <algorithm>
#include <map>

#include "temper/graph/op/effects.h"
#include "temper/model/executor/compiled_graph.h"
#include "temper/model/fused/make_fused.h"
#include "temper/model/fused/torch_threads.h"

namespace temper::model {
namespace {

struct Group {
  OpPointer op;
  std::vector<int> inputs;
  int output = 0;
  std::vector<NodeCall> one_by_one;

  void operator()(Frame& frame) const {
    FusedOp::Tensors given;
    given.reserve(inputs.size());
    for (const int slot : inputs)
      given.push_back(at_slot(frame, slot));
    if (op->takes(given)) {
      at_slot(frame, output) = apply_fused(op, given);
      return;
    }
    given.clear(); // what the nodes release is then released
    for (const NodeCall& call : one_by_one)
      call(frame);
  }
};

bool has_own_kernel(
    const graph::Graph& graph,
    const graph::Fusion& fusion,
    const StepMakers& kernels) {
  return std::ranges::any_of(fusion.nodes, [&](std::size_t node) {
    return !graph::is_batch_norm(graph.nodes[node]) &&
        kernels.count(graph.nodes[node].op) > 0;
  });
}

// BatchNorm over groups of samples comes with steps of its own.
graph::FusionOptions options_beside(const StepMakers& own_kernels) {
  graph::FusionOptions options;
  options.norms_stay_alone = own_kernels.count("aten.batch_norm.default") > 0;
  return options;
}

// Each node's call, by its place in the graph.
using Calls = std::map<std::size_t, NodeCall>;

// Takes the calls of a group's nodes, and leaves the group's in the place of
// the last. Nothing changes when there is no kernel for such groups.
void group_calls(Calls& calls, const Slots& slots, const graph::Fusion& from) {
  const OpPointer op = make_fused(from);
  if (op == nullptr) return;
  for (const graph::Fusion& part : from.parts)
    group_calls(calls, slots, part);
  Group group{op, {}, slots.tensor(from.output), {}};
  for (const std::string& value : from.inputs)
    group.inputs.push_back(value.empty() ? kNoTensor : slots.tensor(value));
  for (const std::size_t node : from.nodes) {
    const auto found = calls.find(node);
    if (found == calls.end()) continue; // inside of a part
    group.one_by_one.push_back(std::move(found->second));
    calls.erase(found);
  }
  calls[from.nodes.back()] = std::move(group);
}

void fuse(
    CompiledGraph& compiled,
    const Slots& slots,
    const graph::Fusion& from) {
  Calls calls;
  Step& last = compiled.steps[from.nodes.back()];
  for (const std::size_t node : from.nodes) {
    Step& step = compiled.steps[node];
    calls[node] = std::move(step.run);
    step.run = [](Frame&) {};
    if (&step == &last) continue;
    last.reads.insert(last.reads.end(), step.reads.begin(), step.reads.end());
    last.makes.insert(last.makes.end(), step.makes.begin(), step.makes.end());
    step.reads.clear();
    step.makes.clear();
  }
  group_calls(calls, slots, from);
  last.run = std::move(calls.at(from.nodes.back()));
}

void fuse_or_its_parts(
    CompiledGraph& compiled,
    const Slots& slots,
    const StepMakers& own_kernels,
    const graph::Fusion& group) {
  if (!has_own_kernel(compiled.graph, group, own_kernels) &&
      make_fused(group) != nullptr)
    return fuse(compiled, slots, group);
  for (const graph::Fusion& part : group.parts)
    fuse_or_its_parts(compiled, slots, own_kernels, part);
}

} // namespace

void fuse_steps(
    CompiledGraph& compiled,
    const Slots& slots,
    const StepMakers& own_kernels) {
  if (!compiled.place.device.is_cpu() || compiled.place.floating != at::kFloat)
    return;
  use_torch_threads();
  const graph::Fusions found =
      graph::find_fusions(compiled.graph, options_beside(own_kernels));
  for (const graph::Fusion& group : found.groups)
    fuse_or_its_parts(compiled, slots, own_kernels, group);
}

} // namespace temper::model

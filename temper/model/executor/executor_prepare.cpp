#include <map>
#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/executor/compiled_graph.h"
#include "temper/model/executor/executor_errors.h"

namespace temper::model {
namespace {

StepMaker look_up(const StepMakers& table, const std::string& op) {
  const auto found = table.find(op);
  return found == table.end() ? StepMaker() : found->second;
}

NodeCall with_preludes(std::vector<NodeCall> preludes, NodeCall run) {
  if (preludes.empty()) return run;
  return [preludes = std::move(preludes), run = std::move(run)](Frame& frame) {
    for (const auto& prelude : preludes)
      prelude(frame);
    run(frame);
  };
}

NodeCall make_call(Arguments& arguments, const PrepareOptions& options) {
  const std::string& op = arguments.node().op;
  if (const auto own = look_up(options.kernels, op))
    if (NodeCall run = own(arguments)) return run;
  if (const auto number = look_up(number_steps(), op)) return number(arguments);
  const auto known = find_torch_operator(op);
  if (!known) {
    const auto decomposed = look_up(decomposed_steps(), op);
    if (!decomposed) refuse_operator(arguments.node());
    return decomposed(arguments);
  }
  arguments.take_schema(known->schema());
  if (options.direct) {
    for (const auto* table : {&direct_layers(), &direct_shapes()}) {
      const auto direct = look_up(*table, op);
      NodeCall run = direct ? direct(arguments) : NodeCall();
      if (run) return run;
    }
    arguments.take_preludes();
  }
  return boxed_step(*known, arguments);
}

void add_results(const graph::Node& node, Slots& slots) {
  for (const auto& output : node.outputs) {
    if (const auto* number = std::get_if<graph::NumberName>(&output))
      slots.add_number(number->name);
    for (const auto& tensor : graph::tensors_in(output))
      slots.add_tensor(tensor);
  }
}

std::vector<int> tensor_reads(const graph::Node& node, const Slots& slots) {
  std::vector<int> found;
  for (const auto& input : node.inputs)
    for (const auto& value : graph::tensors_in(input.value))
      found.push_back(slots.tensor(value));
  return found;
}

std::vector<int> tensor_makes(const graph::Node& node, const Slots& slots) {
  std::vector<int> found;
  for (const auto& output : node.outputs)
    for (const auto& value : graph::tensors_in(output))
      found.push_back(slots.tensor(value));
  return found;
}

// Weights and constants stay; results that the caller gets stay too.
void find_releases(CompiledGraph& compiled) {
  std::set<int> kept;
  for (const auto& [slot, target] : compiled.weights)
    kept.insert(slot);
  for (const int slot : compiled.outputs)
    kept.insert(slot);
  for (const auto& [target, slot] : compiled.changed)
    kept.insert(slot);
  std::map<int, std::size_t> last;
  for (std::size_t i = 0; i < compiled.steps.size(); ++i) {
    for (const int slot : compiled.steps[i].makes)
      last[slot] = i;
    for (const int slot : compiled.steps[i].reads)
      last[slot] = i;
  }
  for (const auto& [slot, step] : last)
    if (kept.count(slot) == 0) compiled.steps[step].releases.push_back(slot);
}

void add_inputs(CompiledGraph& compiled, Slots& slots) {
  for (const auto& input : compiled.graph.inputs) {
    const int slot = slots.add_tensor(input.value);
    if (input.kind != graph::InputKind::kUser)
      compiled.weights.emplace_back(slot, input.target);
    else
      compiled.inputs.push_back(
          expect_input(compiled.graph, input, compiled.place, slot));
  }
}

void add_outputs(CompiledGraph& compiled, const Slots& slots) {
  for (const auto& output : compiled.graph.outputs) {
    const auto* tensor = std::get_if<graph::TensorName>(&output.value);
    if (tensor == nullptr) continue; // a number or None: no one asks for it
    if (output.kind == graph::OutputKind::kUser)
      compiled.outputs.push_back(slots.tensor(tensor->name));
    else
      compiled.changed.emplace_back(output.target, slots.tensor(tensor->name));
  }
  if (compiled.outputs.empty())
    throw Error(
        "[model] the graph returns no tensor, so there is nothing to train.",
        "Return the network's output from forward().");
}

} // namespace

std::shared_ptr<const CompiledGraph> prepare(
    const graph::Graph& graph,
    const TargetDevice& place,
    const PrepareOptions& options) {
  auto compiled = std::make_shared<CompiledGraph>();
  compiled->graph = graph;
  compiled->place = place;
  Slots slots;
  add_inputs(*compiled, slots);
  for (const auto& node : compiled->graph.nodes) {
    add_results(node, slots);
    Arguments arguments(node, nullptr, slots, compiled->place);
    NodeCall run = make_call(arguments, options);
    check(static_cast<bool>(run), "a maker of steps makes one");
    compiled->steps.push_back(
        {with_preludes(arguments.take_preludes(), std::move(run)),
         tensor_reads(node, slots),
         tensor_makes(node, slots),
         {}});
  }
  add_outputs(*compiled, slots);
  compiled->tensor_count = slots.tensor_count();
  compiled->number_count = slots.number_count();
  compiled->constants = slots.constants();
  if (options.fuse) fuse_steps(*compiled, slots, options.kernels);
  find_releases(*compiled);
  find_segments(*compiled, slots);
  return compiled;
}

} // namespace temper::model

// A graph prepared to run: one step a node, slots for its values, when each is
// let go, and what is computed again in the backward pass. Never changed once
// made; the module and the backward pass share it.
// Private to model/executor.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "temper/graph/ir/graph.h"
#include "temper/model/executor/executor_arguments.h"
#include "temper/model/executor/executor_steps.h"

namespace temper::model {

struct Step {
  NodeCall run;
  std::vector<int> reads; // for messages, and for what is computed again
  std::vector<int> makes;
  std::vector<int> releases; // slots that nobody reads after it
};

// Nodes [begin, end) that keep only what enters them.
struct Segment {
  struct Use {
    std::size_t step = 0;
    int slot = 0;
  };
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Use> uses; // of what enters, the last use first
  std::vector<int> buffers; // that nobody changes
  std::vector<int> changed_buffers;
  std::vector<int> outputs;
  std::vector<int> releases; // of what enters
  bool random = false;
};

struct ExpectedInput {
  std::string name;
  int slot = 0;
  at::ScalarType type = at::kFloat;
  graph::Sizes sizes;
  std::vector<std::string> symbols; // of a size that is one symbol, else ""
};

struct CompiledGraph {
  graph::Graph graph;
  TargetDevice place;
  int tensor_count = 0;
  int number_count = 0;
  std::vector<std::pair<int, at::Tensor>> constants;
  std::vector<std::pair<int, std::string>> weights; // by real name
  std::vector<ExpectedInput> inputs;
  std::vector<Step> steps; // as many as the graph has nodes
  std::vector<Segment> segments; // in order, apart
  std::vector<int> outputs; // of the user
  std::vector<std::pair<std::string, int>> changed; // buffer, its new value
};

struct PrepareOptions {
  StepMakers kernels; // by operator; they come before all others
  bool direct = true; // false: the dispatcher has everything, for comparison
  bool fuse = false; // groups of nodes by kernels of our own, on a CPU
};

// Error, before anything runs, when an operator or argument cannot be had.
std::shared_ptr<const CompiledGraph> prepare(
    const graph::Graph& graph,
    const TargetDevice& place,
    const PrepareOptions& options);

// Puts fused kernels in the place of the steps they stand for. Operators with a
// kernel that was handed in keep it.
void fuse_steps(
    CompiledGraph& compiled,
    const Slots& slots,
    const StepMakers& own_kernels);

// Fills `segments` from the nodes' marks. Nodes that write to what enters, or
// hand it on as a view, are left out: they would see it changed the second
// time, and keeping a view costs nothing.
void find_segments(CompiledGraph& compiled, const Slots& slots);

// Puts the inputs where the first steps read them. Error, naming input, what
// was expected and what was given.
void place_inputs(
    const CompiledGraph& compiled,
    const std::vector<at::Tensor>& given,
    Frame& frame);
ExpectedInput expect_input(
    const graph::Graph& graph,
    const graph::Input& input,
    const TargetDevice& place,
    int slot);

} // namespace temper::model

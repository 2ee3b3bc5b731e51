// Which nodes form a segment that is computed again, and what enters and leaves
// it. Care is needed with memory that two values share or that a node writes.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/op/effects.h"
#include "temper/model/executor/compiled_graph.h"

namespace temper::model {
namespace {

// Slots that may share memory, as classes.
class Sharing {
 public:
  explicit Sharing(int slots) : parent_(static_cast<std::size_t>(slots)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int of(int slot) {
    while (at(slot) != slot)
      slot = at(slot) = at(at(slot));
    return slot;
  }
  void join(int a, int b) {
    at(of(a)) = of(b);
  }

 private:
  int& at(int slot) {
    return parent_[static_cast<std::size_t>(slot)];
  }
  std::vector<int> parent_;
};

struct Effects {
  std::vector<int> writes;
  std::vector<int> shared; // arguments and results of the same memory
};

// LibTorch's own word: its schemas say which arguments are written, and which
// results are views of them.
void add_declared(
    const c10::FunctionSchema& schema,
    const graph::NamedArgument& input,
    const std::vector<int>& slots,
    Effects& effects) {
  for (const auto& argument : schema.arguments()) {
    const auto* alias = argument.alias_info();
    if (argument.name() != input.name || alias == nullptr) continue;
    effects.shared.insert(effects.shared.end(), slots.begin(), slots.end());
    if (alias->isWrite())
      effects.writes.insert(effects.writes.end(), slots.begin(), slots.end());
  }
}

// Effects that the schema tells, and those that the operator's page knows
// beyond it: running statistics that are moved, dropout that hands its input
// on.
Effects effects_of(
    const graph::Node& node,
    const Slots& slots,
    const std::set<int>& buffers) {
  Effects effects;
  for (const auto& value : graph::values_written(node))
    effects.writes.push_back(slots.tensor(value));
  if (graph::may_share_memory(node))
    if (const auto read = graph::NodeArguments(node).subject(); !read.empty())
      effects.shared.push_back(slots.tensor(read));
  const auto op = find_torch_operator(node.op);
  for (const auto& input : node.inputs) {
    std::vector<int> named;
    for (const auto& value : graph::tensors_in(input.value))
      named.push_back(slots.tensor(value));
    if (op) add_declared(op->schema(), input, named, effects);
    // A kernel handed in may write to the buffers it is given.
    for (const int slot : named)
      if (!op && buffers.count(slot) > 0) effects.writes.push_back(slot);
  }
  if (!effects.shared.empty())
    for (const auto& output : node.outputs)
      for (const auto& value : graph::tensors_in(output))
        effects.shared.push_back(slots.tensor(value));
  return effects;
}

// Nobody knows what an operator without a page draws.
bool may_be_random(const graph::Node& node) {
  return graph::find_operator(node) == nullptr || graph::draws_randomness(node);
}

class SegmentSearch {
 public:
  SegmentSearch(CompiledGraph& compiled, const Slots& slots)
      : compiled_(compiled), sharing_(compiled.tensor_count) {
    for (const auto& input : compiled.graph.inputs)
      if (input.kind == graph::InputKind::kBuffer ||
          input.kind == graph::InputKind::kConstant)
        buffers_.insert(slots.tensor(input.value));
    for (const auto& node : compiled.graph.nodes) {
      effects_.push_back(effects_of(node, slots, buffers_));
      const auto& shared = effects_.back().shared;
      for (std::size_t i = 1; i < shared.size(); ++i)
        sharing_.join(shared[0], shared[i]);
    }
  }

  void run() {
    std::size_t begin = 0;
    while (begin < compiled_.graph.nodes.size()) {
      const int mark = compiled_.graph.nodes[begin].recompute_segment;
      std::size_t end = begin + 1;
      while (end < compiled_.graph.nodes.size() &&
             compiled_.graph.nodes[end].recompute_segment == mark)
        ++end;
      if (mark >= 0) add(begin, end);
      begin = end;
    }
  }

 private:
  // A node that may not be in [begin, end); none: end.
  std::size_t misfit(std::size_t begin, std::size_t end) {
    const auto entering = classes_entering(begin, end);
    const auto leaving = outputs_of(begin, end);
    for (std::size_t i = begin; i < end; ++i) {
      for (const int slot : effects_[i].writes)
        if (buffers_.count(slot) == 0 && entering.count(sharing_.of(slot)) > 0)
          return i;
      for (const int slot : compiled_.steps[i].makes)
        if (entering.count(sharing_.of(slot)) > 0 &&
            std::count(leaving.begin(), leaving.end(), slot) > 0)
          return i;
    }
    return end;
  }

  bool changed_later(std::size_t begin, std::size_t end) {
    const auto entering = classes_entering(begin, end);
    for (std::size_t i = end; i < effects_.size(); ++i)
      for (const int slot : effects_[i].writes)
        if (buffers_.count(slot) == 0 && entering.count(sharing_.of(slot)) > 0)
          return true;
    return false;
  }

  void add(std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    const std::size_t out = misfit(begin, end);
    if (out != end) {
      add(begin, out);
      add(out + 1, end);
      return;
    }
    if (changed_later(begin, end)) return;
    Segment segment;
    segment.begin = begin;
    segment.end = end;
    const auto inside = made_in(begin, end);
    std::set<int> buffers;
    for (std::size_t i = end; i-- > begin;) {
      std::set<int> seen;
      for (const int slot : compiled_.steps[i].reads) {
        if (inside.count(slot) > 0 || !seen.insert(slot).second) continue;
        if (buffers_.count(slot) > 0)
          buffers.insert(slot);
        else
          segment.uses.push_back({i, slot});
      }
      segment.random =
          segment.random || may_be_random(compiled_.graph.nodes[i]);
      for (const int slot : compiled_.steps[i].releases)
        if (inside.count(slot) == 0) segment.releases.push_back(slot);
    }
    for (const int slot : buffers)
      (is_written(slot) ? segment.changed_buffers : segment.buffers)
          .push_back(slot);
    segment.outputs = outputs_of(begin, end);
    if (!segment.outputs.empty())
      compiled_.segments.push_back(std::move(segment));
  }

  std::set<int> made_in(std::size_t begin, std::size_t end) const {
    std::set<int> made;
    for (std::size_t i = begin; i < end; ++i)
      made.insert(
          compiled_.steps[i].makes.begin(), compiled_.steps[i].makes.end());
    return made;
  }

  std::set<int> classes_entering(std::size_t begin, std::size_t end) {
    const auto inside = made_in(begin, end);
    std::set<int> classes;
    for (std::size_t i = begin; i < end; ++i)
      for (const int slot : compiled_.steps[i].reads)
        if (inside.count(slot) == 0 && buffers_.count(slot) == 0)
          classes.insert(sharing_.of(slot));
    return classes;
  }

  std::vector<int> outputs_of(std::size_t begin, std::size_t end) const {
    std::set<int> wanted(compiled_.outputs.begin(), compiled_.outputs.end());
    for (const auto& [target, slot] : compiled_.changed)
      wanted.insert(slot);
    for (std::size_t i = end; i < compiled_.steps.size(); ++i)
      wanted.insert(
          compiled_.steps[i].reads.begin(), compiled_.steps[i].reads.end());
    std::vector<int> outputs;
    for (const int slot : made_in(begin, end))
      if (wanted.count(slot) > 0) outputs.push_back(slot);
    return outputs;
  }

  bool is_written(int slot) {
    for (const auto& effects : effects_)
      for (const int written : effects.writes)
        if (sharing_.of(written) == sharing_.of(slot)) return true;
    return false;
  }

  CompiledGraph& compiled_;
  Sharing sharing_;
  std::vector<Effects> effects_;
  std::set<int> buffers_;
};

} // namespace

void find_segments(CompiledGraph& compiled, const Slots& slots) {
  const bool marked = std::any_of(
      compiled.graph.nodes.begin(),
      compiled.graph.nodes.end(),
      [](const auto& node) { return node.recompute_segment >= 0; });
  if (marked) SegmentSearch(compiled, slots).run();
}

} // namespace temper::model

#include "temper/graph/cost/liveness.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/graph/cost/computed_steps.h"
#include "temper/graph/cost/gradient_walk.h"
#include "temper/graph/cost/memory_walk.h"
#include "temper/graph/ir/saturating.h"

namespace temper::graph {
namespace {

// The facts that the walks need of the graph, by storage rather than by name.
struct StorageTimeline {
  const Graph& graph;
  const ComputedSteps& computed;
  const StorageMap& places;
  std::vector<std::vector<std::size_t>> touched; // by each node
  std::vector<std::vector<std::size_t>> dies; // after each node
  std::vector<std::vector<std::size_t>> kept; // saved by each node
  std::vector<std::int64_t> extra_bytes; // saved by each node
  std::vector<std::size_t> held_by_caller; // inputs and results
};

void make_unique(std::vector<std::size_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

std::vector<std::size_t> storages_of(
    const StorageMap& places,
    const std::vector<std::string>& values) {
  std::vector<std::size_t> storages;
  for (const auto& value : values)
    if (const auto found = places.values.find(value);
        found != places.values.end())
      storages.push_back(found->second.storage);
  make_unique(storages);
  return storages;
}

std::vector<std::string> results(const Graph& graph) {
  std::vector<std::string> values;
  for (const auto& output : graph.outputs)
    for (auto& value : tensors_in(output.value))
      values.push_back(std::move(value));
  return values;
}

void find_deaths(StorageTimeline& story) {
  const auto count = story.graph.nodes.size();
  constexpr auto kNever = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last(story.places.storages.size(), kNever);
  for (std::size_t i = 0; i < count; ++i)
    for (const auto storage : story.touched[i])
      last[storage] = i;
  for (const auto storage : story.held_by_caller)
    last[storage] = kNever;
  story.dies.resize(count);
  for (std::size_t storage = 0; storage < last.size(); ++storage)
    if (last[storage] != kNever) story.dies[last[storage]].push_back(storage);
}

// A segment that is computed again keeps only what comes from outside it.
void keep_what_segments_read(StorageTimeline& story) {
  const auto& nodes = story.graph.nodes;
  const auto& steps = story.computed.steps;
  std::map<std::string, int> segment_of;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const auto& made : steps[i].makes)
      segment_of[made] = nodes[i].recompute_segment;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int segment = nodes[i].recompute_segment;
    if (segment < 0) continue;
    std::vector<std::string> outside;
    for (const auto& read : steps[i].reads) {
      const auto made = segment_of.find(read);
      if (made != segment_of.end() && made->second != segment)
        outside.push_back(read);
    }
    story.kept[i] = storages_of(story.places, outside);
    story.extra_bytes[i] = 0;
  }
}

// No sum of a walk may overflow; no machine has an exbibyte.
void refuse_the_absurd(const StorageTimeline& story) {
  constexpr std::int64_t kMost = std::int64_t{1} << 58;
  std::int64_t total = 0;
  for (const auto& storage : story.places.storages)
    total = plus(total, storage.bytes);
  for (const auto bytes : story.extra_bytes)
    total = plus(total, bytes);
  if (total > kMost)
    throw Error(
        "[graph] the values of this model would take more memory than any "
        "machine has.",
        "Choose a smaller batch.");
}

StorageTimeline story_of(const Graph& graph, const ComputedSteps& computed) {
  StorageTimeline story{graph, computed, computed.places, {}, {}, {}, {}, {}};
  for (const ComputedStep& step : computed.steps) {
    auto values = step.reads;
    values.insert(values.end(), step.makes.begin(), step.makes.end());
    story.touched.push_back(storages_of(story.places, values));
    story.kept.push_back(storages_of(story.places, step.saved.values));
    story.extra_bytes.push_back(step.saved.extra_bytes);
  }
  std::vector<std::string> callers = results(graph);
  for (const auto& input : graph.inputs)
    callers.push_back(input.value);
  story.held_by_caller = storages_of(story.places, callers);
  find_deaths(story);
  refuse_the_absurd(story);
  return story;
}

// The memory that a step takes while it runs forward, and gives back.
std::int64_t passing_bytes(const ComputedStep& step, bool keep) {
  return keep && step.tracked ? step.forward_bytes : step.eval_bytes;
}

// Every storage is held by the forward pass from its first use to its last.
void walk_forward(
    const StorageTimeline& story,
    bool keep,
    const std::vector<std::int64_t>& scratch_bytes,
    MemoryWalk& memory,
    std::vector<std::int64_t>* saved_bytes) {
  std::vector<bool> met(story.places.storages.size(), false);
  std::vector<bool> kept(story.places.storages.size(), false);
  for (std::size_t i = 0; i < story.graph.nodes.size(); ++i) {
    for (const auto storage : story.touched[i])
      if (!met[storage]) {
        met[storage] = true;
        memory.hold(storage);
      }
    if (keep) {
      std::int64_t bytes = story.extra_bytes[i];
      memory.take(story.extra_bytes[i]);
      for (const auto storage : story.kept[i]) {
        memory.hold(storage);
        if (!kept[storage] && story.places.storages[storage].activation)
          bytes += story.places.storages[storage].bytes;
        kept[storage] = true;
      }
      saved_bytes->push_back(bytes);
    }
    const std::int64_t scratch =
        (i < scratch_bytes.size() ? scratch_bytes[i] : 0) +
        passing_bytes(story.computed.steps[i], keep);
    memory.take(scratch);
    memory.note(i, false);
    memory.give_back(scratch);
    for (const auto storage : story.dies[i])
      memory.drop(storage);
  }
}

// Computes a segment again: what its nodes save is there once more, and what
// they only pass along dies on the way.
void recompute(
    const StorageTimeline& story,
    const StorageTimeline& in_full,
    int segment,
    MemoryWalk& memory) {
  for (std::size_t i = 0; i < story.graph.nodes.size(); ++i) {
    if (story.graph.nodes[i].recompute_segment != segment) continue;
    std::int64_t passing = 0;
    for (const auto storage : in_full.kept[i])
      memory.hold(storage);
    memory.take(in_full.extra_bytes[i]);
    for (const auto storage : story.touched[i])
      if (!memory.held(storage) && story.places.storages[storage].activation)
        passing += story.places.storages[storage].bytes;
    passing += passing_bytes(story.computed.steps[i], true);
    memory.take(passing);
    memory.note(i, true);
    memory.give_back(passing);
  }
}

void backward(
    const StorageTimeline& story,
    const StorageTimeline& in_full,
    GradientWalk gradients,
    MemoryWalk& memory) {
  for (const auto& value : results(story.graph))
    gradients.begin(value, memory);
  int open = -1; // the segment that was computed again
  for (std::size_t i = story.graph.nodes.size(); i-- > 0;) {
    const int segment = story.graph.nodes[i].recompute_segment;
    if (segment >= 0 && segment != open)
      recompute(story, in_full, segment, memory);
    open = segment;
    const ComputedStep& step = story.computed.steps[i];
    gradients.through(step, i, memory);
    const auto drop = [&](const StorageTimeline& which) {
      for (const auto storage : which.kept[i])
        memory.drop(storage);
      memory.give_back(which.extra_bytes[i]);
    };
    drop(story);
    if (segment >= 0) drop(in_full);
    gradients.add_up(step, i, memory);
  }
}

} // namespace

Liveness liveness(
    const Graph& graph,
    const Inferred& known,
    const Symbols& symbols,
    const LivenessOptions& options) {
  const auto with_gradient = values_with_gradient(graph, known);
  const ComputedSteps computed =
      steps_of(graph, known, symbols, with_gradient, options);
  const StorageTimeline in_full = story_of(graph, computed);
  StorageTimeline story = in_full;
  keep_what_segments_read(story);

  Liveness result;
  std::set<std::string> parameters;
  for (const auto& input : graph.inputs) {
    if (input.kind == InputKind::kParameter) parameters.insert(input.value);
    const auto shape = known.tensors.find(input.value);
    if (input.kind == InputKind::kUser && shape != known.tensors.end())
      result.input_bytes += bytes_of(shape->second);
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    std::int64_t made = 0;
    for (const auto& value : computed.steps[i].makes) {
      const auto lay = story.places.values.find(value);
      if (lay == story.places.values.end()) continue;
      const Storage& storage = story.places.storages[lay->second.storage];
      if (storage.value == value) made += storage.bytes;
    }
    result.made_bytes.push_back(made);
    result.activation_bytes += made;
  }
  std::map<std::size_t, std::size_t> death;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const auto storage : story.dies[i])
      death[storage] = i;
  result.dies_after.resize(graph.nodes.size());
  for (const auto& [value, lay] : story.places.values)
    if (const auto found = death.find(lay.storage); found != death.end())
      result.dies_after[found->second].push_back(value);

  MemoryWalk eval(story.places);
  eval.take(result.input_bytes);
  walk_forward(story, false, options.scratch_bytes, eval, nullptr);
  result.eval = eval.peak();

  MemoryWalk train(story.places);
  train.take(result.input_bytes);
  walk_forward(story, true, options.scratch_bytes, train, &result.saved_bytes);
  for (const auto bytes : result.saved_bytes)
    result.total_saved_bytes += bytes;
  LivenessOptions how = options;
  how.channels_last = how.channels_last || computed.images_last;
  backward(
      story,
      in_full,
      GradientWalk(computed, known, with_gradient, parameters, how),
      train);
  result.train = train.peak();
  return result;
}

} // namespace temper::graph

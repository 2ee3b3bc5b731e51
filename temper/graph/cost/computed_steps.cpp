#include "temper/graph/cost/computed_steps.h"

#include <algorithm>
#include <map>

#include "temper/graph/fuse/fused_takes.h"
#include "temper/graph/ir/strides.h"
#include "temper/graph/ir/weights.h"
#include "temper/graph/op/operator.h"

namespace temper::graph {
namespace {

using Groups = std::map<std::size_t, const Fusion*>; // by their last node

// A group, or the parts it was put together from where its kernel does not take
// it.
void add_taken(
    const Fusion& group,
    const Inferred& known,
    Groups& taken,
    std::set<std::size_t>& inside) {
  if (!fused_takes(group, known)) {
    for (const Fusion& part : group.parts)
      add_taken(part, known, taken, inside);
    return;
  }
  taken[group.nodes.back()] = &group;
  inside.insert(group.nodes.begin(), group.nodes.end());
}

Groups groups_taken(
    const std::vector<Fusion>& groups,
    const Inferred& known,
    std::set<std::size_t>& inside) {
  Groups taken;
  for (const Fusion& group : groups)
    add_taken(group, known, taken, inside);
  return taken;
}

// LibTorch's own operators hand back gradients with channels last where they
// made an image of such an image; reductions and views do not.
bool hands_back_image(const Node& reader, const Inferred& known) {
  const Operator* page = find_operator(reader);
  if (page == nullptr || page->dimensions == Dimensions::kRegrouped)
    return false;
  const auto made = values_made(reader);
  const auto shape =
      made.empty() ? known.tensors.end() : known.tensors.find(made.front());
  if (shape == known.tensors.end() || shape->second.sizes.size() != 4)
    return false;
  // Averages of whole planes spread one number over each.
  return shape->second.sizes[2] * shape->second.sizes[3] > 1;
}

// Whether the gradient of a group's image comes with its channels elsewhere.
bool gradient_in_other_order(
    const Graph& graph,
    const Fusion& group,
    const std::set<std::size_t>& inside,
    const Inferred& known) {
  if (!makes_image(group)) return false;
  const Ints& sizes = known.tensors.at(group.output).sizes;
  if (in_order(sizes, channels_last_strides(sizes))) return false;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (inside.count(i) > 0) continue;
    const auto read = values_read(graph.nodes[i]);
    if (std::find(read.begin(), read.end(), group.output) != read.end() &&
        !hands_back_image(graph.nodes[i], known))
      return true;
  }
  return false;
}

// Where the largest of each cell was, which pooling finds out also when nobody
// will ask.
std::int64_t indices_bytes(const Node& node, const Inferred& known) {
  const Operator* page = find_operator(node);
  if (page == nullptr || page->layer != Layer::kMaxPool2d) return 0;
  constexpr std::int64_t kIndex = 8;
  const auto made = known.tensors.find(values_made(node).front());
  return made == known.tensors.end()
      ? 0
      : kIndex * element_count(made->second.sizes);
}

std::vector<std::string> reads_of(const Fusion& group) {
  std::vector<std::string> reads;
  for (const std::string& value : group.inputs)
    if (!value.empty() &&
        std::find(reads.begin(), reads.end(), value) == reads.end())
      reads.push_back(value);
  return reads;
}

} // namespace

ComputedSteps steps_of(
    const Graph& graph,
    const Inferred& known,
    const Symbols& symbols,
    const std::set<std::string>& with_gradient,
    const LivenessOptions& options) {
  ComputedSteps made;
  std::set<std::size_t> inside;
  const Groups taken = groups_taken(options.groups, known, inside);
  PlacedValues layout;
  layout.fused_attention = options.fused_attention;
  layout.channels_last = options.channels_last && !taken.empty();
  for (const auto& [last, group] : taken) {
    layout.own[group->output] = fused_strides(*group, known);
    made.images_last = made.images_last || makes_image(*group);
  }
  made.places = place(graph, known, symbols, layout);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    ComputedStep step;
    const auto found = taken.find(i);
    if (found != taken.end()) {
      const Fusion& group = *found->second;
      step.reads = reads_of(group);
      step.makes = {group.output};
      step.group = fused_memory(
          {group,
           known,
           made.places,
           with_gradient,
           gradient_in_other_order(graph, group, inside, known)});
      step.tracked = with_gradient.count(group.output) > 0;
      step.forward_bytes = step.group->forward_bytes;
      step.eval_bytes = step.group->eval_bytes;
      if (step.tracked) step.saved = {step.group->kept, step.group->kept_bytes};
    } else if (inside.count(i) == 0) {
      const Node& node = graph.nodes[i];
      step.node = &node;
      step.reads = values_read(node);
      step.makes = values_made(node);
      step.saved = saved_by(
          node, known, made.places, with_gradient, options.fused_attention);
      step.tracked =
          std::any_of(step.makes.begin(), step.makes.end(), [&](const auto& v) {
            return with_gradient.count(v) > 0;
          });
      step.eval_bytes = indices_bytes(node, known);
    }
    made.steps.push_back(std::move(step));
  }
  return made;
}

} // namespace temper::graph

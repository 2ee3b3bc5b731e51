#include "temper/graph/cost/gradient_walk.h"

#include <algorithm>
#include <utility>

#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/weights.h"
#include "temper/graph/op/operator.h"

namespace temper::graph {
namespace {

bool hands_gradient_on(const Node& node) {
  const Operator* page = find_operator(node);
  return page != nullptr && page->gradient == Gradient::kHandedOn;
}

bool is_layer_of(const Node& node, std::initializer_list<Layer> layers) {
  const Operator* page = find_operator(node);
  return page != nullptr &&
      std::find(layers.begin(), layers.end(), page->layer) != layers.end();
}

// LibTorch's own rule (use_mkldnn): small batches of 1x1 filters on one thread,
// and small single samples, are faster without.
bool goes_to_onednn(const Node& node, const Inferred& known, int threads) {
  if (threads == 0 ||
      !is_layer_of(node, {Layer::kConvolution, Layer::kTransposedConvolution}))
    return false;
  const NodeArguments arguments(node, known);
  const Shape* input = arguments.find_tensor("input");
  const Shape* weight = arguments.find_tensor("weight");
  if (input == nullptr || weight == nullptr || weight->sizes.size() < 3)
    return true;
  const auto any = [](const Ints& values, auto what) {
    return std::any_of(values.begin(), values.end(), what);
  };
  const auto above = [](std::int64_t limit) {
    return [limit](std::int64_t value) { return value > limit; };
  };
  const Ints kernel(weight->sizes.begin() + 2, weight->sizes.end());
  const std::int64_t samples = input->sizes.front();
  const bool pointwise = !any(kernel, above(1)) &&
      !any(arguments.integers("stride", {1}), above(1)) &&
      !any(arguments.integers("dilation", {1}), above(1));
  if (pointwise && samples < 16 && threads == 1) return false;
  constexpr std::int64_t kSmall = 20480; // values
  return arguments.integer("groups", 1) > 1 || samples > 1 ||
      std::all_of(kernel.begin(), kernel.end(), above(3)) ||
      element_count(input->sizes) > kSmall;
}

} // namespace

GradientWalk::GradientWalk(
    const ComputedSteps& computed,
    const Inferred& known,
    const std::set<std::string>& with_gradient,
    const std::set<std::string>& parameters,
    const LivenessOptions& options)
    : known_(known),
      with_gradient_(with_gradient),
      parameters_(parameters),
      options_(options) {
  for (const ComputedStep& step : computed.steps)
    for (const auto& read : step.reads)
      ++readers_[read];
}

std::size_t GradientWalk::make(const std::string& value, MemoryWalk& memory) {
  gradients_.push_back({bytes_of(known_.tensors.at(value)), 1});
  memory.take(gradients_.back().bytes);
  return gradients_.size() - 1;
}

void GradientWalk::release(std::size_t gradient, MemoryWalk& memory) {
  if (--gradients_[gradient].owners == 0)
    memory.give_back(gradients_[gradient].bytes);
}

// A parameter that several nodes read, as tied ones are, gets its gradient when
// all have given theirs; until then the sum of them waits.
void GradientWalk::wait_for_others(
    const ComputedStep& step,
    MemoryWalk& memory) {
  for (const auto& read : step.reads) {
    if (with_gradient_.count(read) == 0 || parameters_.count(read) == 0)
      continue;
    const int all = readers_.at(read);
    const int given = ++given_[read];
    const std::int64_t bytes = bytes_of(known_.tensors.at(read));
    if (given == 1 && all > 1) memory.take(bytes);
    if (given == all && all > 1) memory.give_back(bytes);
  }
}

void GradientWalk::begin(const std::string& value, MemoryWalk& memory) {
  if (with_gradient_.count(value) > 0 && of_value_.count(value) == 0)
    of_value_[value] = make(value, memory);
}

// A parameter's new gradient, before it is added to the one that is kept.
std::int64_t GradientWalk::parameter_gradients(
    const std::vector<std::string>& reads) const {
  std::int64_t bytes = 0;
  for (const auto& read : reads)
    if (with_gradient_.count(read) > 0 && parameters_.count(read) > 0)
      bytes += bytes_of(known_.tensors.at(read));
  return bytes;
}

// The bytes that oneDNN holds beside a filter's gradient: the same in its own
// order, once more on the way to channels that come last, and for filters of
// one channel blocks of 16 by 16 that are mostly empty.
std::int64_t GradientWalk::onednn_copies(const Node& node) const {
  const std::int64_t once = parameter_gradients(values_read(node));
  const NodeArguments arguments(node, known_);
  const Shape* weight = arguments.find_tensor("weight");
  if (!options_.channels_last || weight == nullptr || weight->sizes.size() != 4)
    return once;
  const std::int64_t window = weight->sizes[2] * weight->sizes[3];
  const auto& made = known_.tensors.at(values_made(node).front()).sizes;
  constexpr std::int64_t kBlock = 16 * 16;
  const bool depthwise =
      weight->sizes[1] == 1 && arguments.integer("groups", 1) > 1;
  if (depthwise && made[2] * made[3] > 1)
    return once + bytes_of(*weight) * kBlock;
  return (weight->sizes[1] > 1 && window > 1 ? 2 : 1) * once;
}

// The bytes that a node holds beside its gradients while it computes them.
// Pooling takes its indices and its result into the order of channels that come
// last.
std::int64_t GradientWalk::copies_by_rule(const Node& node) const {
  if (goes_to_onednn(node, known_, options_.threads))
    return onednn_copies(node);
  const Shape* input = NodeArguments(node, known_).find_tensor("self");
  if (!options_.channels_last || input == nullptr ||
      !is_layer_of(node, {Layer::kMaxPool2d}))
    return 0;
  const auto& made = known_.tensors.at(values_made(node).front());
  constexpr std::int64_t kIndex = 8;
  return bytes_of(*input) + kIndex * element_count(made.sizes);
}

// A convolution is asked about only where its answer could raise the peak.
std::int64_t GradientWalk::copies(const Node& node, const MemoryWalk& memory)
    const {
  if (!options_.convolution_bytes || options_.threads == 0)
    return copies_by_rule(node);
  auto asked = convolution_case(node, known_);
  if (!asked) return copies_by_rule(node);
  const auto wanted = [&](const char* name) {
    const Argument* argument = node.find(name);
    if (argument == nullptr) return false;
    const auto names = tensors_in(*argument);
    return std::any_of(names.begin(), names.end(), [&](const auto& value) {
      return with_gradient_.count(value) > 0;
    });
  };
  asked->of_input = wanted("input");
  asked->of_weight = wanted("weight");
  asked->of_bias = wanted("bias");
  asked->channels_last = options_.channels_last;
  asked->threads = options_.threads;
  const auto& made = known_.tensors.at(values_made(node).front()).sizes;
  if (plus(memory.live(), most_convolution_bytes(*asked, made)) <=
      memory.peak().bytes)
    return 0;
  const auto bytes = options_.convolution_bytes(*asked);
  return bytes ? *bytes : copies_by_rule(node);
}

// Those that stay, the first time a parameter gets one.
std::int64_t GradientWalk::new_gradients(const ComputedStep& step) {
  std::int64_t bytes = 0;
  for (const auto& read : step.reads)
    if (with_gradient_.count(read) > 0 && parameters_.count(read) > 0 &&
        kept_.insert(read).second)
      bytes += bytes_of(known_.tensors.at(read));
  return bytes;
}

std::int64_t GradientWalk::beside(
    const ComputedStep& step,
    const MemoryWalk& memory) const {
  if (step.group) return step.group->backward_bytes;
  return copies(*step.node, memory);
}

// A tensor of its own, or the one that arrives.
std::size_t GradientWalk::gradient_of(
    const ComputedStep& step,
    const std::string& read,
    const std::vector<std::size_t>& arriving,
    MemoryWalk& memory) {
  const bool passes = step.group ? step.group->handed_on == read
                                 : hands_gradient_on(*step.node);
  if (!passes || arriving.size() != 1 ||
      gradients_[arriving.front()].bytes < bytes_of(known_.tensors.at(read)))
    return make(read, memory);
  ++gradients_[arriving.front()].owners;
  return arriving.front();
}

void GradientWalk::through(
    const ComputedStep& step,
    std::size_t index,
    MemoryWalk& memory) {
  std::vector<std::size_t> arriving;
  for (const auto& made : step.makes)
    if (const auto found = of_value_.find(made); found != of_value_.end())
      arriving.push_back(found->second);
  if (arriving.empty()) return;

  for (const auto& read : step.reads) {
    if (with_gradient_.count(read) == 0 || parameters_.count(read) > 0)
      continue;
    const std::size_t own = gradient_of(step, read, arriving, memory);
    if (!of_value_.emplace(read, own).second) second_.emplace_back(read, own);
  }
  passing_ = parameter_gradients(step.reads);
  memory.take(passing_);
  const std::int64_t taken = beside(step, memory);
  memory.take(taken);
  memory.note(index, true);
  memory.give_back(taken);
  for (const auto& made : step.makes)
    if (const auto found = of_value_.find(made); found != of_value_.end()) {
      release(found->second, memory);
      of_value_.erase(found);
    }
}

void GradientWalk::add_up(
    const ComputedStep& step,
    std::size_t index,
    MemoryWalk& memory) {
  for (const auto& [value, second] : second_) {
    std::size_t& first = of_value_.at(value);
    if (!options_.adds_in_place || gradients_[first].owners > 1) {
      const auto sum = make(value, memory);
      memory.note(index, true);
      release(first, memory);
      first = sum;
    }
    release(second, memory);
  }
  second_.clear();
  if (passing_ == 0) return;
  memory.give_back(std::exchange(passing_, 0));
  if (options_.keep_gradients)
    memory.take(new_gradients(step));
  else
    wait_for_others(step, memory);
}

} // namespace temper::graph

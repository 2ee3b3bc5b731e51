#include "temper/graph/fuse/fused_memory.h"

#include <algorithm>

#include "temper/graph/fuse/fused_takes.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/strides.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {
namespace {

constexpr std::int64_t kFloat = 4; // bytes
constexpr std::int64_t kNormState = 4 * kFloat; // a channel's, kept
constexpr std::size_t kOfALayer = 5; // inputs of a convolution and its norm

// A group's tensors by their place among its inputs.
class GroupTensors {
 public:
  explicit GroupTensors(const FusedCall& call) : call_(call) {}

  const Fusion& fusion() const {
    return call_.fusion;
  }
  bool has(std::size_t input) const {
    return input < fusion().inputs.size() && !fusion().inputs[input].empty();
  }
  const std::string& name(std::size_t input) const {
    return fusion().inputs[input];
  }
  const Ints& sizes(std::size_t input) const {
    return call_.known.tensors.at(name(input)).sizes;
  }
  std::int64_t bytes(std::size_t input) const {
    return has(input) ? bytes_of(call_.known.tensors.at(name(input))) : 0;
  }
  std::int64_t result_bytes() const {
    return bytes_of(call_.known.tensors.at(fusion().output));
  }
  bool wanted(std::size_t input) const {
    return has(input) && call_.with_gradient.count(name(input)) > 0;
  }
  // The result's gradient in the order that kernels want.
  std::int64_t gradient_copy() const {
    return call_.copies_gradient ? result_bytes() : 0;
  }
  // An image or its filters with channels last: itself, or a copy.
  std::int64_t image_copy(std::size_t input) const {
    if (!has(input)) return 0;
    const Ints& strides = call_.places.at(name(input)).strides;
    return has_channels_last(sizes(input), strides) ? 0 : bytes(input);
  }
  bool in_order(std::size_t input) const {
    return graph::in_order(sizes(input), call_.places.at(name(input)).strides);
  }
  // Dense rows of the last dimension: a view, or a copy.
  std::int64_t rows_copy(std::size_t input) const {
    const Ints& of = sizes(input);
    const Ints& strides = call_.places.at(name(input)).strides;
    const auto rows =
        viewed(of, strides, {element_count(of) / of.back(), of.back()});
    return rows && (of.back() == 1 || rows->back() == 1) ? 0 : bytes(input);
  }
  bool dense_last(std::size_t input) const {
    return sizes(input).back() == 1 ||
        call_.places.at(name(input)).strides.back() == 1;
  }

 private:
  const FusedCall& call_;
};

// The input itself, or its copy.
void keep_input(
    FusedMemory& memory,
    const GroupTensors& group,
    std::size_t input,
    std::int64_t copy) {
  if (copy > 0)
    memory.kept_bytes += copy;
  else
    memory.kept.push_back(group.name(input));
}

FusedMemory of_convolution(const GroupTensors& group) {
  FusedMemory memory;
  const std::int64_t x = group.image_copy(0);
  const std::int64_t filters = group.image_copy(1);
  memory.kept = {group.name(0)};
  memory.forward_bytes = memory.eval_bytes = x + filters;
  memory.backward_bytes = group.gradient_copy() +
      std::max(group.wanted(0) ? filters : 0,
               group.wanted(1) ? x + filters : 0);
  return memory;
}

FusedMemory of_conv_act_pool(const GroupTensors& group) {
  FusedMemory memory;
  const std::int64_t x = group.image_copy(0);
  const std::int64_t filters = group.image_copy(1);
  memory.kept = {group.name(0)};
  memory.kept_bytes = group.result_bytes() / kFloat; // a byte for each value
  memory.forward_bytes = memory.eval_bytes = x + filters;
  const Ints before_pool = convolved(
      group.fusion().convolutions.front(), group.sizes(0), group.sizes(1)[0]);
  const std::int64_t spread = kFloat * product_of(before_pool);
  memory.backward_bytes = group.gradient_copy() +
      std::max(group.wanted(0) ? spread + filters : 0, x + filters);
  return memory;
}

// BatchNorm with a residual, alone or behind a convolution: where an activation
// follows, the residual is kept, and gets a gradient of its own.
void add_residual(
    FusedMemory& memory,
    const GroupTensors& group,
    std::size_t input) {
  if (!group.has(input)) return;
  const std::int64_t copy = group.image_copy(input);
  memory.eval_bytes += copy;
  if (group.fusion().act == FusedActivation::kNone) {
    memory.forward_bytes += copy;
    memory.handed_on = group.name(input);
    return;
  }
  keep_input(memory, group, input, copy);
  if (!group.wanted(input)) memory.backward_bytes += group.result_bytes();
}

FusedMemory of_norm_act(const GroupTensors& group) {
  FusedMemory memory;
  const std::int64_t copy = group.image_copy(0);
  const std::int64_t state = kNormState * group.sizes(0)[1];
  keep_input(memory, group, 0, copy);
  memory.kept_bytes += state;
  memory.eval_bytes = copy + state;
  memory.backward_bytes = group.gradient_copy();
  add_residual(memory, group, 5);
  return memory;
}

FusedMemory of_conv_norm_act(const GroupTensors& group) {
  FusedMemory memory;
  const FusedWay way =
      way_of(group.fusion().convolutions.front(), group.sizes(0)[1]);
  const std::int64_t x = group.image_copy(0);
  const std::int64_t filters =
      way == FusedWay::kDepthwise ? 0 : group.image_copy(1);
  const std::int64_t state = kNormState * group.sizes(1)[0];
  keep_input(memory, group, 0, x);
  memory.kept_bytes += group.result_bytes() + state; // before the BatchNorm
  memory.forward_bytes = filters;
  memory.eval_bytes = x + filters + state;
  memory.backward_bytes = group.gradient_copy() + filters;
  if (way == FusedWay::kOther)
    memory.backward_bytes += group.result_bytes(); // behind the BatchNorm
  else if (way == FusedWay::kDepthwise && !group.wanted(0))
    memory.backward_bytes += group.bytes(0);
  add_residual(memory, group, 6);
  return memory;
}

// What the convolutions of a block write, in bytes.
std::vector<std::int64_t> written(const GroupTensors& group) {
  std::vector<std::int64_t> all;
  Ints sizes = group.sizes(0);
  for (std::size_t i = 0; i < group.fusion().convolutions.size(); ++i) {
    sizes = convolved(
        group.fusion().convolutions[i],
        sizes,
        group.sizes(1 + kOfALayer * i)[0]);
    all.push_back(kFloat * product_of(sizes));
  }
  return all;
}

FusedMemory of_inverted_residual(const GroupTensors& group) {
  FusedMemory memory;
  const std::int64_t x = group.image_copy(0);
  const std::vector<std::int64_t> made = written(group);
  keep_input(memory, group, 0, x);
  std::int64_t states = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    states += kNormState * group.sizes(1 + kOfALayer * i)[0];
    memory.kept_bytes += made[i];
  }
  memory.kept_bytes += states;
  // Without a backward pass each is there until the next one is made; the last
  // becomes the result.
  std::int64_t passing = 0;
  for (std::size_t i = 1; i < made.size(); ++i)
    passing = std::max(passing, made[i - 1] + made[i]);
  memory.eval_bytes =
      x + states + std::max<std::int64_t>(0, passing - made.back());
  // The gradient of what a convolution read beside that of what it wrote; the
  // block's own are counted apart.
  const std::int64_t own = group.wanted(0) ? group.bytes(0) : 0;
  std::int64_t most = made.front();
  for (std::size_t i = made.size() - 1; i > 0; --i) {
    const std::int64_t behind = i + 1 == made.size() ? 0 : made[i];
    most = std::max(most, behind + made[i - 1] - own);
  }
  memory.backward_bytes = group.gradient_copy() + most;
  return memory;
}

// What a linear layer keeps and takes beside its rows.
void add_layer(FusedMemory& memory, const GroupTensors& group) {
  const FusedActivation act = group.fusion().act;
  const bool told_by_result = !group.has(3) &&
      (act == FusedActivation::kRelu || act == FusedActivation::kRelu6);
  if (told_by_result)
    memory.kept.push_back(group.fusion().output);
  else if (act != FusedActivation::kNone)
    memory.kept_bytes += group.result_bytes(); // before the activation
  memory.backward_bytes += group.gradient_copy();
  if (group.has(3)) memory.handed_on = group.name(3);
}

FusedMemory of_linear(const GroupTensors& group) {
  FusedMemory memory;
  const std::int64_t copy = group.rows_copy(0);
  memory.kept = {group.name(0)};
  memory.kept_bytes = copy;
  memory.eval_bytes = copy;
  add_layer(memory, group);
  return memory;
}

// Channels last: the smaller of weight and image is brought into the other's
// order, and its gradient back.
FusedMemory of_image_linear(const GroupTensors& group) {
  FusedMemory memory;
  const bool shared = group.in_order(0) || group.image_copy(0) > 0;
  const std::size_t turned = group.sizes(1)[0] <= group.sizes(0)[0] ? 1 : 0;
  const std::int64_t copy = !shared ? group.bytes(turned)
      : group.in_order(0)           ? 0
                                    : group.bytes(0);
  if (shared || turned == 1) memory.kept = {group.name(0)};
  memory.kept_bytes = memory.eval_bytes = copy;
  if (!shared && group.wanted(turned)) memory.backward_bytes = copy;
  add_layer(memory, group);
  return memory;
}

FusedMemory of_layer_norm(const GroupTensors& group) {
  FusedMemory memory;
  const std::int64_t copy = group.rows_copy(0);
  const Ints& sizes = group.sizes(0);
  memory.kept = {group.name(0)};
  memory.kept_bytes = copy + 2 * kFloat * (element_count(sizes) / sizes.back());
  memory.eval_bytes = copy;
  memory.backward_bytes = group.gradient_copy();
  return memory;
}

FusedMemory of_attention(const GroupTensors& group) {
  FusedMemory memory;
  for (std::size_t input : {0, 1, 2}) {
    const std::int64_t copy = group.dense_last(input) ? 0 : group.bytes(input);
    keep_input(memory, group, input, copy);
    memory.eval_bytes += copy;
    if (!group.wanted(input)) memory.backward_bytes += group.bytes(input);
  }
  memory.kept.push_back(group.fusion().output);
  const Ints& queries = group.sizes(0);
  memory.kept_bytes += kFloat * queries[0] * queries[1] * queries[2];
  memory.backward_bytes += group.gradient_copy();
  return memory;
}

FusedMemory of_mean_pool(const GroupTensors& group) {
  FusedMemory memory;
  memory.kept_bytes = kFloat; // one number that stands for x's sizes
  memory.forward_bytes = memory.eval_bytes = group.image_copy(0);
  return memory;
}

// Queries, keys and values, the result of attention, the sum before the second
// LayerNorm and what comes before the activation; means and deviations.
FusedMemory of_transformer_block(const GroupTensors& group) {
  constexpr std::size_t kFirstOfTwo = 9; // weight of the first linear layer
  FusedMemory memory;
  const Ints& x = group.sizes(0);
  const std::int64_t rows = times(x[0], x[1]);
  const std::int64_t hidden = group.sizes(kFirstOfTwo)[0];
  const std::int64_t copy = group.rows_copy(0);
  for (std::size_t input = 1; input < group.fusion().inputs.size(); ++input)
    if (group.has(input)) memory.kept.push_back(group.name(input));
  keep_input(memory, group, 0, copy);
  const std::int64_t always = times(kFloat * 5 * x[2], rows);
  memory.kept_bytes +=
      always + times(kFloat * (group.fusion().heads + hidden + 4), rows);
  memory.eval_bytes = always + copy;
  memory.backward_bytes = group.gradient_copy() + 5 * group.bytes(0) +
      (group.wanted(0) ? 0 : group.bytes(0));
  return memory;
}

} // namespace

bool makes_image(const Fusion& fusion) {
  switch (fusion.kind) {
    case FusionKind::kConvolution:
    case FusionKind::kConvNormAct:
    case FusionKind::kNormAct:
    case FusionKind::kInvertedResidual:
    case FusionKind::kConvActPool:
      return true;
    case FusionKind::kLinear:
    case FusionKind::kImageLinear:
    case FusionKind::kLayerNorm:
    case FusionKind::kAttention:
    case FusionKind::kMeanPool:
    case FusionKind::kTransformerBlock:
      break;
  }
  return false;
}

Ints fused_strides(const Fusion& fusion, const Inferred& known) {
  const Ints& sizes = known.tensors.at(fusion.output).sizes;
  if (makes_image(fusion)) return channels_last_strides(sizes);
  if (fusion.kind != FusionKind::kAttention) return strides_in_order(sizes);
  const std::int64_t token = times(sizes[1], sizes[3]);
  return {times(sizes[2], token), sizes[3], token, 1};
}

FusedMemory fused_memory(const FusedCall& call) {
  const GroupTensors group(call);
  switch (call.fusion.kind) {
    case FusionKind::kConvolution:
      return of_convolution(group);
    case FusionKind::kConvNormAct:
      return of_conv_norm_act(group);
    case FusionKind::kNormAct:
      return of_norm_act(group);
    case FusionKind::kInvertedResidual:
      return of_inverted_residual(group);
    case FusionKind::kConvActPool:
      return of_conv_act_pool(group);
    case FusionKind::kLinear:
      return of_linear(group);
    case FusionKind::kImageLinear:
      return of_image_linear(group);
    case FusionKind::kLayerNorm:
      return of_layer_norm(group);
    case FusionKind::kAttention:
      return of_attention(group);
    case FusionKind::kMeanPool:
      return of_mean_pool(group);
    case FusionKind::kTransformerBlock:
      return of_transformer_block(group);
  }
  return {};
}

} // namespace temper::graph

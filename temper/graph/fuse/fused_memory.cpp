#include "temper/graph/fuse/fused_memory.h"

#include <algorithm>

#include "temper/graph/fuse/block_memory.h"
#include "temper/graph/fuse/fused_takes.h"
#include "temper/graph/fuse/group_tensors.h"
#include "temper/graph/ir/saturating.h"

namespace temper::graph {
namespace {

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
  memory.kept_bytes =
      group.result_bytes() / kFloatBytes; // a byte for each value
  memory.forward_bytes = memory.eval_bytes = x + filters;
  const Ints before_pool = convolved(
      group.fusion().convolutions.front(), group.sizes(0), group.sizes(1)[0]);
  const std::int64_t spread = kFloatBytes * product_of(before_pool);
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
  const std::int64_t state = kNormStateBytes * group.sizes(0)[1];
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
  const std::int64_t state = kNormStateBytes * group.sizes(1)[0];
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

// The memory that a linear layer keeps and takes beside its rows.
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
  memory.kept_bytes =
      copy + 2 * kFloatBytes * (element_count(sizes) / sizes.back());
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
  memory.kept_bytes += kFloatBytes * queries[0] * queries[1] * queries[2];
  memory.backward_bytes += group.gradient_copy();
  return memory;
}

FusedMemory of_mean_pool(const GroupTensors& group) {
  FusedMemory memory;
  memory.kept_bytes = kFloatBytes; // one number that stands for x's sizes
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
  const std::int64_t always = times(kFloatBytes * 5 * x[2], rows);
  memory.kept_bytes +=
      always + times(kFloatBytes * (group.fusion().heads + hidden + 4), rows);
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
    case FusionKind::kResidualBlock:
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
    case FusionKind::kResidualBlock:
      return of_convolution_block(group);
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

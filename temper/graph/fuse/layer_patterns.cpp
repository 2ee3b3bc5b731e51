#include "temper/graph/fuse/layer_patterns.h"

#include <algorithm>

#include "temper/graph/fuse/kernel_rules.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"

namespace temper::graph {
namespace {

// A sum of two tensors of the same sizes, of which one is `value`: the other.
std::string
added_to(const GraphView& view, std::size_t index, const std::string& value) {
  if (view.name(index) != "add" || view.node(index).find("alpha") != nullptr)
    return "";
  const NodeArguments arguments(view.node(index));
  const std::string self = arguments.tensor_name("self");
  const std::string other = arguments.tensor_name("other");
  if (self.empty() || other.empty() || self == other) return "";
  if (self != value && op_name(view.node(index).op).in_place) return "";
  const auto& sizes = view.graph().meta(value).sizes;
  const std::string found = self == value ? other : self;
  return view.is_float(found) && view.graph().meta(found).sizes == sizes ? found
                                                                         : "";
}

// Adds the activation behind `value` to the group, if there is one and nobody
// else looks; the value that the group ends with then.
std::string follow_activation(
    const GraphView& view,
    const std::string& value,
    Fusion& fusion,
    FusedActivation& act) {
  const auto next = view.only_reader(value);
  if (!next || view.taken(*next)) return value;
  act = activation_at(view, *next);
  if (act == FusedActivation::kNone) return value;
  fusion.nodes.push_back(*next);
  return view.result(*next);
}

// A dropout that drops nothing.
bool is_idle_dropout(const GraphView& view, std::size_t index) {
  if (view.name(index) != "dropout" || op_name(view.node(index).op).in_place)
    return false;
  const NodeArguments arguments(view.node(index));
  return arguments.real("p", 0.5) == 0 || !arguments.flag("train", true);
}

// Goes on behind an idle dropout, if one follows.
std::string past_idle_dropout(
    const GraphView& view,
    const std::string& value,
    Fusion& fusion) {
  const auto next = view.only_reader(value);
  if (!next || view.taken(*next) || !is_idle_dropout(view, *next)) return value;
  fusion.nodes.push_back(*next);
  return view.result(*next);
}

// A linear layer may take in the node that makes rows of its images, across an
// idle dropout; not at the graph's beginning, where the batch comes in rows.
Fusion with_its_image(const GraphView& view, const Fusion& linear) {
  Fusion whole = linear;
  whole.kind = FusionKind::kImageLinear;
  whole.parts = {linear};
  for (;;) {
    const std::string value = whole.inputs[0];
    const auto before = view.maker(value);
    if (!before || view.only_reader(value) != whole.nodes.front())
      return linear;
    whole.nodes.insert(whole.nodes.begin(), *before);
    whole.inputs[0] = NodeArguments(view.node(*before)).subject();
    if (makes_rows_of_image(view, *before)) break;
    if (!is_idle_dropout(view, *before)) return linear;
  }
  const bool inside = view.maker(whole.inputs[0]).has_value();
  return inside && view.can_wait(whole) ? whole : linear;
}

// A BatchNorm may have a sum with another branch and an activation behind it.
void follow_norm(const GraphView& view, Fusion& fusion, std::string value) {
  std::string residual;
  const auto next = view.only_reader(value);
  if (next && !view.taken(*next)) {
    residual = added_to(view, *next, value);
    if (!residual.empty()) {
      fusion.nodes.push_back(*next);
      value = view.result(*next);
    }
  }
  fusion.inputs.push_back(residual);
  fusion.output = follow_activation(view, value, fusion, fusion.act);
  if (!follows_norm(fusion.act)) { // it stays LibTorch's
    fusion.nodes.pop_back();
    fusion.act = FusedActivation::kNone;
    fusion.output = value;
  }
  std::sort(fusion.nodes.begin(), fusion.nodes.end());
}

bool add_norm_inputs(const GraphView& view, std::size_t index, Fusion& fusion) {
  const NodeArguments arguments(view.node(index));
  for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
    const std::string value = arguments.tensor_name(name);
    if (!view.is_float(value)) return false;
    fusion.inputs.push_back(value);
  }
  return true;
}

std::optional<Fusion> if_it_can_wait(const GraphView& view, Fusion fusion) {
  if (!view.can_wait(fusion)) return std::nullopt;
  return fusion;
}

} // namespace

FusedActivation activation_at(const GraphView& view, std::size_t index) {
  const std::string name = view.name(index);
  if (name == "relu") return FusedActivation::kRelu;
  if (name == "relu6") return FusedActivation::kRelu6;
  if (name == "hardswish") return FusedActivation::kHardswish;
  if (name == "silu") return FusedActivation::kSilu;
  const NodeArguments arguments(view.node(index));
  if (name == "gelu")
    return arguments.text("approximate", "none") == "tanh"
        ? FusedActivation::kGeluTanh
        : FusedActivation::kGelu;
  if (name == "hardtanh" && arguments.real("min_val", -1) == 0 &&
      arguments.real("max_val", 1) == 6)
    return FusedActivation::kRelu6;
  return FusedActivation::kNone;
}

std::optional<Fusion> conv_norm_act_at(
    const GraphView& view,
    std::size_t index) {
  const auto convolution = convolution_at(view, index);
  if (!convolution) return std::nullopt;
  const NodeArguments arguments(view.node(index));
  const auto norm_index = view.only_reader(view.result(index));
  if (!norm_index || arguments.given("bias")) return std::nullopt;
  const auto norm = norm_at(view, *norm_index);
  if (!norm) return std::nullopt;
  Fusion fusion;
  fusion.kind = FusionKind::kConvNormAct;
  fusion.nodes = {index, *norm_index};
  fusion.inputs = {
      arguments.tensor_name("input"), arguments.tensor_name("weight")};
  if (!add_norm_inputs(view, *norm_index, fusion)) return std::nullopt;
  fusion.convolutions = {*convolution};
  fusion.norms = {*norm};
  follow_norm(view, fusion, view.result(*norm_index));
  return if_it_can_wait(view, std::move(fusion));
}

std::optional<Fusion> norm_act_at(const GraphView& view, std::size_t index) {
  const auto norm = norm_at(view, index);
  if (!norm) return std::nullopt;
  Fusion fusion;
  fusion.kind = FusionKind::kNormAct;
  fusion.nodes = {index};
  fusion.inputs = {NodeArguments(view.node(index)).tensor_name("input")};
  if (!add_norm_inputs(view, index, fusion)) return std::nullopt;
  fusion.norms = {*norm};
  follow_norm(view, fusion, view.result(index));
  return if_it_can_wait(view, std::move(fusion));
}

// A convolution, alone or with the activation and pooling behind it.
std::optional<Fusion> conv_act_pool_at(
    const GraphView& view,
    std::size_t index) {
  const auto convolution = convolution_at(view, index);
  if (!convolution) return std::nullopt;
  const NodeArguments arguments(view.node(index));
  Fusion fusion;
  fusion.kind = FusionKind::kConvolution;
  fusion.nodes = {index};
  fusion.inputs = {
      arguments.tensor_name("input"),
      arguments.tensor_name("weight"),
      arguments.tensor_name("bias")};
  fusion.convolutions = {*convolution};
  fusion.output = view.result(index);

  Fusion pooled = fusion;
  pooled.kind = FusionKind::kConvActPool;
  const std::string active =
      follow_activation(view, fusion.output, pooled, pooled.act);
  const auto pool = view.only_reader(active);
  if (pooled.act == FusedActivation::kRelu && pool && !view.taken(*pool))
    if (const auto side = pool_behind(view, index, *pool)) {
      pooled.nodes.push_back(*pool);
      pooled.pool = *side;
      pooled.output = view.result(*pool);
      if (view.can_wait(pooled)) return pooled;
    }
  return if_it_can_wait(view, std::move(fusion));
}

std::optional<Fusion> mean_pool_at(const GraphView& view, std::size_t index) {
  const auto keeps_plane = mean_over_plane(view, index);
  if (!keeps_plane) return std::nullopt;
  Fusion fusion;
  fusion.kind = FusionKind::kMeanPool;
  fusion.nodes = {index};
  fusion.inputs = {NodeArguments(view.node(index)).subject()};
  fusion.keeps_plane = *keeps_plane;
  fusion.output = view.result(index);
  return if_it_can_wait(view, std::move(fusion));
}

std::optional<Fusion> linear_at(const GraphView& view, std::size_t index) {
  if (view.name(index) != "linear") return std::nullopt;
  const NodeArguments arguments(view.node(index));
  Fusion fusion;
  fusion.kind = FusionKind::kLinear;
  fusion.nodes = {index};
  fusion.inputs = {
      arguments.tensor_name("input"),
      arguments.tensor_name("weight"),
      arguments.tensor_name("bias")};
  if (!view.is_float(fusion.inputs[0]) || !view.is_float(fusion.inputs[1]))
    return std::nullopt;
  const std::string active = past_idle_dropout(
      view,
      follow_activation(view, view.result(index), fusion, fusion.act),
      fusion);
  std::string residual;
  const auto sum = view.only_reader(active);
  if (sum && !view.taken(*sum)) residual = added_to(view, *sum, active);
  fusion.output = active;
  Fusion alone = fusion;
  alone.inputs.push_back("");
  if (!residual.empty()) {
    fusion.inputs.push_back(residual);
    fusion.nodes.push_back(*sum);
    fusion.output = view.result(*sum);
    if (view.can_wait(fusion)) return with_its_image(view, fusion);
  }
  if (!view.can_wait(alone)) return std::nullopt;
  return with_its_image(view, alone);
}

std::optional<Fusion> layer_norm_at(const GraphView& view, std::size_t index) {
  if (view.name(index) != "layer_norm") return std::nullopt;
  const NodeArguments arguments(view.node(index));
  if (arguments.integers("normalized_shape").size() != 1) return std::nullopt;
  Fusion fusion;
  fusion.kind = FusionKind::kLayerNorm;
  fusion.nodes = {index};
  fusion.inputs = {
      arguments.tensor_name("input"),
      arguments.tensor_name("weight"),
      arguments.tensor_name("bias")};
  if (!view.is_float(fusion.inputs.front())) return std::nullopt;
  for (const std::string& value : fusion.inputs)
    if (!value.empty() && !view.is_float(value)) return std::nullopt;
  fusion.eps = arguments.real("eps", 1e-5);
  fusion.output = view.result(index);
  return if_it_can_wait(view, std::move(fusion));
}

std::optional<Fusion> attention_at(const GraphView& view, std::size_t index) {
  if (view.name(index) != "scaled_dot_product_attention") return std::nullopt;
  const NodeArguments arguments(view.node(index));
  if (arguments.given("attn_mask") || arguments.real("dropout_p", 0) != 0)
    return std::nullopt;
  Fusion fusion;
  fusion.kind = FusionKind::kAttention;
  fusion.nodes = {index};
  for (const char* name : {"query", "key", "value"}) {
    const std::string value = arguments.tensor_name(name);
    if (!view.is_image(value)) return std::nullopt; // four dimensions
    fusion.inputs.push_back(value);
  }
  fusion.causal = arguments.flag("is_causal", false);
  if (arguments.given("scale")) fusion.scale = arguments.real("scale", 1);
  fusion.output = view.result(index);
  return if_it_can_wait(view, std::move(fusion));
}

} // namespace temper::graph

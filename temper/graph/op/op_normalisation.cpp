// Normalisation. The native_* forms also give the statistics that the backward
// pass needs.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/weights.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

const Shape& normalised(const NodeShapes& node) {
  const Shape& input = node.tensor("input");
  node.require(
      input.sizes.size() >= 2,
      cat("its input ", sizes_text(input.sizes), " has no channels"));
  for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
    const Shape* each = node.find_tensor(name);
    if (each != nullptr && each->sizes != Ints{input.sizes[1]})
      node.refuse(
          cat("its ",
              name,
              " is ",
              sizes_text(each->sizes),
              ", its input has ",
              plural(input.sizes[1], "channel")));
  }
  return input;
}

void batch_norm(NodeShapes& node) {
  node.give(normalised(node));
}

void native_batch_norm(NodeShapes& node) {
  const Shape& input = normalised(node);
  // Over running statistics nothing is kept.
  const std::int64_t kept = node.flag("training", true) ? input.sizes[1] : 0;
  const Shape statistics{DType::kFloat32, {kept}};
  node.give_all({input, statistics, statistics});
}

void group_norm(NodeShapes& node) {
  const Shape& input = normalised(node);
  const auto groups = node.integer("num_groups");
  node.require(
      groups >= 1 && input.sizes[1] % groups == 0,
      cat(groups, " groups of ", plural(input.sizes[1], "channel")));
  node.give(input);
}

void native_group_norm(NodeShapes& node) {
  const Shape& input = node.tensor("input");
  node.require(!input.sizes.empty(), "its input has no dimensions");
  const Shape statistics{
      input.dtype, {input.sizes.front(), node.integer("group")}};
  node.give_all({input, statistics, statistics});
}

// The last dimensions, which layer_norm runs over; the others are returned.
Ints outer_sizes(const NodeShapes& node, const Shape& input) {
  const Ints inner = node.integers("normalized_shape");
  const auto rank = input.sizes.size();
  const bool fits = inner.size() <= rank &&
      std::equal(inner.begin(),
                 inner.end(),
                 input.sizes.end() - static_cast<std::ptrdiff_t>(inner.size()));
  node.require(
      fits,
      cat("it runs over ",
          sizes_text(inner),
          ", its input is ",
          sizes_text(input.sizes)));
  Ints outer(
      input.sizes.begin(),
      input.sizes.end() - static_cast<std::ptrdiff_t>(inner.size()));
  outer.resize(rank, 1);
  return outer;
}

void layer_norm(NodeShapes& node) {
  const Shape& input = node.tensor("input");
  outer_sizes(node, input);
  node.give(input);
}

void native_layer_norm(NodeShapes& node) {
  const Shape& input = node.tensor("input");
  const Shape statistics{input.dtype, outer_sizes(node, input)};
  node.give_all({input, statistics, statistics});
}

// Two numbers a channel, a group or a row.
void keep_statistics(SavedContext& node, std::int64_t rows) {
  node.keep_bytes(times(
      rows,
      2 * static_cast<std::int64_t>(bytes_of(node.first_tensor().dtype))));
}

void save_batch_norm(SavedContext& node) {
  node.keep("input");
  if (node.flag("training", true))
    keep_statistics(node, node.tensor("input").sizes[1]);
}

void save_instance_norm(SavedContext& node) {
  node.keep("input");
  const Shape& shape = node.tensor("input");
  keep_statistics(node, times(shape.sizes[0], shape.sizes[1]));
}

void save_group_norm(SavedContext& node) {
  node.keep("input");
  keep_statistics(
      node,
      times(
          node.tensor("input").sizes[0],
          node.integer("num_groups", node.integer("group", 1))));
}

void save_layer_norm(SavedContext& node) {
  node.keep("input");
  const Shape& shape = node.tensor("input");
  const Ints inner = node.integers("normalized_shape");
  const auto row = element_count(inner);
  if (row > 0) keep_statistics(node, element_count(shape.sizes) / row);
}

// Decomposed where LibTorch lacks it: x^2 keeps x, the product its factors.
void save_rms_norm(SavedContext& node) {
  node.keep("input");
  if (node.given("weight")) node.keep_bytes(bytes_of(node.tensor("input")));
}

constexpr ModeFlag kBatchNormMode{
    .argument = "training",
    .after = "running_var",
    .noun = "BatchNorm",
    .needs = "running_mean"};
constexpr ModeFlag kInstanceNormMode{
    .argument = "use_input_stats",
    .after = "running_var",
    .noun = "InstanceNorm",
    .needs = "running_mean"};

Operator normalising(ShapeRule shape, SaveRule saved, int flops = 1) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = saved,
      .flops = flops,
      .mixes_types = true};
}

Operator normalising_batches(
    ShapeRule shape,
    SaveRule saved,
    bool moves_statistics,
    int flops = 1) {
  Operator page = normalising(shape, saved, flops);
  page.mode = &kBatchNormMode;
  page.moves_statistics = moves_statistics;
  page.layer = Layer::kBatchNorm;
  return page;
}

// It normalises each sample by itself.
Operator normalising_instances() {
  Operator page = normalising(batch_norm, save_instance_norm, 6);
  page.mode = &kInstanceNormMode;
  page.moves_statistics = true;
  return page;
}

} // namespace

const OperatorRows& normalisation_operators() {
  static const OperatorRows rows{
      {{"batch_norm"},
       normalising_batches(batch_norm, save_batch_norm, true, 4)},
      {{"native_batch_norm", "_native_batch_norm_legit"},
       normalising_batches(native_batch_norm, save_batch_norm, true)},
      // It gives the new statistics as results.
      {{"_native_batch_norm_legit_functional"},
       normalising_batches(native_batch_norm, nullptr, false)},
      {{"_native_batch_norm_legit_no_training"},
       normalising_batches(nullptr, nullptr, false)},
      {{"cudnn_batch_norm", "miopen_batch_norm", "_batch_norm_impl_index"},
       normalising_batches(nullptr, nullptr, true)},
      {{"instance_norm"}, normalising_instances()},
      {{"group_norm"}, normalising(group_norm, save_group_norm, 6)},
      {{"native_group_norm"}, normalising(native_group_norm, save_group_norm)},
      {{"layer_norm"}, normalising(layer_norm, save_layer_norm, 6)},
      {{"native_layer_norm"}, normalising(native_layer_norm, save_layer_norm)},
      {{"rms_norm"}, normalising(layer_norm, save_rms_norm, 4)},
      {{"_batch_norm_no_update",
        "_batch_norm_with_update",
        "_batch_norm_with_update_functional",
        "_fused_rms_norm",
        "_weight_norm",
        "_weight_norm_interface"},
       normalising(nullptr, nullptr)},
  };
  return rows;
}

} // namespace temper::graph

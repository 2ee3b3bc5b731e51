// Normalisation. The native_* forms also give the statistics that the backward
// pass needs.
#include "temper/base/text.h"
#include "temper/graph/infer/infer_rules.h"

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

} // namespace

const ShapeRules& normalisation_rules() {
  static const ShapeRules rules{
      {"batch_norm", batch_norm},
      {"instance_norm", batch_norm},
      {"native_batch_norm", native_batch_norm},
      {"_native_batch_norm_legit", native_batch_norm},
      {"_native_batch_norm_legit_functional", native_batch_norm},
      {"group_norm", group_norm},
      {"native_group_norm", native_group_norm},
      {"layer_norm", layer_norm},
      {"rms_norm", layer_norm},
      {"native_layer_norm", native_layer_norm},
  };
  return rules;
}

} // namespace temper::graph

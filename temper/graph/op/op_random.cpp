// Random numbers: dropout, and tensors that are drawn over another one. Those
// out of nothing are in op_creation.cpp.
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

// Dropout that drops nothing hands its input on.
bool drops(const NodeArguments& node) {
  return node.flag("train", true) && node.real("p", 0.5) > 0;
}

std::optional<Ints> unless_it_drops(
    const NodeArguments& node,
    const ViewOf& view) {
  if (drops(node)) return std::nullopt;
  return view.strides;
}

// On the CPU the mask has the input's type.
void save_dropout(SavedContext& node) {
  if (drops(node)) node.keep_bytes(bytes_of(node.first_tensor()));
}

void save_feature_dropout(SavedContext& node) {
  const Shape& shape = node.first_tensor();
  if (drops(node) && shape.sizes.size() >= 2)
    node.keep_bytes(
        bytes_of(Shape{shape.dtype, {shape.sizes[0], shape.sizes[1]}}));
}

constexpr ModeFlag kDropoutMode{
    .argument = "train",
    .after = "p",
    .noun = "dropout"};

Operator dropping(SaveRule saved, int flops = 1) {
  return {
      .shape = like_first,
      .memory = unless_it_drops,
      .gradient = Gradient::kComputed,
      .saved = saved,
      .flops = flops,
      .random = drops,
      .mode = &kDropoutMode,
      .dimensions = Dimensions::kKept};
}

Operator drawing(ShapeRule shape, Gradient gradient) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = gradient,
      .random = always_draws};
}

} // namespace

const OperatorRows& random_operators() {
  static const OperatorRows rows{
      {{"dropout"}, on_any_threads(dropping(save_dropout, 2))},
      {{"alpha_dropout"}, dropping(save_dropout)},
      {{"feature_dropout"}, on_any_threads(dropping(save_feature_dropout))},
      {{"feature_alpha_dropout"}, dropping(nullptr)},
      // Idle, it makes a copy.
      {{"native_dropout"},
       {.memory = fresh,
        .gradient = Gradient::kComputed,
        .random = drops,
        .mode = &kDropoutMode}},
      {{"bernoulli"}, drawing(like_first, Gradient::kCut)},
      {{"uniform", "normal", "random", "exponential"},
       drawing(like_first, Gradient::kComputed)},
      {{"cauchy",
        "geometric",
        "log_normal",
        "multinomial",
        "normal_functional",
        "poisson"},
       drawing(nullptr, Gradient::kComputed)},
  };
  return rows;
}

} // namespace temper::graph

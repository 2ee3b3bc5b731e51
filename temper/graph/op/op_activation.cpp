// Functions of one tensor: activations, and what else is computed element by
// element or along one dimension.
#include "temper/base/text.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

void elementwise_truth(NodeShapes& node) {
  node.give(DType::kBool, node.first_tensor().sizes);
}

void glu(NodeShapes& node) {
  Shape shape = node.first_tensor();
  auto& size =
      shape.sizes.at(node.axis(node.integer("dim", -1), shape.sizes.size()));
  node.require(size % 2 == 0, cat("a size of ", size, " has no halves"));
  size /= 2;
  node.give(shape);
}

void save_slopes(SavedContext& node) {
  node.keep_input();
  node.keep("weight");
}

bool draws_when_training(const NodeArguments& node) {
  return node.flag("training", false);
}

constexpr ModeFlag kRreluMode{
    .argument = "training",
    .after = "upper",
    .noun = "rrelu",
    .off_by_default = true};

Operator unary(ShapeRule shape, SaveRule saved = nullptr, int flops = 1) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = saved,
      .flops = flops,
      .dimensions = Dimensions::kKept};
}

// Steps: their slope is zero wherever they have one.
Operator flat(ShapeRule shape) {
  Operator page = unary(shape);
  page.gradient = Gradient::kCut;
  return page;
}

Operator random_slopes(ShapeRule shape) {
  Operator page = unary(shape);
  page.random = draws_when_training;
  page.mode = &kRreluMode;
  return page;
}

} // namespace

const OperatorRows& activation_operators() {
  static const OperatorRows rows{
      {{"relu"}, on_any_threads(unary(like_first, save_result))},
      {{"leaky_relu"}, on_any_threads(unary(like_first, save_input_or_result))},
      {{"elu", "celu", "selu", "threshold"},
       unary(like_first, save_input_or_result)},
      {{"relu6", "hardtanh", "abs"},
       on_any_threads(unary(like_first, save_input))},
      {{"hardsigmoid", "softplus", "hardshrink", "softshrink", "square"},
       unary(like_first, save_input)},
      {{"hardswish"}, unary(like_first, save_input, 3)},
      {{"silu"}, unary(like_first, save_input, 5)},
      {{"gelu", "mish"}, unary(like_first, save_input, 8)},
      {{"neg", "negative"}, on_any_threads(unary(like_first))},
      {{"softsign", "nan_to_num", "erfinv", "trunc"}, unary(like_first)},
      {{"rrelu"}, random_slopes(like_first)},
      {{"rrelu_with_noise", "rrelu_with_noise_functional"},
       random_slopes(nullptr)},
      // A slope for each channel lies beside it.
      {{"prelu"},
       {.shape = like_first,
        .memory = fresh,
        .gradient = Gradient::kComputed,
        .saved = save_slopes}},
      {{"glu"},
       {.shape = glu,
        .memory = fresh,
        .gradient = Gradient::kComputed,
        .saved = save_input}},
      {{"sigmoid", "exp"}, unary(like_first_real, save_result, 4)},
      {{"tanh"}, unary(like_first_real, save_result, 6)},
      {{"sqrt"}, on_any_threads(unary(like_first_real, save_result))},
      {{"expm1", "rsqrt", "reciprocal"}, unary(like_first_real, save_result)},
      {{"log", "log2", "log10", "log1p", "log_sigmoid", "sin", "cos", "erf"},
       unary(like_first_real, save_input)},
      {{"tan", "erfc", "atan", "asin", "acos", "sinh", "cosh", "logit"},
       unary(like_first_real)},
      {{"softmax", "log_softmax"}, unary(like_first_typed, save_result, 5)},
      {{"_softmax", "_log_softmax"}, unary(like_first, save_result)},
      {{"_safe_softmax"}, unary(nullptr)},
      {{"cumsum", "cumprod"},
       {.shape = running_sum,
        .memory = fresh,
        .gradient = Gradient::kComputed}},
      {{"sign", "round", "floor", "ceil"}, flat(like_first)},
      {{"logical_not", "isnan", "isinf", "isposinf", "isneginf", "isfinite"},
       flat(elementwise_truth)},
      {{"bitwise_not"}, flat(like_first)},
  };
  return rows;
}

} // namespace temper::graph

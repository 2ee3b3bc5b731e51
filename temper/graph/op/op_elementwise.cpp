// Arithmetic and comparisons, element by element, with broadcasting.
#include <algorithm>
#include <iterator>

#include "temper/base/text.h"
#include "temper/graph/op/dtype_promotion.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

// Arguments that take part in broadcasting; alpha, rounding_mode and the like
// do not.
bool is_operand(const std::string& name) {
  constexpr std::string_view kOperands[] = {
      "self",
      "other",
      "input",
      "exponent",
      "tensor1",
      "tensor2",
      "end",
      "weight",
      "min",
      "max",
      "mask",
      "condition",
      "source",
      "target"};
  return std::ranges::find(kOperands, name) != std::end(kOperands);
}

struct Operands {
  Ints sizes;
  DType dtype = DType::kFloat32;
};

// The type of a number among the arguments; no value for what is none.
std::optional<DType> number_type(const Argument& argument) {
  if (std::holds_alternative<double>(argument)) return DType::kFloat32;
  if (std::holds_alternative<bool>(argument)) return DType::kBool;
  if (std::holds_alternative<std::int64_t>(argument)) return DType::kInt64;
  const auto* computed = std::get_if<NumberName>(&argument);
  if (computed == nullptr) return std::nullopt;
  if (computed->kind == NumberKind::kFloat) return DType::kFloat32;
  if (computed->kind == NumberKind::kBool) return DType::kBool;
  return DType::kInt64;
}

Operands operands(const NodeShapes& node, bool mask_has_type) {
  std::vector<Ints> shapes;
  Promotion promotion;
  for (const auto& input : node.node().inputs) {
    if (!is_operand(input.name)) continue;
    const bool typed =
        mask_has_type || (input.name != "mask" && input.name != "condition");
    if (const Shape* shape = node.shape_of(input.value)) {
      shapes.push_back(shape->sizes);
      if (typed) promotion.add_tensor(shape->dtype, !shape->sizes.empty());
    } else if (const auto type = number_type(input.value)) {
      promotion.add_number(*type);
    }
  }
  const auto sizes = broadcast(shapes);
  if (!sizes) {
    std::vector<std::string> texts;
    for (const auto& shape : shapes)
      texts.push_back(sizes_text(shape));
    node.refuse(cat(join(texts, " and "), " do not go together"));
  }
  return {*sizes, promotion.result()};
}

void give_operands(NodeShapes& node, const Operands& result, DType dtype) {
  if (!op_name(node.node().op).in_place) {
    node.give(dtype, result.sizes);
    return;
  }
  const Shape& self = node.first_tensor();
  node.require(
      self.sizes == result.sizes,
      cat("in place, ",
          sizes_text(self.sizes),
          " cannot become ",
          sizes_text(result.sizes)));
  node.give(self);
}

void arithmetic(NodeShapes& node) {
  const Operands result = operands(node, false);
  give_operands(node, result, result.dtype);
}

// Integers become floats.
void real_arithmetic(NodeShapes& node) {
  const Operands result = operands(node, false);
  give_operands(node, result, float_of(result.dtype));
}

void divide(NodeShapes& node) {
  if (node.given("rounding_mode"))
    arithmetic(node);
  else
    real_arithmetic(node);
}

void compare(NodeShapes& node) {
  give_operands(node, operands(node, true), DType::kBool);
}

void masked_fill(NodeShapes& node) {
  const Shape& self = node.tensor("self");
  const auto sizes = broadcast({self.sizes, node.tensor("mask").sizes});
  node.require(
      sizes.has_value(),
      cat("a mask of ",
          sizes_text(node.tensor("mask").sizes),
          " over ",
          sizes_text(self.sizes)));
  node.give(self.dtype, *sizes);
}

void save_multiply(SavedContext& node) {
  if (node.wanted("other")) node.keep_input();
  if (node.wanted("self")) node.keep("other");
}

void save_divide(SavedContext& node) {
  if (node.wanted("other")) node.keep_input();
  node.keep("other");
}

void save_raise(SavedContext& node) {
  node.keep_input();
  if (node.find_tensor("exponent") == nullptr) return;
  node.keep("exponent");
  node.keep_result();
}

void save_factors(SavedContext& node) {
  if (node.wanted("tensor2")) node.keep("tensor1");
  if (node.wanted("tensor1")) node.keep("tensor2");
}

void save_mask(SavedContext& node) {
  node.keep("mask");
}

void save_condition(SavedContext& node) {
  node.keep("condition");
}

Operator pairwise(ShapeRule shape, SaveRule saved = nullptr) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = saved};
}

// With a plain number beside it in many programs.
Operator with_number(ShapeRule shape, SaveRule saved = nullptr) {
  Operator page = pairwise(shape, saved);
  page.arithmetic = true;
  return page;
}

// The page of an operator on two tensors that stretch over each other.
Operator spread(
    ShapeRule shape,
    SaveRule saved,
    Gradient gradient = Gradient::kComputed) {
  Operator page = with_number(shape, saved);
  page.gradient = gradient;
  page.dimensions = Dimensions::kBroadcast;
  return page;
}

// One rounding each; the gradient of what stretches is a sum.
Operator stretching(Operator page) {
  page.threads = Threads::kMatterWhereSpread;
  return page;
}

Operator bounding() {
  Operator page = pairwise(arithmetic, save_input);
  page.dimensions = Dimensions::kKept;
  return page;
}

// Truths and whole numbers have no gradient.
Operator whole_results(ShapeRule shape) {
  return {.shape = shape, .memory = fresh, .gradient = Gradient::kCut};
}

} // namespace

const OperatorRows& elementwise_operators() {
  static const OperatorRows rows{
      {{"add", "sub", "subtract"},
       stretching(spread(arithmetic, nullptr, Gradient::kHandedOn))},
      {{"mul", "multiply"}, stretching(spread(arithmetic, save_multiply))},
      {{"div", "divide"}, stretching(spread(divide, save_divide))},
      {{"true_divide"}, spread(real_arithmetic, save_divide)},
      {{"rsub"}, stretching(with_number(arithmetic))},
      {{"floor_divide", "remainder", "fmod"}, with_number(arithmetic)},
      {{"pow"}, with_number(arithmetic, save_raise)},
      {{"maximum", "minimum"}, pairwise(arithmetic, save_both)},
      {{"fmax", "fmin", "lerp", "addcdiv"}, pairwise(arithmetic)},
      {{"addcmul"}, pairwise(arithmetic, save_factors)},
      {{"atan2"}, pairwise(real_arithmetic, save_both)},
      {{"clamp", "clip", "clamp_min", "clamp_max"}, on_any_threads(bounding())},
      {{"where"}, pairwise(arithmetic, save_condition)},
      {{"masked_fill"}, pairwise(masked_fill, save_mask)},
      {{"bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "__and__",
        "__or__",
        "__xor__"},
       whole_results(arithmetic)},
      {{"eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "logical_and",
        "logical_or",
        "logical_xor",
        "isclose"},
       whole_results(compare)},
  };
  return rows;
}

} // namespace temper::graph

// Operators that work element by element, with broadcasting, and those whose
// result looks like their input.
#include "temper/base/text.h"
#include "temper/graph/infer/dtype_promotion.h"
#include "temper/graph/infer/infer_rules.h"
#include "temper/graph/ir/op_name.h"

namespace temper::graph {
namespace {

// Arguments that take part in broadcasting; alpha, rounding_mode and the like
// do not.
bool is_operand(const std::string& name) {
  for (const char* operand :
       {"self",
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
        "target"})
    if (name == operand) return true;
  return false;
}

struct Operands {
  Ints sizes;
  DType dtype = DType::kFloat32;
};

// The type of a number; no value when the argument is not a number.
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

void like_first_real(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  node.give(
      node.dtype().value_or(
          op_name(node.node().op).in_place ? input.dtype
                                           : float_of(input.dtype)),
      input.sizes);
}

// softmax, cumsum and to: another type when one is asked for.
void like_first_typed(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  node.give(node.dtype().value_or(input.dtype), input.sizes);
}

void running_sum(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  const DType natural = is_floating(input.dtype) ? input.dtype : DType::kInt64;
  node.give(node.dtype().value_or(natural), input.sizes);
}

// to.dtype, to.device and to.other have their types in different places.
void convert(NodeShapes& node) {
  const Shape* other = node.find_tensor("other");
  const Shape& input = node.first_tensor();
  node.give(
      other != nullptr ? other->dtype : node.dtype().value_or(input.dtype),
      input.sizes);
}

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

} // namespace

std::optional<Ints> broadcast(const std::vector<Ints>& shapes) {
  Ints result;
  for (const auto& shape : shapes) {
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    for (std::size_t i = 1; i <= shape.size(); ++i) {
      const auto size = shape[shape.size() - i];
      auto& widest = result[result.size() - i];
      if (size == widest || size == 1) continue;
      if (widest != 1) return std::nullopt;
      widest = size;
    }
  }
  return result;
}

void like_first(NodeShapes& node) {
  node.give(node.first_tensor());
}

const ShapeRules& elementwise_rules() {
  static const ShapeRules rules = [] {
    ShapeRules all{
        {"div", divide},
        {"divide", divide},
        {"true_divide", real_arithmetic},
        {"atan2", real_arithmetic},
        {"masked_fill", masked_fill},
        {"softmax", like_first_typed},
        {"log_softmax", like_first_typed},
        {"_softmax", like_first},
        {"_log_softmax", like_first},
        {"cumsum", running_sum},
        {"cumprod", running_sum},
        {"to", convert},
        {"_to_copy", convert},
        {"type_as", convert},
        {"glu", glu},
    };
    for (const char* name :
         {"add",          "sub",         "rsub",       "mul",
          "multiply",     "subtract",    "pow",        "maximum",
          "minimum",      "fmax",        "fmin",       "remainder",
          "fmod",         "where",       "lerp",       "addcmul",
          "addcdiv",      "clamp",       "clip",       "clamp_min",
          "clamp_max",    "bitwise_and", "bitwise_or", "bitwise_xor",
          "floor_divide", "__and__",     "__or__",     "__xor__"})
      all.push_back({name, arithmetic});
    for (const char* name :
         {"eq",
          "ne",
          "lt",
          "le",
          "gt",
          "ge",
          "logical_and",
          "logical_or",
          "logical_xor",
          "isclose"})
      all.push_back({name, compare});
    for (const char* name :
         {"sigmoid", "tanh",  "exp",        "expm1", "log",        "log2",
          "log10",   "log1p", "sqrt",       "rsqrt", "sin",        "cos",
          "tan",     "erf",   "erfc",       "atan",  "asin",       "acos",
          "sinh",    "cosh",  "reciprocal", "logit", "log_sigmoid"})
      all.push_back({name, like_first_real});
    for (const char* name :
         {"logical_not", "isnan", "isinf", "isposinf", "isneginf", "isfinite"})
      all.push_back({name, elementwise_truth});
    for (const char* name :
         {"relu",
          "relu6",
          "hardtanh",
          "hardswish",
          "hardsigmoid",
          "silu",
          "gelu",
          "elu",
          "selu",
          "celu",
          "leaky_relu",
          "prelu",
          "mish",
          "softplus",
          "softsign",
          "hardshrink",
          "softshrink",
          "threshold",
          "rrelu",
          "abs",
          "neg",
          "negative",
          "sign",
          "round",
          "floor",
          "ceil",
          "trunc",
          "square",
          "clone",
          "contiguous",
          "detach",
          "alias",
          "lift_fresh_copy",
          "lift_fresh",
          "dropout",
          "alpha_dropout",
          "feature_dropout",
          "feature_alpha_dropout",
          "bernoulli",
          "uniform",
          "normal",
          "fill",
          "zero",
          "copy",
          "tril",
          "triu",
          "flip",
          "roll",
          "bitwise_not",
          "nan_to_num",
          "erfinv",
          "requires_grad",
          "random",
          "exponential"})
      all.push_back({name, like_first});
    return all;
  }();
  return rules;
}

} // namespace temper::graph

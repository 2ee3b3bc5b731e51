// Numbers the graph computes: sizes of tensors, and arithmetic on them as
// Python does it.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/ir/weights.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

void size(NodeShapes& node) {
  const Shape& self = node.tensor("self");
  const auto axis = node.axis(node.integer("dim"), self.sizes.size());
  node.require(axis < self.sizes.size(), "its tensor has no dimensions");
  node.give_number(self.sizes[axis]);
}

void elements(NodeShapes& node) {
  node.give_number(element_count(node.first_tensor().sizes));
}

std::int64_t operand(const NodeShapes& node, std::size_t index) {
  const auto& inputs = node.node().inputs;
  const auto number = index < inputs.size()
      ? node.number_of(inputs[index].value)
      : std::nullopt;
  node.require(number.has_value(), "it wants whole numbers");
  return *number;
}

void keep(NodeShapes& node, bool overflow, std::int64_t number) {
  node.require(!overflow, "the number is too large");
  node.give_number(number);
}

void add(NodeShapes& node) {
  std::int64_t sum = 0;
  const bool overflow =
      __builtin_add_overflow(operand(node, 0), operand(node, 1), &sum);
  keep(node, overflow, sum);
}

void subtract(NodeShapes& node) {
  std::int64_t rest = 0;
  const bool overflow =
      __builtin_sub_overflow(operand(node, 0), operand(node, 1), &rest);
  keep(node, overflow, rest);
}

void multiply_numbers(NodeShapes& node) {
  std::int64_t product = 0;
  const bool overflow =
      __builtin_mul_overflow(operand(node, 0), operand(node, 1), &product);
  keep(node, overflow, product);
}

void negate(NodeShapes& node) {
  std::int64_t rest = 0;
  const bool overflow =
      __builtin_sub_overflow(std::int64_t{0}, operand(node, 0), &rest);
  keep(node, overflow, rest);
}

// Towards minus infinity, as Python's // and % do.
void divide_numbers(NodeShapes& node) {
  const auto a = operand(node, 0);
  const auto b = operand(node, 1);
  node.require(b != 0 && !(a == INT64_MIN && b == -1), "it divides by zero");
  node.give_number(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
}

void remainder(NodeShapes& node) {
  const auto a = operand(node, 0);
  const auto b = operand(node, 1);
  node.require(b != 0 && !(a == INT64_MIN && b == -1), "it divides by zero");
  const auto rest = a % b;
  node.give_number(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

void smaller(NodeShapes& node) {
  node.give_number(std::min(operand(node, 0), operand(node, 1)));
}

void larger(NodeShapes& node) {
  node.give_number(std::max(operand(node, 0), operand(node, 1)));
}

void no_number(NodeShapes&) {}

// Numbers lie in no memory, and no gradient flows through them.
Operator counting(ShapeRule shape, bool only_checks = false) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kCut,
      .of_numbers = true,
      .only_checks = only_checks};
}

} // namespace

const OperatorRows& number_operators() {
  static const OperatorRows rows{
      {{"sym_size"}, counting(size)},
      {{"sym_numel"}, counting(elements)},
      {{"sym_constrain_range", "sym_constrain_range_for_size"},
       counting(no_number, true)},
      {{"torch.sym_min"}, counting(smaller)},
      {{"torch.sym_max"}, counting(larger)},
      {{"_operator.add"}, counting(add)},
      {{"_operator.sub"}, counting(subtract)},
      {{"_operator.mul"}, counting(multiply_numbers)},
      {{"_operator.neg"}, counting(negate)},
      {{"_operator.floordiv"}, counting(divide_numbers)},
      {{"_operator.mod"}, counting(remainder)},
      // Truths, floats and what no size is made of.
      {{"sym_storage_offset", "sym_stride",      "_operator.and_",
        "_operator.eq",       "_operator.ge",    "_operator.gt",
        "_operator.le",       "_operator.lt",    "_operator.ne",
        "_operator.or_",      "_operator.pos",   "_operator.pow",
        "_operator.truediv",  "math.ceil",       "math.floor",
        "math.trunc",         "torch._sym_sqrt", "torch.sym_float",
        "torch.sym_int",      "torch.sym_not"},
       counting(nullptr)},
  };
  return rows;
}

} // namespace temper::graph

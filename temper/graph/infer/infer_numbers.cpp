// Numbers the graph computes: sizes of tensors, and arithmetic on them as
// Python does it.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/infer/infer_rules.h"
#include "temper/graph/ir/weights.h"

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

} // namespace

const ShapeRules& number_rules() {
  static const ShapeRules rules{
      {"sym_size", size},
      {"sym_numel", elements},
      {"sym_min", smaller},
      {"sym_max", larger},
      {"sym_constrain_range", no_number},
      {"sym_constrain_range_for_size", no_number},
      {"add", add},
      {"sub", subtract},
      {"mul", multiply_numbers},
      {"neg", negate},
      {"floordiv", divide_numbers},
      {"mod", remainder},
  };
  return rules;
}

} // namespace temper::graph

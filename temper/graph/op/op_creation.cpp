// Tensors out of nothing but numbers.
#include <cmath>

#include "temper/base/text.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

void filled(NodeShapes& node) {
  node.give(node.dtype().value_or(DType::kFloat32), node.integers("size", {}));
}

// full() takes the type of its number.
DType fill_type(const NodeShapes& node, const char* name) {
  const Argument* value = node.node().find(name);
  if (value == nullptr) return DType::kFloat32;
  if (std::holds_alternative<bool>(*value)) return DType::kBool;
  return node.number_of(*value) ? DType::kInt64 : DType::kFloat32;
}

void full(NodeShapes& node) {
  const DType natural = fill_type(node, "fill_value");
  node.give(node.dtype().value_or(natural), node.integers("size", {}));
}

void filled_like(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  node.give(node.dtype().value_or(input.dtype), input.sizes);
}

void new_filled(NodeShapes& node) {
  const DType natural = node.first_tensor().dtype;
  node.give(node.dtype().value_or(natural), node.integers("size", {}));
}

void scalar(NodeShapes& node) {
  node.give(node.dtype().value_or(DType::kFloat32), {});
}

void arange(NodeShapes& node) {
  const double start = node.real("start", 0);
  const double end = node.real("end", 0);
  const double step = node.real("step", 1);
  node.require(
      step != 0 && (end - start) / step >= 0,
      cat("from ", start, " to ", end, " in steps of ", step));
  const double count = std::ceil((end - start) / step);
  node.require(count < 1e15, cat(count, " numbers"));
  bool whole = true;
  for (const char* name : {"start", "end", "step"}) {
    const Argument* bound = node.node().find(name);
    if (bound != nullptr && std::holds_alternative<double>(*bound))
      whole = false;
  }
  node.give(
      node.dtype().value_or(whole ? DType::kInt64 : DType::kFloat32),
      {static_cast<std::int64_t>(count)});
}

void linspace(NodeShapes& node) {
  node.give(node.dtype().value_or(DType::kFloat32), {node.integer("steps")});
}

void eye(NodeShapes& node) {
  const auto rows = node.integer("n");
  node.give(
      node.dtype().value_or(DType::kFloat32), {rows, node.integer("m", rows)});
}

void meshgrid(NodeShapes& node) {
  const auto lines = node.tensors("tensors");
  Ints sizes;
  for (const auto& line : lines)
    sizes.push_back(line.sizes.empty() ? 1 : line.sizes.front());
  if (node.text("indexing", "ij") == "xy" && sizes.size() >= 2)
    std::swap(sizes[0], sizes[1]);
  std::vector<Shape> grids;
  for (const auto& line : lines)
    grids.push_back({line.dtype, sizes});
  node.give_all(grids);
}

// Checks the exporter left behind: they make nothing.
void no_result(NodeShapes&) {}

Operator making(
    ShapeRule shape,
    ToldSizes told = ToldSizes::kNone,
    int flops = 1,
    RandomRule random = nullptr) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kCut,
      .flops = flops,
      .random = random,
      .told = told};
}

} // namespace

const OperatorRows& creation_operators() {
  static const OperatorRows rows{
      {{"zeros", "ones"},
       on_any_threads(making(filled, ToldSizes::kAnywhere, 0))},
      {{"full"}, on_any_threads(making(full, ToldSizes::kAnywhere, 0))},
      {{"empty"}, making(filled, ToldSizes::kAnywhere)},
      {{"rand", "randn"},
       making(filled, ToldSizes::kAnywhere, 1, always_draws)},
      {{"randint", "randperm"},
       making(nullptr, ToldSizes::kAnywhere, 1, always_draws)},
      {{"zeros_like", "ones_like", "empty_like", "full_like"},
       making(filled_like)},
      {{"rand_like", "randn_like"},
       making(filled_like, ToldSizes::kNone, 1, always_draws)},
      {{"randint_like"}, making(nullptr, ToldSizes::kNone, 1, always_draws)},
      {{"new_zeros", "new_ones", "new_empty", "new_full"},
       making(new_filled, ToldSizes::kAnywhere)},
      {{"scalar_tensor"}, on_any_threads(making(scalar))},
      {{"arange"}, on_any_threads(making(arange, ToldSizes::kAnywhere))},
      {{"linspace"}, making(linspace, ToldSizes::kAnywhere)},
      {{"eye"}, making(eye, ToldSizes::kAnywhere)},
      {{"meshgrid"},
       {.shape = meshgrid, .memory = fresh, .gradient = Gradient::kComputed}},
      {{"_assert_scalar", "_assert_tensor_metadata", "_assert_async"},
       {.shape = no_result,
        .memory = fresh,
        .gradient = Gradient::kCut,
        .only_checks = true}},
  };
  return rows;
}

} // namespace temper::graph

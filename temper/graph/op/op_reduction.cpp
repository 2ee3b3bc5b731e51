// Operators that shrink dimensions to one number each: sums, means, extremes.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/op/dtype_promotion.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

// Without dimensions named, all of them go.
Ints reduced(const NodeShapes& node, const Shape& input) {
  const Ints dims = node.integers("dim", {});
  const auto rank = input.sizes.size();
  std::vector<bool> gone(std::max<std::size_t>(rank, 1), dims.empty());
  for (const auto dim : dims)
    gone[node.axis(dim, rank)] = true;
  const bool keep = node.flag("keepdim", false);
  Ints sizes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (!gone[i]) sizes.push_back(input.sizes[i]);
    if (gone[i] && keep) sizes.push_back(1);
  }
  return sizes;
}

void same_type(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  node.give(node.dtype().value_or(input.dtype), reduced(node, input));
}

void real(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  node.give(node.dtype().value_or(float_of(input.dtype)), reduced(node, input));
}

// Sums of integers are int64.
void sum(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  const DType natural = is_floating(input.dtype) ? input.dtype : DType::kInt64;
  node.give(node.dtype().value_or(natural), reduced(node, input));
}

// The result for bytes is a byte, for the sake of old programs.
void reduced_truth(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  const bool byte = input.dtype == DType::kUint8;
  node.give(byte ? DType::kUint8 : DType::kBool, reduced(node, input));
}

void position(NodeShapes& node) {
  node.give(DType::kInt64, reduced(node, node.first_tensor()));
}

void two_moments(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  const Shape moment{input.dtype, reduced(node, input)};
  node.give_all({moment, moment});
}

// max() has three faces: of all, along a dimension, of two tensors.
void extreme(NodeShapes& node) {
  const Shape& self = node.first_tensor();
  if (const Shape* other = node.find_tensor("other")) {
    const auto sizes = broadcast({self.sizes, other->sizes});
    node.require(
        sizes.has_value(),
        cat(sizes_text(self.sizes),
            " and ",
            sizes_text(other->sizes),
            " do not go together"));
    Promotion promotion;
    promotion.add_tensor(self.dtype, !self.sizes.empty());
    promotion.add_tensor(other->dtype, !other->sizes.empty());
    node.give(promotion.result(), *sizes);
    return;
  }
  const Ints sizes = reduced(node, self);
  if (node.given("dim"))
    node.give_all({{self.dtype, sizes}, {DType::kInt64, sizes}});
  else
    node.give(self.dtype, sizes);
}

void top(NodeShapes& node) {
  Shape shape = node.first_tensor();
  const auto axis = node.axis(node.integer("dim", -1), shape.sizes.size());
  const auto count = node.integer("k");
  if (!shape.sizes.empty()) {
    node.require(
        count >= 0 && count <= shape.sizes[axis],
        cat("the top ", count, " of ", shape.sizes[axis]));
    shape.sizes[axis] = count;
  }
  node.give_all({shape, {DType::kInt64, shape.sizes}});
}

void sorted(NodeShapes& node) {
  const Shape& shape = node.first_tensor();
  node.give_all({shape, {DType::kInt64, shape.sizes}});
}

void ranks(NodeShapes& node) {
  node.give(DType::kInt64, node.first_tensor().sizes);
}

void save_extreme(SavedContext& node) {
  if (node.find_tensor("other") != nullptr) {
    save_both(node);
  } else if (node.given("dim")) {
    node.keep_bytes(bytes_of(Shape{DType::kInt64, node.result().sizes}));
  } else {
    save_input_and_result(node);
  }
}

void save_positions_found(SavedContext& node) {
  node.keep_bytes(bytes_of(Shape{DType::kInt64, node.result().sizes}));
}

Operator reducing(ShapeRule shape, SaveRule saved = nullptr) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = saved,
      .dimensions = Dimensions::kReduced};
}

Operator finding(ShapeRule shape) {
  Operator page = reducing(shape);
  page.gradient = Gradient::kCut;
  return page;
}

// Values with their places.
Operator choosing(ShapeRule shape, SaveRule saved = nullptr) {
  Operator page = reducing(shape, saved);
  page.dimensions = Dimensions::kOther;
  return page;
}

} // namespace

const OperatorRows& reduction_operators() {
  static const OperatorRows rows{
      {{"mean"}, reducing(real)},
      {{"var"}, reducing(real, save_input)},
      {{"std", "norm", "linalg_vector_norm", "logsumexp"},
       reducing(real, save_input_and_result)},
      {{"sum"}, reducing(sum)},
      {{"prod"}, reducing(sum, save_input_and_result)},
      {{"amax", "amin"}, reducing(same_type, save_input_and_result)},
      {{"any", "all"}, finding(reduced_truth)},
      {{"argmax", "argmin"}, finding(position)},
      {{"median"}, choosing(extreme)},
      {{"max", "min"}, choosing(extreme, save_extreme)},
      {{"var_mean"}, choosing(two_moments, save_input)},
      {{"std_mean"}, choosing(two_moments)},
      {{"topk"}, choosing(top, save_positions_found)},
      {{"sort"}, choosing(sorted, save_positions_found)},
      {{"argsort"},
       {.shape = ranks, .memory = fresh, .gradient = Gradient::kCut}},
  };
  return rows;
}

} // namespace temper::graph

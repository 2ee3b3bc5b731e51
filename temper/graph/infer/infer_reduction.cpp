// Operators that shrink dimensions to one number each: sums, means, extremes.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/infer/dtype_promotion.h"
#include "temper/graph/infer/infer_rules.h"

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

// reduction: 0 none, 1 mean, 2 sum.
void loss(NodeShapes& node) {
  const Shape& self = node.first_tensor();
  Ints sizes;
  if (node.integer("reduction", 1) == 0) sizes = self.sizes;
  node.give(self.dtype, sizes);
}

// One loss a sample, or a pixel: the channels go.
void class_loss(NodeShapes& node) {
  Shape shape = node.first_tensor();
  if (node.integer("reduction", 1) != 0)
    shape.sizes.clear();
  else if (!shape.sizes.empty())
    shape.sizes.erase(shape.sizes.begin() + (shape.sizes.size() > 1 ? 1 : 0));
  node.give(shape);
}

} // namespace

const ShapeRules& reduction_rules() {
  static const ShapeRules rules{
      {"mean", real},
      {"var", real},
      {"std", real},
      {"norm", real},
      {"linalg_vector_norm", real},
      {"logsumexp", real},
      {"sum", sum},
      {"prod", sum},
      {"amax", same_type},
      {"amin", same_type},
      {"median", extreme},
      {"max", extreme},
      {"min", extreme},
      {"any", reduced_truth},
      {"all", reduced_truth},
      {"argmax", position},
      {"argmin", position},
      {"var_mean", two_moments},
      {"std_mean", two_moments},
      {"topk", top},
      {"sort", sorted},
      {"argsort", ranks},
      {"mse_loss", loss},
      {"l1_loss", loss},
      {"smooth_l1_loss", loss},
      {"huber_loss", loss},
      {"binary_cross_entropy", loss},
      {"binary_cross_entropy_with_logits", loss},
      {"kl_div", loss},
      {"cross_entropy_loss", class_loss},
      {"nll_loss", class_loss},
      {"nll_loss_nd", class_loss},
      {"nll_loss2d", class_loss},
  };
  return rules;
}

} // namespace temper::graph

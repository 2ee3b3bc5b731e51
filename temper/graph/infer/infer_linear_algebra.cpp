// Products of matrices: linear layers, matmul and its relatives, attention.
#include <algorithm>
#include <map>

#include "temper/base/text.h"
#include "temper/graph/infer/dtype_promotion.h"
#include "temper/graph/infer/infer_rules.h"

namespace temper::graph {
namespace {

void require_product(
    const NodeShapes& node,
    bool fits,
    const Shape& left,
    const Shape& right) {
  node.require(
      fits,
      cat(sizes_text(left.sizes),
          " times ",
          sizes_text(right.sizes),
          " does not fit"));
}

void linear(NodeShapes& node) {
  const Shape& input = node.tensor("input");
  const Shape& weight = node.tensor("weight");
  const auto rank = weight.sizes.size();
  node.require(
      (rank == 1 || rank == 2) && !input.sizes.empty() &&
          input.sizes.back() == weight.sizes.back(),
      cat("its weight is ",
          sizes_text(weight.sizes),
          ", its input ",
          sizes_text(input.sizes)));
  Ints sizes(input.sizes.begin(), input.sizes.end() - 1);
  if (rank == 2) sizes.push_back(weight.sizes.front());
  node.give(input.dtype, sizes);
}

Ints product_sizes(
    const NodeShapes& node,
    const Shape& left,
    const Shape& right) {
  const auto left_rank = left.sizes.size();
  const auto right_rank = right.sizes.size();
  require_product(node, left_rank > 0 && right_rank > 0, left, right);
  const auto inner =
      right_rank == 1 ? right.sizes[0] : right.sizes[right_rank - 2];
  require_product(node, left.sizes.back() == inner, left, right);
  const auto outer = [](const Ints& sizes) {
    return sizes.size() < 2 ? Ints{} : Ints(sizes.begin(), sizes.end() - 2);
  };
  auto sizes = broadcast({outer(left.sizes), outer(right.sizes)});
  require_product(node, sizes.has_value(), left, right);
  if (left_rank > 1) sizes->push_back(left.sizes[left_rank - 2]);
  if (right_rank > 1) sizes->push_back(right.sizes[right_rank - 1]);
  return *sizes;
}

template <const char* const& kLeft, const char* const& kRight>
void multiply(NodeShapes& node) {
  const Shape& left = node.tensor(kLeft);
  node.give(left.dtype, product_sizes(node, left, node.tensor(kRight)));
}

constexpr const char* kSelf = "self";
constexpr const char* kOther = "other";
constexpr const char* kMat1 = "mat1";
constexpr const char* kMat2 = "mat2";
constexpr const char* kBatch1 = "batch1";
constexpr const char* kBatch2 = "batch2";
constexpr const char* kVec = "vec";
constexpr const char* kTensor = "tensor";

void outer_product(NodeShapes& node) {
  const Shape& left = node.tensor("self");
  const Shape& right = node.tensor("vec2");
  require_product(
      node, left.sizes.size() == 1 && right.sizes.size() == 1, left, right);
  node.give(left.dtype, {left.sizes[0], right.sizes[0]});
}

void bilinear(NodeShapes& node) {
  const Shape& input = node.tensor("input1");
  const Shape& weight = node.tensor("weight");
  require_product(
      node,
      weight.sizes.size() == 3 && !input.sizes.empty() &&
          input.sizes.back() == weight.sizes[1],
      input,
      weight);
  Ints sizes = input.sizes;
  sizes.back() = weight.sizes.front();
  node.give(input.dtype, sizes);
}

void attention(NodeShapes& node) {
  const Shape& query = node.tensor("query");
  const Shape& key = node.tensor("key");
  const Shape& value = node.tensor("value");
  const auto rank = query.sizes.size();
  node.require(
      rank >= 2 && key.sizes.size() == rank && value.sizes.size() == rank &&
          query.sizes.back() == key.sizes.back() &&
          key.sizes[rank - 2] == value.sizes[rank - 2],
      cat("queries ",
          sizes_text(query.sizes),
          ", keys ",
          sizes_text(key.sizes),
          " and values ",
          sizes_text(value.sizes),
          " do not go together"));
  Ints sizes = query.sizes;
  sizes.back() = value.sizes.back();
  node.give(query.dtype, sizes);
}

// "bhid,bhjd->bhij". Dots for leading dimensions have no rule.
void einsum(NodeShapes& node) {
  std::string equation = node.text("equation", "");
  equation.erase(
      std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const auto shapes = node.tensors("tensors");
  const auto arrow = equation.find("->");
  const auto terms = temper::split(equation.substr(0, arrow), ',');
  node.require(
      terms.size() == shapes.size() && !contains(equation, "."),
      cat("\"", equation, "\" of ", shapes.size(), " tensors"));
  std::map<char, std::int64_t> size_of;
  std::map<char, int> uses;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    node.require(
        terms[i].size() == shapes[i].sizes.size(),
        cat("\"", terms[i], "\" of ", sizes_text(shapes[i].sizes)));
    for (std::size_t j = 0; j < terms[i].size(); ++j) {
      const auto size = shapes[i].sizes[j];
      auto& known = size_of.emplace(terms[i][j], size).first->second;
      if (known == 1) known = size;
      node.require(
          known == size || size == 1,
          cat("\"", terms[i][j], "\" is ", known, " and ", size));
      ++uses[terms[i][j]];
    }
  }
  std::string wanted;
  if (arrow != std::string::npos) {
    wanted = equation.substr(arrow + 2);
  } else {
    for (const auto& [letter, count] : uses)
      if (count == 1) wanted += letter;
  }
  Ints sizes;
  for (const char letter : wanted) {
    node.require(
        size_of.count(letter) > 0, cat("\"", letter, "\" has no size"));
    sizes.push_back(size_of[letter]);
  }
  node.give(shapes.empty() ? DType::kFloat32 : shapes[0].dtype, sizes);
}

} // namespace

const ShapeRules& linear_algebra_rules() {
  static const ShapeRules rules{
      {"linear", linear},
      {"matmul", multiply<kSelf, kOther>},
      {"mm", multiply<kSelf, kMat2>},
      {"bmm", multiply<kSelf, kMat2>},
      {"mv", multiply<kSelf, kVec>},
      {"dot", multiply<kSelf, kTensor>},
      {"addmm", multiply<kMat1, kMat2>},
      {"baddbmm", multiply<kBatch1, kBatch2>},
      {"outer", outer_product},
      {"bilinear", bilinear},
      {"scaled_dot_product_attention", attention},
      {"einsum", einsum},
  };
  return rules;
}

} // namespace temper::graph

// Products of matrices: linear layers, matmul and its relatives.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "temper/base/text.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/op/op_rules.h"

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

void save_linear(SavedContext& node) {
  if (node.wanted("weight")) node.keep("input");
  if (node.wanted("input")) node.keep("weight");
}

// Each factor is needed for the gradient of the other.
void save_product(SavedContext& node, const char* left, const char* right) {
  const auto rank = [&](const char* name) {
    return node.tensor(name).sizes.size();
  };
  const bool in_batches = rank(left) > 2 && rank(right) > 2;
  const Ints batch = in_batches ? matrix_batch(node.result()) : Ints{};
  const auto keep = [&](const char* name) {
    if (in_batches)
      node.keep_operand(name, batch);
    else
      node.keep(name);
  };
  if (node.wanted(right)) keep(left);
  if (node.wanted(left)) keep(right);
}

void save_matmul(SavedContext& node) {
  save_product(node, "self", node.given("mat2") ? "mat2" : "other");
}

void save_add_product(SavedContext& node) {
  if (node.given("batch1"))
    save_product(node, "batch1", "batch2");
  else
    save_product(node, "mat1", "mat2");
}

void save_einsum(SavedContext& node) {
  node.keep("tensors");
}

std::int64_t linear_macs(const NodeArguments& node, const Shape& made) {
  return times(product_of(made.sizes), node.tensor("input").sizes.back());
}

std::int64_t
inner(const NodeArguments& node, const Shape& made, const char* left) {
  const Ints& sizes = node.tensor(left).sizes;
  return times(product_of(made.sizes), sizes.empty() ? 1 : sizes.back());
}

std::int64_t matmul_macs(const NodeArguments& node, const Shape& made) {
  return inner(node, made, "self");
}

std::int64_t add_product_macs(const NodeArguments& node, const Shape& made) {
  return inner(node, made, node.given("batch1") ? "batch1" : "mat1");
}

// One multiply-add for each combination of all letters.
std::int64_t einsum_macs(const NodeArguments& node, const Shape&) {
  const auto shapes = node.tensors("tensors");
  const std::string equation = node.text("equation", "");
  const auto terms = split(equation.substr(0, equation.find("->")), ',');
  if (terms.size() != shapes.size() || shapes.size() < 2) return 0;
  std::unordered_map<char, std::int64_t> size_of;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::string letters(trim(terms[i]));
    for (std::size_t j = 0; j < letters.size(); ++j)
      if (j < shapes[i].sizes.size())
        size_of[letters[j]] = std::max(size_of[letters[j]], shapes[i].sizes[j]);
  }
  std::int64_t all = 1;
  for (const auto& [letter, size] : size_of)
    all = times(all, size);
  return all;
}

Operator multiplying(ShapeRule shape, SaveRule saved, MacRule macs) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = saved,
      .macs = macs};
}

} // namespace

const OperatorRows& linear_algebra_operators() {
  static const OperatorRows rows{
      {{"linear"}, multiplying(linear, save_linear, linear_macs)},
      {{"matmul"},
       multiplying(multiply<kSelf, kOther>, save_matmul, matmul_macs)},
      {{"mm", "bmm"},
       multiplying(multiply<kSelf, kMat2>, save_matmul, matmul_macs)},
      {{"mv"}, multiplying(multiply<kSelf, kVec>, save_matmul, matmul_macs)},
      {{"dot"},
       multiplying(multiply<kSelf, kTensor>, save_matmul, matmul_macs)},
      {{"addmm"},
       multiplying(multiply<kMat1, kMat2>, save_add_product, add_product_macs)},
      {{"baddbmm"},
       multiplying(
           multiply<kBatch1, kBatch2>, save_add_product, add_product_macs)},
      {{"outer"}, multiplying(outer_product, nullptr, nullptr)},
      {{"bilinear"}, multiplying(bilinear, nullptr, nullptr)},
      {{"einsum"}, multiplying(einsum, save_einsum, einsum_macs)},
  };
  return rows;
}

} // namespace temper::graph

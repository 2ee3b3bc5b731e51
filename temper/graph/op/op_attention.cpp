// Attention, and the forms that LibTorch chooses for one device or another.
#include "temper/base/text.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

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

void save_attention(SavedContext& node) {
  const Shape& query = node.tensor("query");
  const Shape& key = node.tensor("key");
  Ints scores(query.sizes.begin(), query.sizes.end() - 1);
  if (node.fused_attention()) {
    for (const char* name : {"query", "key", "value"})
      node.keep(name);
    node.keep_result();
    node.keep_bytes(bytes_of(Shape{DType::kFloat32, scores}));
    return;
  }
  // Scaled queries and keys, the weights, and the values they weigh.
  scores.push_back(key.sizes[key.sizes.size() - 2]);
  const std::int64_t weights = bytes_of(Shape{query.dtype, scores});
  node.keep_bytes(bytes_of(query));
  node.keep_bytes(bytes_of(key));
  node.keep_bytes(weights);
  node.keep_operand("value", matrix_batch(node.tensor("value")));
  if (node.flag("is_causal", false))
    node.keep_bytes(
        times(scores[scores.size() - 2], scores.back())); // a bool each
  // The dropped weights too, beside the mask.
  if (node.real("dropout_p", 0) > 0) node.keep_bytes(times(2, weights));
}

// Queries with keys, weights with values; masked places count too.
std::int64_t attention_macs(const NodeArguments& node, const Shape& made) {
  const Ints& query = node.tensor("query").sizes;
  const Ints& key = node.tensor("key").sizes;
  const auto keys = key[key.size() - 2];
  return plus(
      times(product_of(query), keys), times(product_of(made.sizes), keys));
}

bool drops_weights(const NodeArguments& node) {
  return node.real("dropout_p", 0) > 0;
}

Operator attending(ShapeRule shape, SaveRule saved, MacRule macs) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = saved,
      .macs = macs,
      .random = drops_weights,
      .layer = Layer::kAttention};
}

} // namespace

const OperatorRows& attention_operators() {
  static const OperatorRows rows{
      {{"scaled_dot_product_attention"},
       attending(attention, save_attention, attention_macs)},
      {{"_scaled_dot_product_attention",
        "_scaled_dot_product_attention_math",
        "_scaled_dot_product_attention_math_for_mps",
        "_scaled_dot_product_cudnn_attention",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_fused_attention_overrideable"},
       attending(nullptr, nullptr, nullptr)},
  };
  return rows;
}

} // namespace temper::graph

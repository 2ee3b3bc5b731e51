// Which operator keeps what. Found by asking PyTorch 1.13 through its hooks
// for saved tensors (reference/saved_tensors.py); an operator that is not here
// keeps nothing but sizes: additions, means, views, cat.
#include "temper/graph/cost/saved_context.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {
namespace {

void save_input(SavedContext& node) {
  node.keep_input();
}

void save_result(SavedContext& node) {
  node.keep_result();
}

// In place they need only the result.
void save_input_or_result(SavedContext& node) {
  if (op_name(node.node().op).in_place)
    node.keep_result();
  else
    node.keep_input();
}

void save_input_and_result(SavedContext& node) {
  node.keep_input();
  node.keep_result();
}

void save_convolution(SavedContext& node) {
  node.keep("input");
  node.keep("weight");
}

// Two numbers a channel, a group or a row.
void keep_statistics(SavedContext& node, std::int64_t rows) {
  node.keep_bytes(times(
      rows,
      2 * static_cast<std::int64_t>(bytes_of(node.first_tensor().dtype))));
}

void save_batch_norm(SavedContext& node) {
  node.keep("input");
  if (node.flag("training", true))
    keep_statistics(node, node.tensor("input").sizes[1]);
}

void save_instance_norm(SavedContext& node) {
  node.keep("input");
  const Shape& shape = node.tensor("input");
  keep_statistics(node, times(shape.sizes[0], shape.sizes[1]));
}

void save_group_norm(SavedContext& node) {
  node.keep("input");
  keep_statistics(
      node,
      times(
          node.tensor("input").sizes[0],
          node.integer("num_groups", node.integer("group", 1))));
}

void save_layer_norm(SavedContext& node) {
  node.keep("input");
  const Shape& shape = node.tensor("input");
  const Ints inner = node.integers("normalized_shape");
  const auto row = element_count(inner);
  if (row > 0) keep_statistics(node, element_count(shape.sizes) / row);
}

// Decomposed where LibTorch lacks it: x^2 keeps x, the product its factors.
void save_rms_norm(SavedContext& node) {
  node.keep("input");
  if (node.given("weight")) node.keep_bytes(bytes_of(node.tensor("input")));
}

bool is_idle(const SavedContext& node) {
  return !node.flag("train", false) || node.real("p", 0.5) == 0;
}

// On the CPU the mask has the input's type.
void save_dropout(SavedContext& node) {
  if (!is_idle(node)) node.keep_bytes(bytes_of(node.first_tensor()));
}

void save_feature_dropout(SavedContext& node) {
  const Shape& shape = node.first_tensor();
  if (!is_idle(node) && shape.sizes.size() >= 2)
    node.keep_bytes(
        bytes_of(Shape{shape.dtype, {shape.sizes[0], shape.sizes[1]}}));
}

void save_max_pool(SavedContext& node) {
  node.keep_input();
  node.keep_bytes(bytes_of(Shape{DType::kInt64, node.result().sizes}));
}

void save_pad(SavedContext& node) {
  if (node.text("mode", "constant") != "constant") node.keep_input();
}

void save_linear(SavedContext& node) {
  if (node.wanted("weight")) node.keep("input");
  if (node.wanted("input")) node.keep("weight");
}

Ints matrix_batch(const Shape& shape) {
  if (shape.sizes.size() < 3) return {};
  return {shape.sizes.begin(), shape.sizes.end() - 2};
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

void save_multiply(SavedContext& node) {
  if (node.wanted("other")) node.keep_input();
  if (node.wanted("self")) node.keep("other");
}

void save_divide(SavedContext& node) {
  if (node.wanted("other")) node.keep_input();
  node.keep("other");
}

void save_both(SavedContext& node) {
  node.keep_input();
  node.keep("other");
}

void save_raise(SavedContext& node) {
  node.keep_input();
  if (node.find_tensor("exponent") == nullptr) return;
  node.keep("exponent");
  node.keep_result();
}

void save_slopes(SavedContext& node) {
  node.keep_input();
  node.keep("weight");
}

void save_factors(SavedContext& node) {
  if (node.wanted("tensor2")) node.keep("tensor1");
  if (node.wanted("tensor1")) node.keep("tensor2");
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

void save_mask(SavedContext& node) {
  node.keep("mask");
}

void save_condition(SavedContext& node) {
  node.keep("condition");
}

void save_indices(SavedContext& node) {
  for (const char* name : {"indices", "index"})
    node.keep(name);
}

// Each step keeps four gates or their like, the cell, its tanh, the state.
void save_recurrent(SavedContext& node) {
  const Shape& sequence = node.tensor("input");
  if (node.flag("batch_first", false))
    node.keep_bytes(bytes_of(sequence)); // turned around, in order
  else
    node.keep("input");
  const auto layers = node.integer("num_layers", 1);
  const std::int64_t output = bytes_of(node.result());
  constexpr std::int64_t kStatesAStep = 7;
  node.keep_bytes(times(times(output, kStatesAStep), layers));
  node.keep_bytes(times(output, layers - 1)); // what the next layer reads
}

void save_log_loss(SavedContext& node) {
  node.keep_bytes(bytes_of(node.first_tensor()));
  node.keep("target");
}

void save_loss(SavedContext& node) {
  node.keep_input();
  node.keep("target");
}

} // namespace

const std::vector<SaveRule>& save_rules() {
  static const std::vector<SaveRule> rules = [] {
    std::vector<SaveRule> all{
        {"convolution", save_convolution},
        {"batch_norm", save_batch_norm},
        {"native_batch_norm", save_batch_norm},
        {"_native_batch_norm_legit", save_batch_norm},
        {"instance_norm", save_instance_norm},
        {"group_norm", save_group_norm},
        {"native_group_norm", save_group_norm},
        {"layer_norm", save_layer_norm},
        {"native_layer_norm", save_layer_norm},
        {"rms_norm", save_rms_norm},
        {"dropout", save_dropout},
        {"alpha_dropout", save_dropout},
        {"feature_dropout", save_feature_dropout},
        {"pad", save_pad},
        {"linear", save_linear},
        {"addmm", save_add_product},
        {"baddbmm", save_add_product},
        {"einsum", save_einsum},
        {"scaled_dot_product_attention", save_attention},
        {"mul", save_multiply},
        {"multiply", save_multiply},
        {"div", save_divide},
        {"maximum", save_both},
        {"minimum", save_both},
        {"atan2", save_both},
        {"pow", save_raise},
        {"addcmul", save_factors},
        {"prelu", save_slopes},
        {"max", save_extreme},
        {"min", save_extreme},
        {"topk", save_positions_found},
        {"sort", save_positions_found},
        {"masked_fill", save_mask},
        {"where", save_condition},
        {"cross_entropy_loss", save_log_loss},
        {"mse_loss", save_loss},
        {"l1_loss", save_loss},
        {"smooth_l1_loss", save_loss},
        {"binary_cross_entropy", save_loss},
        {"binary_cross_entropy_with_logits", save_loss},
    };
    const auto add = [&](std::vector<const char*> names,
                         void (*rule)(SavedContext&)) {
      for (const char* name : names)
        all.push_back({name, rule});
    };
    add({"conv1d",
         "conv2d",
         "conv3d",
         "conv_transpose1d",
         "conv_transpose2d",
         "conv_transpose3d"},
        save_convolution);
    add({"max_pool1d",
         "max_pool2d",
         "max_pool3d",
         "max_pool2d_with_indices",
         "max_pool3d_with_indices",
         "adaptive_max_pool1d",
         "adaptive_max_pool2d",
         "adaptive_max_pool3d"},
        save_max_pool);
    add({"matmul", "mm", "bmm", "mv", "dot"}, save_matmul);
    add({"lstm", "gru", "rnn_tanh", "rnn_relu"}, save_recurrent);
    add({"embedding", "index", "gather", "index_select"}, save_indices);
    add({"relu",
         "sigmoid",
         "tanh",
         "exp",
         "expm1",
         "sqrt",
         "rsqrt",
         "reciprocal",
         "softmax",
         "log_softmax",
         "_softmax",
         "_log_softmax"},
        save_result);
    add({"leaky_relu", "elu", "celu", "selu", "threshold"},
        save_input_or_result);
    add({"amax",
         "amin",
         "std",
         "norm",
         "linalg_vector_norm",
         "logsumexp",
         "prod"},
        save_input_and_result);
    add({"hardtanh",
         "relu6",
         "silu",
         "hardswish",
         "hardsigmoid",
         "gelu",
         "mish",
         "softplus",
         "hardshrink",
         "softshrink",
         "log",
         "log2",
         "log10",
         "log1p",
         "log_sigmoid",
         "sin",
         "cos",
         "erf",
         "abs",
         "square",
         "clamp",
         "clamp_min",
         "clamp_max",
         "clip",
         "glu",
         "var",
         "var_mean",
         "avg_pool1d",
         "avg_pool2d",
         "avg_pool3d",
         "adaptive_avg_pool1d",
         "adaptive_avg_pool2d",
         "adaptive_avg_pool3d",
         "reflection_pad1d",
         "reflection_pad2d",
         "replication_pad1d",
         "replication_pad2d"},
        save_input);
    return all;
  }();
  return rules;
}

} // namespace temper::graph

// Which operator keeps what. Found by asking PyTorch 1.13 through its hooks
// for saved tensors (reference/saved_tensors.py); an operator that is not here
// keeps nothing but sizes: additions, means, views, cat.
#include "temper/graph/op_name.h"
#include "temper/graph/saturating.h"
#include "temper/graph/saver.h"
#include "temper/graph/weights.h"

namespace temper::graph {
namespace {

void input(Saver& node) {
  node.keep_input();
}

void result(Saver& node) {
  node.keep_result();
}

// In place they need only the result.
void input_or_result(Saver& node) {
  if (op_name(node.node().op).in_place)
    node.keep_result();
  else
    node.keep_input();
}

void input_and_result(Saver& node) {
  node.keep_input();
  node.keep_result();
}

void convolution(Saver& node) {
  node.keep("input");
  node.keep("weight");
}

// Two numbers a channel, a group or a row.
void keep_statistics(Saver& node, std::int64_t rows) {
  node.keep_bytes(times(
      rows,
      2 * static_cast<std::int64_t>(bytes_of(node.first_tensor().dtype))));
}

void batch_norm(Saver& node) {
  node.keep("input");
  if (node.flag("training", true))
    keep_statistics(node, node.tensor("input").sizes[1]);
}

void instance_norm(Saver& node) {
  node.keep("input");
  const Shape& shape = node.tensor("input");
  keep_statistics(node, times(shape.sizes[0], shape.sizes[1]));
}

void group_norm(Saver& node) {
  node.keep("input");
  keep_statistics(
      node,
      times(
          node.tensor("input").sizes[0],
          node.integer("num_groups", node.integer("group", 1))));
}

void layer_norm(Saver& node) {
  node.keep("input");
  const Shape& shape = node.tensor("input");
  const Ints inner = node.integers("normalized_shape");
  const auto row = element_count(inner);
  if (row > 0) keep_statistics(node, element_count(shape.sizes) / row);
}

// Decomposed where LibTorch lacks it: x^2 keeps x, the product its factors.
void rms_norm(Saver& node) {
  node.keep("input");
  if (node.given("weight")) node.keep_bytes(bytes_of(node.tensor("input")));
}

bool idle(const Saver& node) {
  return !node.flag("train", false) || node.real("p", 0.5) == 0;
}

// On the CPU the mask has the input's type.
void dropout(Saver& node) {
  if (!idle(node)) node.keep_bytes(bytes_of(node.first_tensor()));
}

void feature_dropout(Saver& node) {
  const Shape& shape = node.first_tensor();
  if (!idle(node) && shape.sizes.size() >= 2)
    node.keep_bytes(
        bytes_of(Shape{shape.dtype, {shape.sizes[0], shape.sizes[1]}}));
}

void max_pool(Saver& node) {
  node.keep_input();
  node.keep_bytes(bytes_of(Shape{DType::kInt64, node.result().sizes}));
}

void pad(Saver& node) {
  if (node.text("mode", "constant") != "constant") node.keep_input();
}

void linear(Saver& node) {
  if (node.wanted("weight")) node.keep("input");
  if (node.wanted("input")) node.keep("weight");
}

Ints batch_of(const Shape& shape) {
  if (shape.sizes.size() < 3) return {};
  return {shape.sizes.begin(), shape.sizes.end() - 2};
}

// Each factor is needed for the gradient of the other.
void product(Saver& node, const char* left, const char* right) {
  const auto rank = [&](const char* name) {
    return node.tensor(name).sizes.size();
  };
  const bool in_batches = rank(left) > 2 && rank(right) > 2;
  const Ints batch = in_batches ? batch_of(node.result()) : Ints{};
  const auto keep = [&](const char* name) {
    if (in_batches)
      node.keep_operand(name, batch);
    else
      node.keep(name);
  };
  if (node.wanted(right)) keep(left);
  if (node.wanted(left)) keep(right);
}

void matmul(Saver& node) {
  product(node, "self", node.given("mat2") ? "mat2" : "other");
}

void add_product(Saver& node) {
  if (node.given("batch1"))
    product(node, "batch1", "batch2");
  else
    product(node, "mat1", "mat2");
}

void einsum(Saver& node) {
  node.keep("tensors");
}

void attention(Saver& node) {
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
  node.keep_operand("value", batch_of(node.tensor("value")));
  if (node.flag("is_causal", false))
    node.keep_bytes(
        times(scores[scores.size() - 2], scores.back())); // a bool each
  // The dropped weights too, beside the mask.
  if (node.real("dropout_p", 0) > 0) node.keep_bytes(times(2, weights));
}

void multiply(Saver& node) {
  if (node.wanted("other")) node.keep_input();
  if (node.wanted("self")) node.keep("other");
}

void divide(Saver& node) {
  if (node.wanted("other")) node.keep_input();
  node.keep("other");
}

void both(Saver& node) {
  node.keep_input();
  node.keep("other");
}

void raise(Saver& node) {
  node.keep_input();
  if (node.find_tensor("exponent") == nullptr) return;
  node.keep("exponent");
  node.keep_result();
}

void slopes(Saver& node) {
  node.keep_input();
  node.keep("weight");
}

void factors(Saver& node) {
  if (node.wanted("tensor2")) node.keep("tensor1");
  if (node.wanted("tensor1")) node.keep("tensor2");
}

void extreme(Saver& node) {
  if (node.find_tensor("other") != nullptr) {
    both(node);
  } else if (node.given("dim")) {
    node.keep_bytes(bytes_of(Shape{DType::kInt64, node.result().sizes}));
  } else {
    input_and_result(node);
  }
}

void positions_found(Saver& node) {
  node.keep_bytes(bytes_of(Shape{DType::kInt64, node.result().sizes}));
}

void mask(Saver& node) {
  node.keep("mask");
}

void condition(Saver& node) {
  node.keep("condition");
}

void indices(Saver& node) {
  for (const char* name : {"indices", "index"})
    node.keep(name);
}

// Of each step: four gates or their like, the cell, its tanh, the state.
void recurrent(Saver& node) {
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

void log_loss(Saver& node) {
  node.keep_bytes(bytes_of(node.first_tensor()));
  node.keep("target");
}

void loss(Saver& node) {
  node.keep_input();
  node.keep("target");
}

} // namespace

const std::vector<SaveRule>& save_rules() {
  static const std::vector<SaveRule> rules = [] {
    std::vector<SaveRule> all{
        {"convolution", convolution},
        {"batch_norm", batch_norm},
        {"native_batch_norm", batch_norm},
        {"_native_batch_norm_legit", batch_norm},
        {"instance_norm", instance_norm},
        {"group_norm", group_norm},
        {"native_group_norm", group_norm},
        {"layer_norm", layer_norm},
        {"native_layer_norm", layer_norm},
        {"rms_norm", rms_norm},
        {"dropout", dropout},
        {"alpha_dropout", dropout},
        {"feature_dropout", feature_dropout},
        {"pad", pad},
        {"linear", linear},
        {"addmm", add_product},
        {"baddbmm", add_product},
        {"einsum", einsum},
        {"scaled_dot_product_attention", attention},
        {"mul", multiply},
        {"multiply", multiply},
        {"div", divide},
        {"maximum", both},
        {"minimum", both},
        {"atan2", both},
        {"pow", raise},
        {"addcmul", factors},
        {"prelu", slopes},
        {"max", extreme},
        {"min", extreme},
        {"topk", positions_found},
        {"sort", positions_found},
        {"masked_fill", mask},
        {"where", condition},
        {"cross_entropy_loss", log_loss},
        {"mse_loss", loss},
        {"l1_loss", loss},
        {"smooth_l1_loss", loss},
        {"binary_cross_entropy", loss},
        {"binary_cross_entropy_with_logits", loss},
    };
    const auto add = [&](std::vector<const char*> names, void (*rule)(Saver&)) {
      for (const char* name : names)
        all.push_back({name, rule});
    };
    add({"conv1d",
         "conv2d",
         "conv3d",
         "conv_transpose1d",
         "conv_transpose2d",
         "conv_transpose3d"},
        convolution);
    add({"max_pool1d",
         "max_pool2d",
         "max_pool3d",
         "max_pool2d_with_indices",
         "max_pool3d_with_indices",
         "adaptive_max_pool1d",
         "adaptive_max_pool2d",
         "adaptive_max_pool3d"},
        max_pool);
    add({"matmul", "mm", "bmm", "mv", "dot"}, matmul);
    add({"lstm", "gru", "rnn_tanh", "rnn_relu"}, recurrent);
    add({"embedding", "index", "gather", "index_select"}, indices);
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
        result);
    add({"leaky_relu", "elu", "celu", "selu", "threshold"}, input_or_result);
    add({"amax",
         "amin",
         "std",
         "norm",
         "linalg_vector_norm",
         "logsumexp",
         "prod"},
        input_and_result);
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
        input);
    return all;
  }();
  return rules;
}

} // namespace temper::graph

// A pre-norm transformer block as a whole, forward and backward:
//   middle = x + proj(attention(qkv(norm1(x))))
//   y = middle + fc2(act(fc1(norm2(middle))))
// on rows of [batch * tokens, features]. qkv has queries, keys and values side
// by side, each with its heads side by side.
//
// Blocks of rows go through LayerNorm, multiplication, activation and residual
// while they are in a cache; kept are qkv, the result of attention, middle and
// the sums before the activation: 10 features a row for the usual hidden size.
//
// Scratch: the packed weights with the caller; in the backward pass up to 8
// (16 above 32768 rows) partial sums of all weights' gradients with the caller;
// a thread about 5 * 96 * hidden floats.
#pragma once

#include <cstdint>

#include "temper/kernels/norm/activation.h"

namespace temper::kernels {

struct TransformerShape {
  std::int64_t batch = 0;
  std::int64_t tokens = 0;
  std::int64_t features = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 1;
  bool causal = false;
  float scale = 1;
  double eps1 = 1e-5;
  double eps2 = 1e-5;
  Activation act = Activation::kGelu;
};

// Weights are [out, in]. Every bias and the weights of norms may be null.
template <class Number>
struct TransformerParameters {
  Number* norm1_weight = nullptr;
  Number* norm1_bias = nullptr;
  Number* qkv_weight = nullptr;
  Number* qkv_bias = nullptr;
  Number* proj_weight = nullptr;
  Number* proj_bias = nullptr;
  Number* norm2_weight = nullptr;
  Number* norm2_bias = nullptr;
  Number* fc1_weight = nullptr;
  Number* fc1_bias = nullptr;
  Number* fc2_weight = nullptr;
  Number* fc2_bias = nullptr;
};

// The tensors that the backward pass needs, filled by the forward pass.
// `log_sums`, `moments1`, `moments2` and `hidden` may be null where there is
// none.
struct TransformerKept {
  float* qkv = nullptr; // [rows, 3 * features]
  float* attended = nullptr; // [rows, features]
  float* log_sums = nullptr; // [batch, heads, tokens]
  float* middle = nullptr; // [rows, features]
  float* hidden = nullptr; // [rows, hidden], before the activation
  float* moments1 = nullptr; // [rows, 2]: mean, 1 / standard deviation
  float* moments2 = nullptr; // [rows, 2]
};

struct TransformerForward {
  TransformerShape shape;
  const float* x = nullptr;
  TransformerParameters<const float> parameters;
  TransformerKept kept;
  float* y = nullptr;
};
void transformer_forward(const TransformerForward& work);

struct TransformerBackward {
  TransformerShape shape;
  const float* gradient = nullptr; // of y, [rows, features]
  const float* x = nullptr;
  TransformerParameters<const float> parameters;
  TransformerKept kept; // all there
  float* workspace = nullptr; // 5 * rows * features floats
  float* dx = nullptr;
  TransformerParameters<float> gradients; // null: not wanted
};
void transformer_backward(const TransformerBackward& work);

struct TransformerTable {
  void (*forward)(const TransformerForward&);
  void (*backward)(const TransformerBackward&);
};

} // namespace temper::kernels

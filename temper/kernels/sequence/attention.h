// softmax(q k^T * scale [, causal]) v for every batch and head, forward and
// backward, without the matrix of scores: blocks of queries against all keys
// they may see, in scratch. Only the logarithm of each row's sum is kept.
//
// Causal: query i sees keys 0 to i.
// Scratch a thread: about 10 * keys * width + 200 * keys floats.
#pragma once

#include <cstdint>

namespace temper::kernels {

// A tensor of [batch, heads, tokens, width] whose last dimension is dense.
template <class Number>
struct HeadsView {
  Number* data = nullptr;
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t token_stride = 0;
};

struct AttentionShape {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t width = 0; // of queries and keys
  std::int64_t value_width = 0;
  bool causal = false;
  float scale = 1;
};

struct AttentionForward {
  AttentionShape shape;
  HeadsView<const float> q;
  HeadsView<const float> k;
  HeadsView<const float> v;
  HeadsView<float> y;
  // [batch, heads, queries], for the backward pass; null: not wanted.
  float* log_sums = nullptr;
};
void attention_forward(const AttentionForward& work);

struct AttentionBackward {
  AttentionShape shape;
  HeadsView<const float> q;
  HeadsView<const float> k;
  HeadsView<const float> v;
  HeadsView<const float> y;
  HeadsView<const float> gradient;
  const float* log_sums = nullptr;
  HeadsView<float> dq;
  HeadsView<float> dk;
  HeadsView<float> dv;
};
void attention_backward(const AttentionBackward& work);

struct AttentionTable {
  void (*forward)(const AttentionForward&);
  void (*backward)(const AttentionBackward&);
};

} // namespace temper::kernels

// LayerNorm over the last dimension of [rows, columns], row after row.
// Scratch: 16 times the gradients of weight and bias with the caller.
#pragma once

#include <cstdint>

namespace temper::kernels {

struct LayerNormForward {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  double eps = 1e-5;
  const float* x = nullptr;
  std::int64_t x_stride = 0; // between rows
  const float* weight = nullptr; // null: ones
  const float* bias = nullptr; // null: zeros
  float* y = nullptr;
  float* mean = nullptr; // [rows], for the backward pass; null: not wanted
  float* inverse = nullptr; // [rows], one over the standard deviation
};
void layer_norm_forward(const LayerNormForward& work);

struct LayerNormBackward {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const float* gradient = nullptr; // [rows, columns]
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  const float* weight = nullptr;
  const float* mean = nullptr;
  const float* inverse = nullptr;
  float* dx = nullptr; // [rows, columns]; null: not wanted
  float* dweight = nullptr; // null: not wanted
  float* dbias = nullptr; // null: not wanted
};
void layer_norm_backward(const LayerNormBackward& work);

struct LayerNormTable {
  void (*forward)(const LayerNormForward&);
  void (*backward)(const LayerNormBackward&);
};

} // namespace temper::kernels

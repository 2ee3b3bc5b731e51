// Linear layers on plain row-major matrices: y = act(x W^T + bias) + residual
// and its gradients. Weights are [out, in] as LibTorch has them; whatever
// pointer is null is not there, or not wanted.
//
// Scratch: the packed weight (out * in floats) with the caller, about 0.5 MB a
// thread for typical widths, and for gradients of weights up to 32 MB of
// partial sums with the caller.
#pragma once

#include <cstdint>

#include "temper/kernels/norm/activation.h"

namespace temper::kernels {

struct LinearForward {
  std::int64_t rows = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  const float* x = nullptr;
  std::int64_t x_stride = 0; // between rows
  const float* weight = nullptr;
  const float* bias = nullptr;
  const float* residual = nullptr; // [rows, out]
  Activation act = Activation::kNone;
  // The sum before the activation, [rows, out]: what the derivative needs. Null
  // where nobody needs it.
  float* before = nullptr;
  float* y = nullptr; // [rows, out]
};
void linear_forward(const LinearForward& work);

struct LinearBackward {
  std::int64_t rows = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  const float* gradient = nullptr; // [rows, out]
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  const float* weight = nullptr;
  Activation act = Activation::kNone;
  const float* before = nullptr; // [rows, out]; read unless act is none
  float* dx = nullptr; // [rows, in]
  float* dweight = nullptr; // [out, in]
  float* dbias = nullptr; // [out]
};
void linear_backward(const LinearBackward& work);

struct LinearTable {
  void (*forward)(const LinearForward&);
  void (*backward)(const LinearBackward&);
};

} // namespace temper::kernels

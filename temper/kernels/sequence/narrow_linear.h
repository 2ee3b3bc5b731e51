// A linear layer from very many numbers to few, for few rows: the last layer
// behind a flattened image. Its weight and its rows are read as they lie, once
// a pass: packing them would take longer than the products. For files named
// *_simd.cpp.
// Private to kernels/sequence.
#pragma once

#include "temper/kernels/sequence/linear.h"
#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

constexpr std::int64_t kNarrowOutputs = 16;
constexpr std::int64_t kNarrowRows = 128;
constexpr std::int64_t kNarrowInputs = 4096;

[[gnu::always_inline]] inline bool
is_narrow(std::int64_t rows, std::int64_t in, std::int64_t out) {
  return rows <= kNarrowRows && in >= kNarrowInputs && out <= kNarrowOutputs;
}

// x W^T without a bias, [rows, out].
void narrow_product(const LinearForward& f, float* to);

// The gradients of x and of the weight, as far as they are wanted; `gradient`
// is the one before the activation, [rows, out].
void narrow_gradients(const LinearBackward& b, const float* gradient);

} // namespace temper::kernels::TEMPER_TARGET

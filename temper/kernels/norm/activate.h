// Activations on vectors, forward and backward, with LibTorch's answers at the
// kinks and for NaN and infinity. For files named *_simd.cpp.
// Private to kernels/norm.
#pragma once

#include "temper/kernels/norm/activation.h"
#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

// e^x, within two units in the last place; infinite from 88.5 on, NaN for NaN.
// x = n log 2 + r, and a polynomial of r.
[[gnu::always_inline]] inline Vec exponential(Vec x) {
  const Vec in = at_most(at_least(x, broadcast(-87.3F)), broadcast(88.8F));
  const Vec magic = broadcast(12582912.0F); // 1.5 * 2^23: rounds to integers
  const Vec shifted = in * broadcast(1.44269504F) + magic;
  const Vec n = shifted - magic;
  const Vec r =
      (in - n * broadcast(0.693359375F)) - n * broadcast(-2.12194440e-4F);
  Vec p = broadcast(1.9875691500e-4F);
  p = p * r + broadcast(1.3981999507e-3F);
  p = p * r + broadcast(8.3334519073e-3F);
  p = p * r + broadcast(4.1665795894e-2F);
  p = p * r + broadcast(1.6666665459e-1F);
  p = p * r + broadcast(5.0000001201e-1F);
  p = p * (r * r) + r + broadcast(1.0F);
  // The lowest bits of `shifted` are n; 127 is the exponent's bias.
  const IntVec exponent =
      (reinterpret_cast<IntVec>(shifted) + (127 - 0x4B400000)) << 23;
  return p * reinterpret_cast<Vec>(exponent);
}

template <Activation kAct>
[[gnu::always_inline]] inline Vec activate(Vec y) {
  const Vec zero = {};
  if constexpr (kAct == Activation::kRelu) return at_least(y, zero);
  if constexpr (kAct == Activation::kRelu6)
    return at_most(at_least(y, zero), broadcast(6.0F));
  if constexpr (kAct == Activation::kHardswish) {
    const Vec gate =
        at_most(at_least(y + broadcast(3.0F), zero), broadcast(6.0F));
    return y * gate * broadcast(1.0F / 6.0F);
  }
  if constexpr (kAct == Activation::kSilu)
    return y / (broadcast(1.0F) + exponential(-y));
  return y;
}

// The gradient of activate(y) with respect to y, times g.
template <Activation kAct>
[[gnu::always_inline]] inline Vec through_activation(Vec g, Vec y) {
  const Vec zero = {};
  if constexpr (kAct == Activation::kRelu) return y <= zero ? zero : g;
  if constexpr (kAct == Activation::kRelu6) {
    const Vec above = y <= zero ? zero : g;
    return y >= broadcast(6.0F) ? zero : above;
  }
  if constexpr (kAct == Activation::kHardswish) {
    const Vec inner = g * (y * broadcast(1.0F / 3.0F) + broadcast(0.5F));
    const Vec above = y < broadcast(-3.0F) ? zero : inner;
    return y > broadcast(3.0F) ? g : above;
  }
  if constexpr (kAct == Activation::kSilu) {
    const Vec one = broadcast(1.0F);
    const Vec gate = one / (one + exponential(-y));
    return g * (gate * (one + y * (one - gate)));
  }
  return g;
}

// Calls job.template run<kAct>() for the activation.
template <class Job>
inline void with_activation(Activation act, const Job& job) {
  switch (act) {
    case Activation::kRelu:
      return job.template run<Activation::kRelu>();
    case Activation::kRelu6:
      return job.template run<Activation::kRelu6>();
    case Activation::kHardswish:
      return job.template run<Activation::kHardswish>();
    case Activation::kSilu:
      return job.template run<Activation::kSilu>();
    case Activation::kNone:
    case Activation::kGelu:
    case Activation::kGeluTanh:
      break;
  }
  job.template run<Activation::kNone>();
}

} // namespace temper::kernels::TEMPER_TARGET

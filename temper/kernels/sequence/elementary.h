// exp, and activations with their exact derivatives, a vector at a time. For
// files named *_simd.cpp.
//
// A NaN comes through everywhere: clamps keep the operand that is not a number,
// and powers of two are multiplied, not added to the bits of the exponent.
// Private to kernels/sequence.
#pragma once

#include "temper/kernels/norm/activation.h"
#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

// Within two units in the last place between -87.3 and 88; zero below, the
// largest numbers above.
[[gnu::always_inline]] inline Vec exp_of(Vec x) {
  const Vec lowest = broadcast(-87.3f);
  const Vec inside = at_most(at_least(x, lowest), broadcast(88.0f));
  const Vec magic = broadcast(12582912.0f); // its last bit is worth one
  const Vec shifted = inside * broadcast(1.44269504f) + magic;
  const Vec n = shifted - magic;
  Vec r = inside - n * broadcast(0.693359375f);
  r = r + n * broadcast(2.12194440e-4f);
  Vec p = broadcast(1.9875691500e-4f);
  p = p * r + broadcast(1.3981999507e-3f);
  p = p * r + broadcast(8.3334519073e-3f);
  p = p * r + broadcast(4.1665795894e-2f);
  p = p * r + broadcast(1.6666665459e-1f);
  p = p * r + broadcast(5.0000001201e-1f);
  p = p * (r * r) + r + broadcast(1.0f);
  const IntVec one = reinterpret_cast<IntVec>(broadcast(1.0f));
  const Vec power =
      reinterpret_cast<Vec>((reinterpret_cast<IntVec>(shifted) << 23) + one);
  return x < lowest ? Vec{} : p * power;
}

[[gnu::always_inline]] inline Vec sigmoid(Vec x) {
  return broadcast(1.0f) / (broadcast(1.0f) + exp_of(-x));
}

// x times the share of a normal distribution below x; the exponential of its
// tail is also the density that the derivative needs. The tail is
// erfcx(|x| / sqrt(2)) * exp(-x^2 / 2) / 2 with erfcx as a polynomial of
// 1 / (1 + 0.3 |x| / sqrt(2)), within 2e-8.
struct GeluParts {
  Vec share; // below x
  Vec density; // times sqrt(2 pi)
};
[[gnu::always_inline]] inline GeluParts gelu_parts(Vec x) {
  const Vec size = x < Vec{} ? -x : x;
  const Vec density = exp_of(x * x * broadcast(-0.5f));
  const Vec t = broadcast(1.0f) /
      (broadcast(1.0f) + size * broadcast(0.3f * 0.70710678f));
  Vec q = broadcast(-1.292527082e-01f);
  q = q * t + broadcast(4.842994264e-01f);
  q = q * t + broadcast(-5.097679925e-01f);
  q = q * t + broadcast(5.449623334e-01f);
  q = q * t + broadcast(-9.282312381e-02f);
  q = q * t + broadcast(2.141802849e-01f);
  q = q * t + broadcast(1.485215210e-01f);
  q = q * t + broadcast(1.706908942e-01f);
  q = q * t + broadcast(1.691893559e-01f);
  const Vec tail = q * t * density * broadcast(0.5f);
  return {x > Vec{} ? broadcast(1.0f) - tail : tail, density};
}

constexpr float kTwoRootTwoOverPi = 1.5957691216f;
constexpr float kGeluCubic = 0.044715f;

// The tanh form is x * sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)).
[[gnu::always_inline]] inline Vec gelu_tanh_share(Vec x) {
  const Vec inner = broadcast(kTwoRootTwoOverPi) +
      x * x * broadcast(kTwoRootTwoOverPi * kGeluCubic);
  return sigmoid(x * inner);
}

template <Activation kAct>
[[gnu::always_inline]] inline Vec activate(Vec x) {
  const Vec zero = {};
  if constexpr (kAct == Activation::kRelu) return x < zero ? zero : x;
  if constexpr (kAct == Activation::kRelu6)
    return at_most(at_least(x, zero), broadcast(6.0f));
  if constexpr (kAct == Activation::kHardswish)
    return x * at_most(at_least(x + broadcast(3.0f), zero), broadcast(6.0f)) *
        broadcast(1.0f / 6.0f);
  if constexpr (kAct == Activation::kSilu) return x * sigmoid(x);
  if constexpr (kAct == Activation::kGelu) return x * gelu_parts(x).share;
  if constexpr (kAct == Activation::kGeluTanh) return x * gelu_tanh_share(x);
  return x;
}

// The value and the gradient with respect to x of an activation whose result
// has the gradient g. Both come from one exponential.
struct ValueAndGradient {
  Vec value;
  Vec gradient;
};
template <Activation kAct>
[[gnu::always_inline]] inline ValueAndGradient activate_backward(Vec x, Vec g) {
  const Vec zero = {};
  const Vec one = broadcast(1.0f);
  if constexpr (kAct == Activation::kRelu)
    return {activate<kAct>(x), x <= zero ? zero : g};
  if constexpr (kAct == Activation::kRelu6) {
    const Vec below = x >= broadcast(6.0f) ? zero : g;
    return {activate<kAct>(x), x <= zero ? zero : below};
  }
  if constexpr (kAct == Activation::kHardswish) {
    const Vec slope = x * broadcast(1.0f / 3.0f) + broadcast(0.5f);
    const Vec inside = x > broadcast(3.0f) ? g : g * slope;
    return {activate<kAct>(x), x < broadcast(-3.0f) ? zero : inside};
  }
  if constexpr (kAct == Activation::kSilu) {
    const Vec s = sigmoid(x);
    return {x * s, g * s * (one + x * (one - s))};
  }
  if constexpr (kAct == Activation::kGelu) {
    const GeluParts parts = gelu_parts(x);
    // An infinite x times a density of zero would be no number.
    const Vec moved = parts.density <= zero ? zero : x * parts.density;
    return {
        x * parts.share, g * (parts.share + moved * broadcast(0.39894228f))};
  }
  if constexpr (kAct == Activation::kGeluTanh) {
    const Vec s = gelu_tanh_share(x);
    const Vec inner = broadcast(kTwoRootTwoOverPi) +
        x * x * broadcast(3 * kTwoRootTwoOverPi * kGeluCubic);
    const Vec steep = s * (one - s);
    const Vec moved = steep <= zero ? zero : x * steep * inner;
    return {x * s, g * (s + moved)};
  }
  return {x, g};
}

// Calls `call` with the activation as a constant of the compiler's.
template <class Call>
inline void with_activation(Activation act, const Call& call) {
  switch (act) {
    case Activation::kNone:
      return call.template operator()<Activation::kNone>();
    case Activation::kRelu:
      return call.template operator()<Activation::kRelu>();
    case Activation::kRelu6:
      return call.template operator()<Activation::kRelu6>();
    case Activation::kHardswish:
      return call.template operator()<Activation::kHardswish>();
    case Activation::kSilu:
      return call.template operator()<Activation::kSilu>();
    case Activation::kGelu:
      return call.template operator()<Activation::kGelu>();
    case Activation::kGeluTanh:
      return call.template operator()<Activation::kGeluTanh>();
  }
}

// Half the lanes onto the other half, until one is left: the same order for
// every vector, so the same bits.
[[gnu::always_inline]] inline float fold_sum(Vec v) {
  float lanes[kLanes];
  store(lanes, v);
#pragma GCC unroll 4
  for (int half = kLanes / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i)
      lanes[i] += lanes[i + half];
  return lanes[0];
}

[[gnu::always_inline]] inline float fold_max(Vec v) {
  float lanes[kLanes];
  store(lanes, v);
#pragma GCC unroll 4
  for (int half = kLanes / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i)
      lanes[i] = lanes[i] < lanes[i + half] ? lanes[i + half] : lanes[i];
  return lanes[0];
}

} // namespace temper::kernels::TEMPER_TARGET

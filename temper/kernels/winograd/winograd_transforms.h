// The one-dimensional transforms of Winograd's short convolutions (Toom-Cook
// with a point at infinity), and their use in two dimensions. For files named
// *_simd.cpp.
//
// y = A^T [(G w) * (B^T d)] gives kOut outputs of a filter with kTaps taps from
// kIn = kOut + kTaps - 1 inputs and as many products. The gradients use the
// adjoints: the data gradient is a convolution again, and the weight gradient
// is G^T [(A dy) * (B^T d)].
//
// F(4, 3) uses the points 0, +-5/8, +-3/2 and infinity: the same number of
// operations as the usual 0, +-1, +-2, constants that are exact in binary, and
// half the error.
// Private to kernels/winograd.
#pragma once

#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

struct ShortTwo { // F(2, 3), points 0, 1, -1, infinity
  static constexpr int kOut = 2;
  static constexpr int kTaps = 3;
  static constexpr int kIn = 4;
  static constexpr int kPhases = 1;

  [[gnu::always_inline]] static void source(const Vec* d, Vec* v) {
    v[0] = d[2] - d[0];
    v[1] = d[2] + d[1];
    v[2] = d[2] - d[1];
    v[3] = d[3] - d[1];
  }
  [[gnu::always_inline]] static void target(const Vec* m, Vec* y) {
    y[0] = m[0] + (m[1] + m[2]);
    y[1] = (m[1] - m[2]) + m[3];
  }
  [[gnu::always_inline]] static void target_adjoint(const Vec* y, Vec* m) {
    m[0] = y[0];
    m[1] = y[0] + y[1];
    m[2] = y[0] - y[1];
    m[3] = y[1];
  }
  [[gnu::always_inline]] static void weight(const Vec* w, Vec* u) {
    const Vec half = broadcast(0.5F);
    const Vec even = (w[0] + w[2]) * half;
    const Vec odd = w[1] * half;
    u[0] = -w[0];
    u[1] = even + odd;
    u[2] = even - odd;
    u[3] = w[2];
  }
  [[gnu::always_inline]] static void weight_adjoint(const Vec* u, Vec* w) {
    const Vec half = broadcast(0.5F);
    const Vec even = (u[1] + u[2]) * half;
    w[0] = even - u[0];
    w[1] = (u[1] - u[2]) * half;
    w[2] = even + u[3];
  }
};

struct ShortFour { // F(4, 3), points 0, +-a, +-b, infinity
  static constexpr int kOut = 4;
  static constexpr int kTaps = 3;
  static constexpr int kIn = 6;
  static constexpr int kPhases = 1;
  static constexpr double a = 0.625;
  static constexpr double b = 1.5;
  static constexpr double a2 = a * a;
  static constexpr double b2 = b * b;
  static constexpr double by_a = 1 / (2 * a2 * (a2 - b2));
  static constexpr double by_b = 1 / (2 * b2 * (b2 - a2));
  static constexpr double by_0 = 1 / (a2 * b2);

  [[gnu::always_inline]] static Vec constant(double value) {
    return broadcast(static_cast<float>(value));
  }
  [[gnu::always_inline]] static void source(const Vec* d, Vec* v) {
    const Vec product = constant(a2 * b2);
    const Vec sum = constant(a2 + b2);
    v[0] = product * d[0] + (d[4] - sum * d[2]);
    v[5] = product * d[1] + (d[5] - sum * d[3]);
    const Vec even_a = d[4] - constant(b2) * d[2];
    const Vec odd_a = d[3] - constant(b2) * d[1];
    v[1] = even_a + constant(a) * odd_a;
    v[2] = even_a - constant(a) * odd_a;
    const Vec even_b = d[4] - constant(a2) * d[2];
    const Vec odd_b = d[3] - constant(a2) * d[1];
    v[3] = even_b + constant(b) * odd_b;
    v[4] = even_b - constant(b) * odd_b;
  }
  [[gnu::always_inline]] static void target(const Vec* m, Vec* y) {
    const Vec even_a = m[1] + m[2];
    const Vec odd_a = constant(a) * (m[1] - m[2]);
    const Vec even_b = m[3] + m[4];
    const Vec odd_b = constant(b) * (m[3] - m[4]);
    y[0] = m[0] + (even_a + even_b);
    y[1] = odd_a + odd_b;
    y[2] = constant(a2) * even_a + constant(b2) * even_b;
    y[3] = m[5] + (constant(a2) * odd_a + constant(b2) * odd_b);
  }
  [[gnu::always_inline]] static void target_adjoint(const Vec* y, Vec* m) {
    const Vec even_a = y[0] + constant(a2) * y[2];
    const Vec odd_a = constant(a) * (y[1] + constant(a2) * y[3]);
    const Vec even_b = y[0] + constant(b2) * y[2];
    const Vec odd_b = constant(b) * (y[1] + constant(b2) * y[3]);
    m[0] = y[0];
    m[1] = even_a + odd_a;
    m[2] = even_a - odd_a;
    m[3] = even_b + odd_b;
    m[4] = even_b - odd_b;
    m[5] = y[3];
  }
  [[gnu::always_inline]] static void weight(const Vec* w, Vec* u) {
    const Vec even_a = constant(by_a) * (w[0] + constant(a2) * w[2]);
    const Vec odd_a = constant(by_a * a) * w[1];
    const Vec even_b = constant(by_b) * (w[0] + constant(b2) * w[2]);
    const Vec odd_b = constant(by_b * b) * w[1];
    u[0] = constant(by_0) * w[0];
    u[1] = even_a + odd_a;
    u[2] = even_a - odd_a;
    u[3] = even_b + odd_b;
    u[4] = even_b - odd_b;
    u[5] = w[2];
  }
  [[gnu::always_inline]] static void weight_adjoint(const Vec* u, Vec* w) {
    const Vec even_a = constant(by_a) * (u[1] + u[2]);
    const Vec odd_a = constant(by_a * a) * (u[1] - u[2]);
    const Vec even_b = constant(by_b) * (u[3] + u[4]);
    const Vec odd_b = constant(by_b * b) * (u[3] - u[4]);
    w[0] = constant(by_0) * u[0] + (even_a + even_b);
    w[1] = odd_a + odd_b;
    w[2] = (constant(a2) * even_a + constant(b2) * even_b) + u[5];
  }
};

struct ShortStrided { // F(4, 2), points 0, 1, -1, c, infinity
  static constexpr int kOut = 4;
  static constexpr int kTaps = 2;
  static constexpr int kIn = 5;
  static constexpr int kPhases = 4;
  static constexpr double c = 0.5;
  static constexpr double by_0 = 1 / c;
  static constexpr double by_1 = 1 / (2 * (1 - c));
  static constexpr double by_2 = -1 / (2 * (1 + c));
  static constexpr double by_c = 1 / (c * (c * c - 1));

  [[gnu::always_inline]] static Vec constant(double value) {
    return broadcast(static_cast<float>(value));
  }
  [[gnu::always_inline]] static void source(const Vec* d, Vec* v) {
    const Vec t1 = d[3] - constant(c) * d[2];
    const Vec t2 = d[1] - constant(c) * d[0];
    const Vec t3 = d[2] - constant(c) * d[1];
    const Vec t4 = d[4] - constant(c) * d[3];
    v[0] = t1 - t2;
    v[1] = t1 + t3;
    v[2] = t1 - t3;
    v[3] = d[3] - d[1];
    v[4] = t4 - t3;
  }
  [[gnu::always_inline]] static void target(const Vec* m, Vec* y) {
    const Vec even = m[1] + m[2];
    const Vec odd = m[1] - m[2];
    y[0] = (m[0] + m[3]) + even;
    y[1] = odd + constant(c) * m[3];
    y[2] = even + constant(c * c) * m[3];
    y[3] = (odd + constant(c * c * c) * m[3]) + m[4];
  }
  [[gnu::always_inline]] static void target_adjoint(const Vec* y, Vec* m) {
    const Vec even = y[0] + y[2];
    const Vec odd = y[1] + y[3];
    m[0] = y[0];
    m[1] = even + odd;
    m[2] = even - odd;
    m[3] = (y[0] + constant(c) * y[1]) +
        (constant(c * c) * y[2] + constant(c * c * c) * y[3]);
    m[4] = y[3];
  }
  [[gnu::always_inline]] static void weight(const Vec* w, Vec* u) {
    u[0] = constant(by_0) * w[0];
    u[1] = constant(by_1) * (w[0] + w[1]);
    u[2] = constant(by_2) * (w[0] - w[1]);
    u[3] = constant(by_c) * (w[0] + constant(c) * w[1]);
    u[4] = w[1];
  }
  [[gnu::always_inline]] static void weight_adjoint(const Vec* u, Vec* w) {
    const Vec p = constant(by_1) * u[1];
    const Vec q = constant(by_2) * u[2];
    const Vec r = constant(by_c) * u[3];
    w[0] = (constant(by_0) * u[0] + r) + (p + q);
    w[1] = (p - q) + (constant(c) * r + u[4]);
  }
};

// Names the five one-dimensional transforms, so that they can be passed on.
template <class Short>
struct SourceStep {
  static constexpr int kFrom = Short::kIn;
  static constexpr int kTo = Short::kIn;
  [[gnu::always_inline]] static void apply(const Vec* from, Vec* to) {
    Short::source(from, to);
  }
};
template <class Short>
struct TargetStep {
  static constexpr int kFrom = Short::kIn;
  static constexpr int kTo = Short::kOut;
  [[gnu::always_inline]] static void apply(const Vec* from, Vec* to) {
    Short::target(from, to);
  }
};
template <class Short>
struct TargetAdjointStep {
  static constexpr int kFrom = Short::kOut;
  static constexpr int kTo = Short::kIn;
  [[gnu::always_inline]] static void apply(const Vec* from, Vec* to) {
    Short::target_adjoint(from, to);
  }
};
template <class Short>
struct WeightStep {
  static constexpr int kFrom = Short::kTaps;
  static constexpr int kTo = Short::kIn;
  [[gnu::always_inline]] static void apply(const Vec* from, Vec* to) {
    Short::weight(from, to);
  }
};
template <class Short>
struct WeightAdjointStep {
  static constexpr int kFrom = Short::kIn;
  static constexpr int kTo = Short::kTaps;
  [[gnu::always_inline]] static void apply(const Vec* from, Vec* to) {
    Short::weight_adjoint(from, to);
  }
};

// Applies a step down the columns and then along the rows. `from(i, j)` hands
// out a vector, `to(i, j, value)` takes one.
template <class Step, class From, class To>
[[gnu::always_inline]] inline void both_ways(const From& from, const To& to) {
  constexpr int kFrom = Step::kFrom;
  constexpr int kTo = Step::kTo;
  Vec between[kTo][kFrom];
#pragma GCC unroll 8
  for (int j = 0; j < kFrom; ++j) {
    Vec column[kFrom];
    Vec result[kTo];
#pragma GCC unroll 8
    for (int i = 0; i < kFrom; ++i)
      column[i] = from(i, j);
    Step::apply(column, result);
#pragma GCC unroll 8
    for (int i = 0; i < kTo; ++i)
      between[i][j] = result[i];
  }
#pragma GCC unroll 8
  for (int i = 0; i < kTo; ++i) {
    Vec result[kTo];
    Step::apply(between[i], result);
#pragma GCC unroll 8
    for (int j = 0; j < kTo; ++j)
      to(i, j, result[j]);
  }
}

} // namespace temper::kernels::TEMPER_TARGET

// One vector of floats of the unit this file is compiled for, with the
// compiler's own operators: a + b, a * b, a < b ? x : y. For files named
// *_simd.cpp only: TEMPER_TARGET is the unit's namespace and TEMPER_LANES its
// width.
//
// These files see no inline function of the standard library: the linker keeps
// one copy of each, and a copy compiled for a newer processor would run on old
// ones, too. Plain pointers, built-ins and functions of this namespace are all
// they need.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(TEMPER_TARGET) || !defined(TEMPER_LANES)
#error "temper/kernels/simd/vector.h is for files named *_simd.cpp"
#endif

namespace temper::kernels::TEMPER_TARGET {

constexpr int kLanes = TEMPER_LANES;

typedef float Vec
    __attribute__((vector_size(4 * TEMPER_LANES), aligned(4), may_alias));
typedef std::int32_t IntVec
    __attribute__((vector_size(4 * TEMPER_LANES), aligned(4), may_alias));

// The register tile of a multiplication: kTileRows rows by kTileVectors
// vectors, as many as the unit has registers for.
#if TEMPER_LANES == 16 // AVX-512: 32 registers
constexpr int kTileRows = 12;
constexpr int kTileVectors = 2;
#elif TEMPER_LANES == 8 // AVX2: 16 registers
constexpr int kTileRows = 6;
constexpr int kTileVectors = 2;
#elif defined(__aarch64__) // NEON: 32 registers
constexpr int kTileRows = 6;
constexpr int kTileVectors = 4;
#else
constexpr int kTileRows = 4;
constexpr int kTileVectors = 2;
#endif
constexpr int kTileColumns = kTileVectors * kLanes;

// `count` rounded up to whole vectors.
[[gnu::always_inline]] inline std::int64_t whole_vectors(std::int64_t count) {
  return (count + kLanes - 1) / kLanes * kLanes;
}

[[gnu::always_inline]] inline Vec load(const float* from) {
  return *reinterpret_cast<const Vec*>(from);
}

[[gnu::always_inline]] inline void store(float* to, Vec value) {
  *reinterpret_cast<Vec*>(to) = value;
}

// A sum with a zero vector would be a real addition: -0 + 0 is +0.
[[gnu::always_inline]] inline Vec broadcast(float value) {
#if TEMPER_LANES == 16
  return Vec{
      value,
      value,
      value,
      value,
      value,
      value,
      value,
      value,
      value,
      value,
      value,
      value,
      value,
      value,
      value,
      value};
#elif TEMPER_LANES == 8
  return Vec{value, value, value, value, value, value, value, value};
#else
  return Vec{value, value, value, value};
#endif
}

// The first `count` lanes; the others are zero. Reads nothing beyond them.
[[gnu::always_inline]] inline Vec load_some(const float* from, int count) {
  Vec value = {};
  for (int i = 0; i < count; ++i)
    value[i] = from[i];
  return value;
}

[[gnu::always_inline]] inline void store_some(float* to, Vec value, int count) {
  for (int i = 0; i < count; ++i)
    to[i] = value[i];
}

// A NaN in `a` stays one.
[[gnu::always_inline]] inline Vec at_least(Vec a, Vec low) {
  return a < low ? low : a;
}

[[gnu::always_inline]] inline Vec at_most(Vec a, Vec high) {
  return a > high ? high : a;
}

// `value` where the mask is set, zero elsewhere.
[[gnu::always_inline]] inline Vec masked(IntVec mask, Vec value) {
  return reinterpret_cast<Vec>(mask & reinterpret_cast<IntVec>(value));
}

// All lanes, in the order of lanes.
[[gnu::always_inline]] inline float sum_of_lanes(Vec value) {
  float sum = value[0];
  for (int i = 1; i < kLanes; ++i)
    sum += value[i];
  return sum;
}

} // namespace temper::kernels::TEMPER_TARGET

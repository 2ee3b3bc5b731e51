// A vector of channels that may end inside the vector: loops over channels are
// written once, with Whole for all vectors but the last and Part for a last one
// that is not full. For files named *_simd.cpp.
#pragma once

#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

struct Whole {
  static constexpr int count = kLanes;
  [[gnu::always_inline]] static Vec load(const float* from) {
    return TEMPER_TARGET::load(from);
  }
  [[gnu::always_inline]] static void store(float* to, Vec value) {
    TEMPER_TARGET::store(to, value);
  }
};

#if TEMPER_LANES > 4
typedef float HalfVec
    __attribute__((vector_size(2 * TEMPER_LANES), aligned(4), may_alias));

// The lower half of a vector is what channels in multiples of 8 leave over.
[[gnu::always_inline]] inline Vec load_half(const float* from) {
  const HalfVec half = *reinterpret_cast<const HalfVec*>(from);
#if TEMPER_LANES == 16
  return __builtin_shufflevector(
      half, HalfVec{}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  return __builtin_shufflevector(half, HalfVec{}, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

[[gnu::always_inline]] inline void store_half(float* to, Vec value) {
#if TEMPER_LANES == 16
  *reinterpret_cast<HalfVec*>(to) =
      __builtin_shufflevector(value, value, 0, 1, 2, 3, 4, 5, 6, 7);
#else
  *reinterpret_cast<HalfVec*>(to) =
      __builtin_shufflevector(value, value, 0, 1, 2, 3);
#endif
}
#endif

// The first `count` lanes, of 1 to kLanes - 1; the others are zero.
struct Part {
  int count;
  [[gnu::always_inline]] Vec load(const float* from) const {
#if TEMPER_LANES > 4
    if (count == kLanes / 2) return load_half(from);
#endif
    return load_some(from, count);
  }
  [[gnu::always_inline]] void store(float* to, Vec value) const {
#if TEMPER_LANES > 4
    if (count == kLanes / 2) return store_half(to, value);
#endif
    store_some(to, value, count);
  }
};

// Adds float sums to sums in double and clears them: long sums are kept in
// double, their inner loops in float.
inline void drain(std::int64_t count, float* from, double* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] += static_cast<double>(from[i]);
    from[i] = 0;
  }
}

// Float sums of at most this many rows go into the sums in double.
constexpr std::int64_t kFloatRows = 64;

inline void clear(std::int64_t count, float* values) {
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = 0;
}

// Moments are counted from a pivot: the mean of a chunk's first few rows, so
// that sums in float stay small beside what they are made of.
constexpr std::int64_t kPivotRows = 12;

inline void find_pivot(
    std::int64_t rows,
    std::int64_t channels,
    const float* y,
    std::int64_t stride,
    float* pivot) {
  const std::int64_t count = rows < kPivotRows ? rows : kPivotRows;
  for (std::int64_t c = 0; c < channels; ++c)
    pivot[c] = 0;
  for (std::int64_t r = 0; r < count; ++r)
    for (std::int64_t c = 0; c < channels; ++c)
      pivot[c] += y[r * stride + c];
  for (std::int64_t c = 0; c < channels; ++c)
    pivot[c] /= static_cast<float>(count);
}

// Moments of one vector of columns, over the rows of a block.
struct CountColumns {
  std::int64_t rows;
  const float* y;
  std::int64_t stride;
  const float* pivot;
  float* first;
  float* second;

  template <class Lanes>
  [[gnu::always_inline]] void run(Lanes lanes, std::int64_t c) const {
    const Vec from = load(pivot + c);
    Vec a[2] = {};
    Vec b[2] = {};
    std::int64_t r = 0;
    for (; r + 2 <= rows; r += 2) // two chains hide the additions' latency
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const Vec away = lanes.load(y + (r + i) * stride + c) - from;
        a[i] += away;
        b[i] += away * away;
      }
    if (r < rows) {
      const Vec away = lanes.load(y + r * stride + c) - from;
      a[0] += away;
      b[0] += away * away;
    }
    store(first + c, load(first + c) + (a[0] + a[1]));
    store(second + c, load(second + c) + (b[0] + b[1]));
  }
};

// Calls job.run(lanes, column) for every vector of `width` columns.
template <class Job>
[[gnu::always_inline]] inline void over_vectors(
    std::int64_t width,
    const Job& job) {
  std::int64_t c = 0;
  for (; c + kLanes <= width; c += kLanes)
    job.run(Whole{}, c);
  if (c < width) job.run(Part{static_cast<int>(width - c)}, c);
}

} // namespace temper::kernels::TEMPER_TARGET

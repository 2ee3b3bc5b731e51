// A square block of kLanes x kLanes floats, transposed in registers. For files
// named *_simd.cpp.
#pragma once

#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

// The lower and the upper halves of two vectors, their lanes in turn.
[[gnu::always_inline]] inline Vec interleave_lower(Vec a, Vec b) {
#if TEMPER_LANES == 16
  return __builtin_shufflevector(
      a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif TEMPER_LANES == 8
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
  return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}

[[gnu::always_inline]] inline Vec interleave_upper(Vec a, Vec b) {
#if TEMPER_LANES == 16
  return __builtin_shufflevector(
      a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif TEMPER_LANES == 8
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
  return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

// to[j][i] = from[i][j]. Each round interleaves row i with row i + kLanes / 2;
// after log2(kLanes) rounds rows and columns have changed places.
[[gnu::always_inline]] inline void transpose_block(
    const float* from,
    std::int64_t from_stride,
    float* to,
    std::int64_t to_stride) {
  Vec rows[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    rows[i] = load(from + i * from_stride);
#pragma GCC unroll 4
  for (int round = 1; round < kLanes; round *= 2) {
    Vec next[kLanes];
#pragma GCC unroll 8
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = interleave_lower(rows[i], rows[i + kLanes / 2]);
      next[2 * i + 1] = interleave_upper(rows[i], rows[i + kLanes / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i)
      rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    store(to + i * to_stride, rows[i]);
}

// A block that is not full: `rows` x `columns` of `from`; the rest of the
// transposed block is zero.
inline void transpose_some(
    const float* from,
    std::int64_t from_stride,
    int rows,
    int columns,
    float* to,
    std::int64_t to_stride) {
  for (int j = 0; j < kLanes; ++j)
    for (int i = 0; i < kLanes; ++i)
      to[j * to_stride + i] =
          i < rows && j < columns ? from[i * from_stride + j] : 0.0F;
}

} // namespace temper::kernels::TEMPER_TARGET

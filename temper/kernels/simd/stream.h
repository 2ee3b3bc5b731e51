// Stores past the caches, for a result larger than them that is read again only
// after all of it is written: whole cache lines, which then need not be read
// before they are written. For files named *_simd.cpp.
#pragma once

#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

constexpr std::int64_t kLineFloats = 16;
constexpr std::int64_t kStreamedFloats = std::int64_t{1} << 22;

// Vectors that fill a line.
constexpr int kLineVectors =
    kLanes < kLineFloats ? static_cast<int>(kLineFloats / kLanes) : 1;

// Whether rows of `channels` are worth it, and lie so that it can be done.
[[gnu::always_inline]] inline bool
streams(const float* to, std::int64_t rows, std::int64_t channels) {
  return kLanes > 4 && rows * channels >= kStreamedFloats &&
      channels % kLineFloats == 0 &&
      reinterpret_cast<std::uintptr_t>(to) % (4 * kLineFloats) == 0;
}

[[gnu::always_inline]] inline void stream(float* to, Vec value) {
#if TEMPER_LANES == 16 && !defined(__clang__)
  __builtin_ia32_movntps512(to, value);
#elif TEMPER_LANES == 8 && !defined(__clang__)
  __builtin_ia32_movntps256(to, value);
#else
  store(to, value);
#endif
}

// Before another thread may read what was streamed.
[[gnu::always_inline]] inline void end_streams() {
#if TEMPER_LANES > 4
  __builtin_ia32_sfence();
#endif
}

template <bool kStream, class Lanes>
[[gnu::always_inline]] inline void
store_or_stream(Lanes lanes, float* to, Vec value) {
  if constexpr (kStream)
    stream(to, value);
  else
    lanes.store(to, value);
}

} // namespace temper::kernels::TEMPER_TARGET

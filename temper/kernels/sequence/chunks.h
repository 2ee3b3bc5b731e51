// How the work of this corner is cut. By the shapes alone: see simd/threads.h.
// For files named *_simd.cpp.
// Private to kernels/sequence.
#pragma once

#include "temper/kernels/simd/threads.h"
#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

// Waking threads takes some microseconds; below this many multiply-adds (or
// what takes as long) one thread does it all.
constexpr std::int64_t kWorthThreads = 1 << 19;

template <class Work>
inline void
for_each_chunk_of(std::int64_t cost, std::int64_t chunks, const Work& work) {
  if (cost >= kWorthThreads) return for_each_chunk(chunks, work);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    work(chunk);
}

// Partial sums that rows are added up in, a power of two: enough for the
// threads of common machines, few enough to be added up quickly. `floats` is
// the size of one sum.
[[gnu::always_inline]] inline std::int64_t partial_sums(
    std::int64_t rows,
    std::int64_t floats) {
  constexpr std::int64_t kMostFloats = 8 << 20;
  const std::int64_t most = rows >= 32768 ? 16 : 8;
  std::int64_t parts = 1;
  while (parts < most && rows >= 2 * parts * 256 &&
         2 * parts * floats <= kMostFloats)
    parts *= 2;
  return parts;
}

} // namespace temper::kernels::TEMPER_TARGET

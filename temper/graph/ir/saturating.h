// Arithmetic for counts that only serve as figures: what does not fit stays at
// the largest number rather than wrapping around.
// Private to graph.
#pragma once

#include <cstdint>
#include <limits>

namespace temper::graph {

inline std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product)
      ? std::numeric_limits<std::int64_t>::max()
      : product;
}

inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum)
      ? std::numeric_limits<std::int64_t>::max()
      : sum;
}

} // namespace temper::graph

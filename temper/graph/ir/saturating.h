// Arithmetic for counts that only serve as figures: what does not fit stays at
// the largest number rather than wrapping around.
// Private to graph.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

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

// The product of all sizes from `first` on.
inline std::int64_t product_of(
    const std::vector<std::int64_t>& sizes,
    std::size_t first = 0) {
  std::int64_t product = 1;
  for (std::size_t i = first; i < sizes.size(); ++i)
    product = times(product, sizes[i]);
  return product;
}

} // namespace temper::graph

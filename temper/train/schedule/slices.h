// How a batch is cut into slices that are computed one after the other.
#pragma once

#include <cstdint>
#include <vector>

namespace temper::train {

// The sizes of slices of `at_once` samples each (0: all of them), and what is
// left over. A rest below `group` goes to the slice before it: groups are never
// cut.
inline std::vector<std::int64_t> slice_sizes(
    std::int64_t samples,
    std::int64_t at_once,
    std::int64_t group = 1) {
  std::vector<std::int64_t> sizes;
  const std::int64_t most = at_once > 0 ? at_once : samples;
  for (std::int64_t left = samples; left > 0;) {
    const std::int64_t size = left - most < group || left <= most ? left : most;
    sizes.push_back(size);
    left -= size;
  }
  return sizes;
}

} // namespace temper::train

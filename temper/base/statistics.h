// The number in the middle, which a few outliers do not move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace temper {

// The median of one or more values; the larger one where two are in the middle.
inline double upper_median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The median of one or more values; the mean where two are in the middle.
inline double median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

} // namespace temper

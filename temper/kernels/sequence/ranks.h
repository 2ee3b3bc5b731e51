// How many predictions are right: rows of scores, [rows, classes], against a
// label a row. A label is among the best k when fewer than k classes score
// higher, where of equal scores the lower class counts as higher. A row with a
// score that is not finite is wrong.
#pragma once

#include <cstdint>

namespace temper::kernels {

struct RankedRows {
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const float* scores = nullptr;
  std::int64_t stride = 0; // between rows
  const std::int64_t* labels = nullptr;
  std::int64_t top = 1; // the k beside 1
};

struct RightRows {
  std::int64_t best = 0;
  std::int64_t among_top = 0;
  bool labels_in_range = true; // else the rest is not meaningful
};
RightRows count_right(const RankedRows& rows);

struct RanksTable {
  RightRows (*count)(const RankedRows&);
};

} // namespace temper::kernels

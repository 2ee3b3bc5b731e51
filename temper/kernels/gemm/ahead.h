// Memory that will be wanted soon, asked for while something else is computed:
// a multiplication leaves the way to memory idle, and a pass over rows that are
// not in a cache does little else but wait. For files named *_simd.cpp.
#pragma once

#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

// The part that one register tile asks for: at each step of its sums another
// half of a cache line, or a whole one where a step takes twice as long.
struct AheadShare {
  const float* from = nullptr;
  std::int64_t step = 0;

  [[gnu::always_inline]] void ask() {
    __builtin_prefetch(from, 0, 2); // into the second-level cache
    from += step;
  }
};

class Ahead {
 public:
  void add(const float* begin, std::int64_t floats) {
    if (floats <= 0) return;
    at_[count_] = begin;
    end_[count_++] = begin + floats;
  }

  // For a sum of `depth` steps. When nothing is left, it asks for `idle`, which
  // is in a cache.
  [[gnu::always_inline]] AheadShare share(
      std::int64_t depth,
      const float* idle) {
    if (now_ == count_) return {idle, 0};
    const AheadShare found{at_[now_], kStep};
    at_[now_] += depth * kStep;
    if (at_[now_] >= end_[now_]) ++now_;
    return found;
  }

 private:
  static constexpr std::int64_t kStep = kTileRows >= 12 ? 16 : 8;
  static constexpr int kMost = 6;
  const float* at_[kMost];
  const float* end_[kMost];
  int count_ = 0;
  int now_ = 0;
};

} // namespace temper::kernels::TEMPER_TARGET

#include "temper/supervise/patience.h"

#include <algorithm>
#include <cmath>

#include "temper/base/text.h"

namespace temper::supervise {

std::optional<double> Patience::after(std::int64_t update, bool saved) {
  constexpr double kLongest_s = 60;
  same_ = update == update_ ? same_ + 1 : 1;
  update_ = update;
  in_vain_ = saved ? 1 : in_vain_ + 1;
  if (same_ >= kSameStep || in_vain_ >= kNoProgress) return std::nullopt;
  if (in_vain_ == 1) return 0;
  return std::min(kLongest_s, std::exp2(in_vain_ - 2));
}

std::string Patience::verdict() const {
  if (same_ < kSameStep)
    return cat(
        "it died ", in_vain_, " times in a row without another checkpoint");
  return update_ < 0
      ? cat("it died ", same_, " times in a row before its first step")
      : cat("it died ",
            same_,
            " times in a row in step ",
            count_text(update_ + 1));
}

} // namespace temper::supervise

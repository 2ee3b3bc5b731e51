#include "temper/plan/part_of_batch.h"

#include <algorithm>

namespace temper::plan {

int samples_in_time(
    int whole,
    int few,
    double step_s,
    const std::function<double(int)>& seconds_of) {
  if (whole <= few) return whole;
  const double few_s = seconds_of(few);
  // If all of the time were a cost of samples.
  const double least = step_s / few_s * few;
  if (least >= whole) return whole;
  constexpr int kApart = 4;
  const int more =
      std::max(static_cast<int>(least), std::min(kApart * few, whole));
  const double more_s = seconds_of(more);
  const double sample_s = (more_s - few_s) / (more - few);
  if (more_s + (whole - more) * sample_s <= step_s) return whole;
  if (sample_s <= 0) return few; // noise: a step takes too long as it is
  const double most = more + (step_s - more_s) / sample_s;
  return static_cast<int>(std::clamp<double>(most, few, whole));
}

} // namespace temper::plan

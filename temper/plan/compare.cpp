#include "temper/plan/compare.h"

#include <algorithm>
#include <cmath>

#include "temper/base/statistics.h"

namespace temper::plan {
namespace {

// A difference below this is not worth another setting.
constexpr double kNotable = 0.02;
// Known to be closer than this, two settings are equal for all purposes.
constexpr double kEqual = 0.05;
// Few samples may agree by chance: so much is the error of one pair at least,
// and of n pairs the n-th part.
constexpr double kLeastError = 0.6;
// From the median deviation to a standard deviation of normal noise; from a
// mean deviation likewise; from there to the error of a median.
constexpr double kOfMedianDeviation = 1.4826;
constexpr double kOfMeanDeviation = 1.2533;
constexpr double kOfMedian = 1.2533;
// How far a single stall may count, in deviations and beside them.
constexpr double kFarthest = 4;
constexpr double kFarthestBeside = 0.05;
// The samples are looked at again and again until they are clear: a usual 2
// would find a lead in noise one time in five.
constexpr double kSureness = 4;

std::vector<double> deviations(
    const std::vector<double>& values,
    double middle) {
  std::vector<double> away;
  away.reserve(values.size());
  for (const double value : values)
    away.push_back(std::abs(value - middle));
  return away;
}

// The larger of two estimates: half of few samples may lie close together.
double deviation_of(const std::vector<double>& values, double middle) {
  std::vector<double> away = deviations(values, middle);
  const double of_median = kOfMedianDeviation * median(away);
  double sum = 0;
  for (const double each : away)
    sum += std::min(each, kFarthest * of_median + kFarthestBeside);
  return std::max(
      of_median, kOfMeanDeviation * sum / static_cast<double>(away.size()));
}

} // namespace

bool Comparison::faster() const {
  return ratio * std::exp(error) < 1 && ratio < 1 - kNotable;
}

bool Comparison::slower() const {
  return ratio > std::exp(error) && ratio > 1 + kNotable;
}

bool Comparison::settled() const {
  return faster() || slower() || std::abs(std::log(ratio)) + error < kEqual;
}

Comparison compare(
    const std::vector<double>& first_s,
    const std::vector<double>& second_s) {
  const std::size_t pairs = std::min(first_s.size(), second_s.size());
  std::vector<double> logs;
  for (std::size_t i = 0; i < pairs; ++i)
    if (first_s[i] > 0 && second_s[i] > 0)
      logs.push_back(std::log(first_s[i] / second_s[i]));
  if (logs.empty()) return {};
  const double middle = median(logs);
  const auto n = static_cast<double>(logs.size());
  const double scatter = kSureness * kOfMedian * deviation_of(logs, middle) /
      std::sqrt(n) * (1 + 2 / n);
  return {std::exp(middle), std::max(kLeastError / n, scatter)};
}

double spread_of(const std::vector<double>& samples_s) {
  if (samples_s.size() < 2) return 0;
  const double middle = median(samples_s);
  return middle > 0
      ? kOfMedianDeviation * median(deviations(samples_s, middle)) / middle
      : 0;
}

} // namespace temper::plan

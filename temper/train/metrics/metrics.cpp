#include "temper/train/metrics/metrics.h"

#include <algorithm>
#include <cmath>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::train {
namespace {

double ratio(double sum, double count) {
  return count > 0 ? sum / count : std::nan("");
}

} // namespace

void MetricSums::add(const MetricSums& other) {
  loss += other.loss;
  units += other.units;
  samples += other.samples;
  predictions += other.predictions;
  correct += other.correct;
  correct_top += other.correct_top;
  top = std::max(top, other.top);
  if (!other.confusion.empty()) {
    if (confusion.empty()) {
      classes = other.classes;
      confusion.assign(other.confusion.size(), 0);
    }
    check(classes == other.classes, "sums of the same classes");
    for (std::size_t i = 0; i < confusion.size(); ++i)
      confusion[i] += other.confusion[i];
  }
  numbers += other.numbers;
  absolute_error += other.absolute_error;
  squared_error += other.squared_error;
  target_sum += other.target_sum;
  target_squares += other.target_squares;
  for (const auto& [name, sums] : other.own) {
    own[name].first += sums.first;
    own[name].second += sums.second;
  }
}

std::vector<std::pair<std::string, double>> metrics_of(const MetricSums& sums) {
  std::vector<std::pair<std::string, double>> shown;
  if (sums.units > 0) shown.emplace_back("loss", sums.loss / sums.units);
  const auto predictions = static_cast<double>(sums.predictions);
  if (sums.predictions > 0) {
    shown.emplace_back(
        "accuracy", static_cast<double>(sums.correct) / predictions);
    if (sums.top > 1)
      shown.emplace_back(
          cat("top", sums.top),
          static_cast<double>(sums.correct_top) / predictions);
  }
  // One prediction a token rather than a sample: how many it wavers between.
  if (sums.predictions > sums.samples && sums.units > 0)
    shown.emplace_back("perplexity", std::exp(sums.loss / sums.units));
  if (sums.numbers > 0) {
    const auto count = static_cast<double>(sums.numbers);
    shown.emplace_back("mae", sums.absolute_error / count);
    shown.emplace_back("rmse", std::sqrt(sums.squared_error / count));
    const double spread =
        sums.target_squares - sums.target_sum * sums.target_sum / count;
    // Targets that are all the same have no variance to explain.
    if (spread > 0) shown.emplace_back("r2", 1 - sums.squared_error / spread);
  }
  for (const auto& [name, own] : sums.own)
    shown.emplace_back(name, ratio(own.first, own.second));
  return shown;
}

double metric(const MetricSums& sums, const std::string& name) {
  for (const auto& [shown, value] : metrics_of(sums))
    if (shown == name) return value;
  return std::nan("");
}

std::vector<double> class_accuracies(const MetricSums& sums) {
  std::vector<double> accuracies;
  const auto classes = static_cast<std::size_t>(sums.classes);
  for (std::size_t truth = 0; truth < classes; ++truth) {
    const std::int64_t* row = sums.confusion.data() + truth * classes;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < classes; ++i)
      count += row[i];
    accuracies.push_back(
        ratio(static_cast<double>(row[truth]), static_cast<double>(count)));
  }
  return accuracies;
}

bool larger_is_better(const std::string& metric) {
  return contains(metric, "accuracy") || contains(metric, "top") ||
      contains(metric, "r2");
}

} // namespace temper::train

// Metrics are sums over the whole set and divided once: never means of batch
// means. An engine adds up on its device and hands these over when asked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace temper::train {

struct MetricSums {
  double loss = 0; // sum over units
  double units = 0; // samples, tokens or weights: what the loss divides by
  std::int64_t samples = 0;
  // Classification and next-token; predictions counts samples or tokens.
  std::int64_t predictions = 0;
  std::int64_t correct = 0;
  std::int64_t correct_top = 0; // among the best `top`
  int top = 0; // 0: not counted
  // classes x classes, rows are the truth; empty: not counted.
  int classes = 0;
  std::vector<std::int64_t> confusion;
  // Regression; numbers counts the elements of all targets.
  std::int64_t numbers = 0;
  double absolute_error = 0;
  double squared_error = 0;
  double target_sum = 0;
  double target_squares = 0;
  // A user's own, by name: sum and weight.
  std::map<std::string, std::pair<double, double>> own;

  void add(const MetricSums& other);
};

// Name and value, in the order in which they are shown: loss, accuracy, top5,
// mae, rmse, r2, perplexity. Only those that were counted.
std::vector<std::pair<std::string, double>> metrics_of(const MetricSums& sums);
// NaN when it was not counted.
double metric(const MetricSums& sums, const std::string& name);

// The accuracy of each class; NaN for one without samples.
std::vector<double> class_accuracies(const MetricSums& sums);

// Larger is better, as for accuracy and r2; smaller for everything else.
bool larger_is_better(const std::string& metric);

} // namespace temper::train

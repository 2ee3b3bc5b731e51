// Right and wrong predictions, counted on the device and read when somebody
// asks. A copy is cheap and stays as it is: what is added makes new tensors.
// Used by the tasks and the engine. Includes torch: see task.h.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>

#include "temper/train/metrics/metrics.h"

namespace temper::train {

// Classification: a prediction is right among the best k when fewer than k
// classes score higher than the true one, where of equal scores the lower class
// counts as higher. A row with a score that is not finite is wrong.
class PredictionCounts {
 public:
  // top: the k beside 1; 0: only 1. The confusion matrix when `confusion`.
  void add(
      const at::Tensor& logits, // N x C, or N x C x T
      const at::Tensor& labels,
      int top,
      bool confusion);
  // Adds `predictions` rows that somebody else has counted.
  void add_counted(
      std::int64_t best,
      std::int64_t among_top,
      std::int64_t predictions,
      int top);
  void read(MetricSums& sums) const; // waits for the device

 private:
  at::Tensor correct_; // 2 counts: best, among the best `top`
  std::array<std::int64_t, 2> correct_here_{}; // the same, of scores on the CPU
  at::Tensor confusion_; // classes x classes
  std::int64_t predictions_ = 0;
  int top_ = 0;
  int classes_ = 0;
};

// Regression: errors and what r2 needs.
class ErrorSums {
 public:
  void add(const at::Tensor& output, const at::Tensor& target);
  void read(MetricSums& sums) const;

 private:
  at::Tensor sums_; // absolute, squared, target, target squared
  std::int64_t numbers_ = 0;
};

// The type that sums are kept in: double, where the device has it.
at::ScalarType sum_type(const at::Device& device);

} // namespace temper::train

// The loss and accuracy of the live line. Between two reports of slow steps
// they are read for it alone. No torch.
// Private to train/loop.
#pragma once

#include <chrono>
#include <cmath>

#include "temper/train/engine/engine.h"

namespace temper::train {

class ShownNumbers {
 public:
  // Numbers that can be read for nothing are never older than `oldest_s`, or
  // than one step.
  ShownNumbers(const Engine& engine, double oldest_s);

  // The next step is to be read.
  bool is_old() const;
  // A step that is reported; `so_far` are the sums of its epoch.
  void take(const StepReport& last, const MetricSums& so_far);
  // A step that was read and is not reported. The engine's sums stay where they
  // are: when they are taken decides about their last bits.
  void look(Engine& engine, const MetricSums& so_far);

  double loss() const { // NaN: none yet
    return loss_;
  }
  double accuracy() const { // of the epoch so far; NaN: none
    return accuracy_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool reads_late_;
  double oldest_s_;
  double loss_ = std::nan("");
  double accuracy_ = std::nan("");
  Clock::time_point at_ = Clock::now();
};

} // namespace temper::train

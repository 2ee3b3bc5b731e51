// Measures a loader in windows of a second of its running time and lets the
// autotuner decide. Says what it settled on.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "temper/data/tune/autotune.h"

namespace temper::data {

class LoaderTuner {
 public:
  // `settled` is called with what it settled on, each time that changes.
  LoaderTuner(
      Tuning start,
      TuneLimits limits,
      double window_s,
      std::function<void(Tuning)> settled);

  // The epoch's first batch is there: before it, the ring was empty, which
  // says nothing about the workers.
  void begin(double busy_s);
  // A batch was taken after waiting. `busy_s` of all workers since ever.
  // What should change, if anything.
  std::optional<Tuning> batch(double wait_s, int samples, double busy_s);

 private:
  using Clock = std::chrono::steady_clock;

  Autotuner tuner_;
  double window_s_;
  std::function<void(Tuning)> settled_;
  Clock::time_point last_;
  double busy_before_s_ = 0;
  // The measurements of the window under way.
  TuneWindow window_;
  double busy_s_ = 0;
  std::int64_t samples_ = 0;
  std::optional<Tuning> announced_;
};

} // namespace temper::data

#include "temper/train/metrics/meter.h"

#include <algorithm>

#include "temper/base/clock.h"

namespace temper::train {

void Meter::add_earlier(const TimeSpent& run) {
  earlier_s_ += run.all_s;
  run_wait_s_ += run.waiting_s;
  evaluating_s_ += run.evaluating_s;
}

// The window begins with the epoch: what lies between two epochs (validation,
// the checkpoint) is not training.
void Meter::begin_epoch(const TimeSpent& earlier) {
  epoch_begin_ = window_begin_ = Clock::now();
  in_epoch_ = true;
  epoch_s_ = earlier.all_s;
  epoch_wait_s_ = earlier.waiting_s;
  window_wait_s_ = 0;
  window_samples_ = 0;
}

void Meter::end_epoch() {
  epoch_s_ = epoch_s();
  in_epoch_ = false;
}

double Meter::epoch_s() const {
  return in_epoch_ ? epoch_s_ + seconds_since(epoch_begin_) : epoch_s_;
}

void Meter::waited(double seconds) {
  window_wait_s_ += seconds;
  epoch_wait_s_ += seconds;
  run_wait_s_ += seconds;
}

void Meter::report() {
  const double window_s = seconds_since(window_begin_);
  if (window_s > 0) {
    samples_per_s_ = static_cast<double>(window_samples_) / window_s;
    waiting_ = std::min(window_wait_s_ / window_s, 1.0);
  }
  window_begin_ = Clock::now();
  window_samples_ = 0;
  window_wait_s_ = 0;
}

double Meter::run_s() const {
  return earlier_s_ + seconds_since(begin_);
}

} // namespace temper::train

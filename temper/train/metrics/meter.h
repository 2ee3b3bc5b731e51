// The loop's clock: how fast samples go by and how much of the time is spent
// waiting for data or validating, since the last report, in this epoch, and
// over the run.
#pragma once

#include <chrono>
#include <cstdint>

namespace temper::train {

// Seconds of a run or of an epoch, and those of them spent otherwise.
struct TimeSpent {
  double all_s = 0;
  double waiting_s = 0; // for data
  double evaluating_s = 0;
};

class Meter {
 public:
  using Clock = std::chrono::steady_clock;

  // Adds the time that the sessions before a resume have taken.
  void add_earlier(const TimeSpent& run);
  // `earlier` is what the sessions before a resume have taken of this epoch.
  void begin_epoch(const TimeSpent& earlier = {});
  void end_epoch();
  void waited(double seconds);
  void evaluated(double seconds) {
    evaluating_s_ += seconds;
  }
  void stepped(std::int64_t samples) {
    window_samples_ += samples;
  }
  // Ends the window: its speed is what samples_per_s() and waiting() say from
  // now on.
  void report();

  double samples_per_s() const {
    return samples_per_s_;
  }
  double waiting() const { // part of the window's time, 0..1
    return waiting_;
  }
  // Seconds of the epoch under way, or of the one that ended last.
  double epoch_s() const;
  double epoch_wait_s() const {
    return epoch_wait_s_;
  }
  double run_s() const;
  double run_wait_s() const {
    return run_wait_s_;
  }
  double run_evaluating_s() const {
    return evaluating_s_;
  }

 private:
  Clock::time_point begin_ = Clock::now();
  Clock::time_point epoch_begin_ = begin_;
  bool in_epoch_ = false;
  Clock::time_point window_begin_ = begin_;
  std::int64_t window_samples_ = 0;
  double window_wait_s_ = 0;
  double samples_per_s_ = 0;
  double waiting_ = 0;
  double epoch_s_ = 0; // without what is under way since epoch_begin_
  double epoch_wait_s_ = 0;
  double run_wait_s_ = 0;
  double evaluating_s_ = 0;
  double earlier_s_ = 0;
};

} // namespace temper::train

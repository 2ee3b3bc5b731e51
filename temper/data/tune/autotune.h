// How many workers and batches ahead a loader should have, from what was
// measured. A state machine over windows of about a second: no clock, no
// threads, nothing that could change what is in a batch.
//
//   the consumer waits, workers are busy      one worker more, kept only if
//                                             more samples a second come out
//   the consumer waits, workers are not busy  bursts: one batch more ahead,
//                                             inside the memory budget
//   the consumer never waits, workers idle    one worker fewer
#pragma once

#include <cstdint>
#include <string>

namespace temper::data {

struct Tuning {
  int workers = 1;
  int depth = 2;
  bool operator==(const Tuning&) const = default;
};

struct TuneLimits {
  int most_workers = 1;
  int most_depth = 2;
  bool fixed_workers = false;
  bool fixed_depth = false;
  std::uint64_t batch_bytes = 0;
  std::uint64_t scratch_bytes = 0; // of one worker
  std::uint64_t budget_bytes = 0;

  std::uint64_t bytes(Tuning tuning) const {
    return static_cast<std::uint64_t>(tuning.depth) * batch_bytes +
        static_cast<std::uint64_t>(tuning.workers) * scratch_bytes;
  }
};

// The measurements since the last window.
struct TuneWindow {
  int steps = 0; // batches taken
  double wait_s = 0; // the consumer waited for batches
  double step_s = 0; // the consumer did something else
  double busy = 0; // part of the workers' time spent working, 0..1
  double samples_per_s = 0; // taken by the consumer
};

class Autotuner {
 public:
  static constexpr int kFirstSteps = 20; // before the first change
  static constexpr double kStall = 0.02;
  static constexpr double kNoStall = 0.003;
  static constexpr double kBusy = 0.95;
  static constexpr double kIdle = 0.30;
  static constexpr double kGain = 1.03;
  static constexpr int kHoldWindows = 60; // after a worker that did not help
  static constexpr int kQuietWindows = 30; // before one is taken away
  static constexpr int kSettleWindows = 10;

  Autotuner(Tuning start, TuneLimits limits);

  Tuning observe(const TuneWindow& window);
  Tuning tuning() const {
    return tuning_;
  }
  // No change for a while; stays true until the next change.
  bool settled() const {
    return unchanged_ >= kSettleWindows;
  }
  // "4 workers, depth 3 (88.0 MiB), stall 0.4 %, workers busy 61 %"
  std::string describe() const;

 private:
  bool decide(const TuneWindow& window, double stall);
  bool judge_trial(const TuneWindow& window);
  bool add_worker(const TuneWindow& window);
  bool add_depth();
  bool remove_worker();

  Tuning tuning_;
  TuneLimits limits_;
  std::int64_t steps_ = 0;
  int unchanged_ = 0;
  int quiet_ = 0; // windows without a stall, with idle workers
  int hold_ = 0; // windows until another worker may be tried
  int fewest_ = 1; // workers; fewer were tried and were too few
  // A worker was just added: the window in which it starts is not judged.
  int trial_ = 0;
  double before_samples_per_s_ = 0;
  bool removed_ = false;
  double stall_ = 0;
  double busy_ = 0;
};

} // namespace temper::data

#include "temper/data/tune/autotune.h"

#include <algorithm>

#include "temper/base/text.h"

namespace temper::data {

Autotuner::Autotuner(Tuning start, TuneLimits limits)
    : tuning_(start), limits_(limits) {}

Tuning Autotuner::observe(const TuneWindow& window) {
  const double all_s = window.wait_s + window.step_s;
  const double stall = all_s > 0 ? window.wait_s / all_s : 0;
  stall_ = stall;
  busy_ = window.busy;
  steps_ += window.steps;
  if (hold_ > 0) --hold_;
  if (steps_ <= kFirstSteps) return tuning_;
  unchanged_ = decide(window, stall) ? 0 : unchanged_ + 1;
  return tuning_;
}

bool Autotuner::decide(const TuneWindow& window, double stall) {
  if (trial_ > 0) return judge_trial(window);
  const bool quiet = stall < kNoStall && window.busy < 1 - kIdle;
  quiet_ = quiet ? quiet_ + 1 : 0;
  if (stall > kStall) {
    if (removed_) {
      // The one taken away was needed after all.
      removed_ = false;
      fewest_ = ++tuning_.workers;
      return true;
    }
    return window.busy > kBusy ? add_worker(window) : add_depth();
  }
  if (quiet_ >= kQuietWindows) return remove_worker();
  return false;
}

// Counts as a change while it lasts: what is on trial is not settled.
bool Autotuner::judge_trial(const TuneWindow& window) {
  if (--trial_ > 0) return true;
  if (window.samples_per_s >= kGain * before_samples_per_s_) return false;
  --tuning_.workers;
  hold_ = kHoldWindows;
  return true;
}

bool Autotuner::add_worker(const TuneWindow& window) {
  Tuning more = tuning_;
  ++more.workers;
  if (limits_.fixed_workers || hold_ > 0 ||
      more.workers > limits_.most_workers ||
      limits_.bytes(more) > limits_.budget_bytes)
    return false;
  tuning_ = more;
  before_samples_per_s_ = window.samples_per_s;
  trial_ = 2;
  return true;
}

bool Autotuner::add_depth() {
  Tuning more = tuning_;
  ++more.depth;
  if (limits_.fixed_depth || more.depth > limits_.most_depth ||
      limits_.bytes(more) > limits_.budget_bytes)
    return false;
  tuning_ = more;
  return true;
}

bool Autotuner::remove_worker() {
  quiet_ = 0;
  if (limits_.fixed_workers || tuning_.workers <= std::max(1, fewest_))
    return false;
  --tuning_.workers;
  removed_ = true;
  return true;
}

std::string Autotuner::describe() const {
  return cat(
      plural(tuning_.workers, "worker"),
      ", depth ",
      tuning_.depth,
      " (",
      bytes_text(limits_.bytes(tuning_)),
      "), stall ",
      decimals(100 * stall_, 1),
      " %, workers busy ",
      decimals(100 * busy_, 0),
      " %");
}

} // namespace temper::data

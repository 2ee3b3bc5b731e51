// The live line of a run: one step in one row of a terminal, and how fast steps
// go by. Used by train_view.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

#include "temper/session/tracked_run.h"
#include "temper/train/loop/loop.h"

namespace temper::cli {

// One step within `width` columns: the bar gets what the words leave, and where
// there are too few, whole fields are left out, the least important first.
// `left_s` of the epoch, NaN: not known; `noun` is what a sample is, "images",
// `behind` how far trackers are; empty: they are not.
std::string glimpse_text(
    const train::Glimpse& glimpse,
    double left_s,
    const std::string& noun,
    int width,
    const std::string& behind = "");

// "mlflow 1,240 behind"; empty when there is none.
std::string backlog_text(const session::Backlog& backlog);

// Samples a second and the time that a pass over the data has left, both from
// the same few seconds, so that they never contradict each other.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  struct Reading {
    double samples_per_s = 0; // 0: not known yet
    double left_s = 0; // NaN: not known
  };

  // Told every glimpse, in order. A resumed run begins in the middle of a pass:
  // only what was seen of it counts.
  Reading see(const train::Glimpse& glimpse, Clock::time_point now);

 private:
  struct Mark {
    Clock::time_point time;
    std::int64_t step = 0;
    std::int64_t samples = 0;
  };

  std::deque<Mark> marks_; // of this pass, the oldest first
  std::int64_t samples_ = 0; // of this pass, seen
  std::int64_t last_step_ = 0;
  bool was_validating_ = false;
};

} // namespace temper::cli

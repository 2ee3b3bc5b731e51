// A run as the terminal shows it: a table at the start, a live line while it
// trains, a line an epoch, at the end the classes, a summary and what to try
// next. Fed by the loop's events and glimpses; knows nothing else of the run.
// --quiet leaves the summary.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "temper/cli/console.h"
#include "temper/cli/track_run.h"
#include "temper/cli/train_notes.h"
#include "temper/train/run.h"

namespace temper::cli {

class TrainView {
 public:
  // `backlog` says what trackers have not taken, whenever it is asked.
  TrainView(Console& console, std::function<Backlog()> backlog);

  void start(const train::RunPlan& plan, const config::Config& config);
  void see(const journal::Event& event);
  void see(const train::Glimpse& glimpse);
  void finish(const train::RunResult& result);

 private:
  using Clock = std::chrono::steady_clock;

  void epoch_line(const journal::Event& event);
  void forecast_line(const journal::Event& event);
  double seconds_left(const train::Glimpse& glimpse, Clock::time_point now);

  Console& console_;
  std::function<Backlog()> backlog_;
  config::Config config_; // the run's own
  std::string noun_ = "samples"; // what goes by in a second
  bool validates_ = false;
  std::optional<std::int64_t> resumed_update_;
  bool head_shown_ = false;
  TrainNotes notes_;
  // Where this pass over the data began to be watched.
  Clock::time_point pass_begin_;
  std::int64_t pass_first_ = 0;
  std::int64_t last_step_ = 0;
  bool was_validating_ = false;
  Clock::time_point next_shown_;
};

// The start-up table.
std::string plan_text(const train::RunPlan& plan, const config::Config& config);
// One step as the live line has it, within `width` columns: the bar gets what
// the words leave. `left_s` of the epoch, NaN: not known; `noun` is what a
// sample is, "images", `behind` how far trackers are, early in the line so that
// a narrow terminal shows it too; empty: they are not.
std::string glimpse_text(
    const train::Glimpse& glimpse,
    double left_s,
    const std::string& noun,
    int width,
    const std::string& behind = "");

} // namespace temper::cli

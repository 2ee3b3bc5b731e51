// A run as the terminal shows it: a table at the start, a live line while it
// trains, a line an epoch, at the end the classes, a summary and what to try
// next. Fed by the loop's events and glimpses; knows nothing else of the run.
// --quiet leaves the summary.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "temper/cli/terminal/console.h"
#include "temper/cli/view/live_line.h"
#include "temper/cli/view/start_table.h"
#include "temper/cli/view/train_notes.h"
#include "temper/session/tracked_run.h"
#include "temper/train/run/run.h"

namespace temper::cli {

class TrainView {
 public:
  // `backlog` says what trackers have not taken, whenever it is asked.
  TrainView(Console& console, std::function<session::Backlog()> backlog);

  void start(const train::RunOverview& overview, const config::Config& config);
  void see(const journal::Event& event);
  void see(const train::Glimpse& glimpse);
  void finish(const train::RunResult& result);

 private:
  void epoch_line(const journal::Event& event);
  void forecast_line(const journal::Event& event);

  Console& console_;
  std::function<session::Backlog()> backlog_;
  config::Config config_; // the run's own
  std::string noun_ = "samples"; // what goes by in a second
  bool validates_ = false;
  std::optional<std::int64_t> resumed_update_;
  std::string head_shown_; // of the epochs' table; empty: not yet
  TrainNotes notes_;
  Pace pace_;
  Pace::Clock::time_point next_shown_;
};

} // namespace temper::cli

// A run as the terminal shows it: a table at the start, a live line while it
// trains, a line an epoch, a summary at the end. Fed by the loop's events and
// glimpses; knows nothing else of the run.
#pragma once

#include <chrono>
#include <string>

#include "temper/cli/console.h"
#include "temper/train/run.h"

namespace temper::cli {

class TrainView {
 public:
  explicit TrainView(Console& console);

  void start(const train::RunPlan& plan, const config::Config& config);
  void see(const journal::Event& event);
  void see(const train::Glimpse& glimpse);
  void finish(const train::RunResult& result);

 private:
  void epoch_line(const journal::Event& event);

  using Clock = std::chrono::steady_clock;

  Console& console_;
  bool head_shown_ = false;
  std::uint32_t epochs_ = 0;
  Clock::time_point epoch_begin_;
  std::int64_t last_step_ = 0;
  Clock::time_point next_plain_;
};

// The start-up table.
std::string plan_text(const train::RunPlan& plan, const config::Config& config);
// One step as the live line has it, within `width` columns.
std::string
glimpse_text(const train::Glimpse& glimpse, double epoch_s, int width);

} // namespace temper::cli

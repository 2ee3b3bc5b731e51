// The trainer's half of `temper train` as its terminal shows it, and what a
// signal does at each stage of a run: at first it ends the process at once,
// while the run trains it stops it with a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "temper/cli/terminal/console.h"
#include "temper/cli/terminal/interrupt.h"
#include "temper/cli/terminal/progress_line.h"
#include "temper/cli/view/train_view.h"
#include "temper/session/session.h"
#include "temper/train/loop/observer.h"

namespace temper::cli {

// The message for a run that is interrupted before its first step.
constexpr const char* kNothingYet =
    "interrupted before the first step; nothing is left behind.";

class TrainerScreen : public train::RunObserver {
 public:
  // `fresh`: the run begins, and is not resumed.
  TrainerScreen(
      Console& console,
      InterruptWatch& interrupts,
      session::Session& session,
      bool fresh);

  void preparing(const std::string& what, std::int64_t done, std::int64_t total)
      override;
  void measuring(const std::string& what) override;
  void opening_directory() override;
  void started(
      const journal::RunDirectory& directory,
      const train::RunOverview& overview,
      const config::Config& config) override;
  void event(const journal::Event& event) override;
  void step(const train::Glimpse& glimpse) override;
  std::vector<std::string> finishing(const train::RunResult& result) override;
  void ended(const train::Outcome& outcome) override;
  void finished(const train::RunResult& result) override;
  void delivering(const std::vector<std::string>& places, double patience_s)
      override;
  void delivered(const std::string& place) override;

 private:
  Console& console_;
  InterruptWatch& interrupts_;
  session::Session& session_;
  bool fresh_;
  int early_; // exit code of a signal before the first step
  const char* untouched_; // what is said then
  TrainView view_;
  ProgressLine line_;
};

} // namespace temper::cli

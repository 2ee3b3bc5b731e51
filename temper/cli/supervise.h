// Both sides of a supervised `temper train`: the parent that starts the same
// command as a trainer, and what that trainer tells it, through a page of
// shared memory (temper/supervise).
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "temper/base/environment.h"
#include "temper/cli/command.h"
#include "temper/cli/track_run.h"
#include "temper/config/load.h"
#include "temper/journal/event.h"
#include "temper/journal/run_directory.h"
#include "temper/train/heartbeat.h"

namespace temper::cli {

// Not when this is the trainer already, TEMPER_SUPERVISE is 0 or a debugger is
// attached.
bool wants_supervisor(const Environment& environment);

// Keys that were given with --resume.
using Changes = std::vector<config::Assignment>;

// Of a trainer that goes on with a run. One that died may not have kept the
// changes yet, so they are given again.
std::vector<std::string> resume_arguments(
    const Invocation& invocation,
    const Changes& changes,
    const std::filesystem::path& run);

// Runs the same command as a trainer, until it has ended for good; its exit
// code. Nothing when this system cannot.
std::optional<int> run_supervised(
    const Invocation& invocation,
    Console& console,
    const Changes& changes);

// What the trainer tells its supervisor and hears from it; without one, nobody.
class TrainerSide {
 public:
  explicit TrainerSide(const Environment& environment);
  ~TrainerSide();

  bool has_one() const {
    return page_ != nullptr;
  }
  train::Heartbeats* heartbeats() const; // null: nobody wants to see them
  std::atomic<int>* signals() const; // counts, by number; null likewise
  // The tracker that its supervisor waits for; empty: none.
  std::string awaited_tracker() const;
  void opened(const journal::RunDirectory& directory);
  void see(const journal::Event& event);
  // What the supervisor's trackers have not taken.
  Backlog backlog() const;

 private:
  struct Page;
  std::unique_ptr<Page> page_;
};

} // namespace temper::cli

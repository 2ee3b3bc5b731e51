// The trainer's side of its talk with the parent that watches it, through a
// page of shared memory.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "temper/base/environment.h"
#include "temper/journal/event.h"
#include "temper/journal/run_directory.h"
#include "temper/session/tracked_run.h"
#include "temper/train/watch/heartbeat.h"

namespace temper::session {

// Without a parent nobody is told, and nothing is heard.
class TrainerSide {
 public:
  explicit TrainerSide(const Environment& environment);
  ~TrainerSide();

  bool has_parent() const {
    return page_ != nullptr;
  }
  train::Heartbeats* heartbeats() const; // null: nobody wants to see them
  std::atomic<int>* signals() const; // counts, by number; null likewise
  // The run that a trainer which died has left; no value at the first start.
  std::optional<std::filesystem::path> resumes() const;
  // Name of the parent's tracker that has not answered; empty if all have.
  std::string awaited_tracker() const;
  void opened(const journal::RunDirectory& directory);
  void see(const journal::Event& event);
  // The part of the run that the parent's trackers have not taken.
  Backlog backlog() const;

 private:
  struct Page;
  std::unique_ptr<Page> page_;
};

} // namespace temper::session

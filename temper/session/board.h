// The page of shared memory between a trainer and its parent. The trainer
// writes signs of life, signals and checkpoints, and the parent reads them.
// Trackers run in the parent, so it writes those fields and the trainer reads
// them.
// Private to session.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "temper/supervise/shared_page.h"
#include "temper/train/watch/heartbeat.h"

namespace temper::session {

// A variable that tells a process that it is the trainer, and which descriptor
// the page has.
constexpr const char* kTrainerVariable = "TEMPER_TRAINER";

struct Board {
  static constexpr int kSignals = 65;
  static constexpr std::size_t kLongestPath = 4096;
  static constexpr std::size_t kLongestName = 512;

  train::Heartbeats heartbeats;
  std::atomic<bool> has_tracker{false}; // `tracker` is complete
  char tracker[kLongestName] = {}; // the one that has not answered
  std::atomic<std::int64_t> saved{-1}; // updates of the last checkpoint
  std::atomic<int> signals[kSignals] = {}; // noticed, by number
  std::atomic<std::int64_t> mlflow_behind{0};
  std::atomic<std::int64_t> tensorboard_behind{0};
  std::atomic<bool> has_run{false}; // `run` is complete
  std::atomic<bool> resumes{false}; // the trainer is to go on with `run`
  char run[kLongestPath] = {}; // its directory, absolute
};
static_assert(sizeof(Board) <= supervise::SharedPage::kBytes);

} // namespace temper::session

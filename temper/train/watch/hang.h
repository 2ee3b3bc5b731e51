// The response to a run that hangs: it is named (the phase, the samples in
// hand), every thread's stack goes to artifacts/hang-<n>.txt, the event is kept
// for the journal, and the process is given up for a supervisor to restart from
// the checkpoint.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "temper/journal/event.h"
#include "temper/journal/run_directory.h"
#include "temper/machine/run_delay.h"
#include "temper/train/setup/batches.h"
#include "temper/train/watch/watchdog.h"

namespace temper::train {

// "no sign of life for 5 min 0 s while waiting for data, in step 12: ..."
std::string describe(const Hang& hang, const std::string& in_hand);

journal::Event hang_event(
    const Hang& hang,
    const std::string& in_hand,
    const std::string& stacks);

// Trackers, which hang without anybody having to mind.
struct TrackerWatch {
  // Gives their sign of life before each look. Null: somebody else does.
  std::function<void(Heartbeat&)> pulse = {};
  std::function<std::string()> awaited = {}; // the silent tracker
};

// Events of other threads: the journal is written by one.
class Mailbox {
 public:
  void put(journal::Event event);
  std::optional<journal::Event> take(); // the oldest

 private:
  std::mutex mutex_;
  std::deque<journal::Event> events_;
};

struct RunWatchParts {
  Heartbeats& heartbeats;
  double seconds = 0; // 0: nobody watches
  journal::RunDirectory directory;
  const Batches* train = nullptr;
  const Batches* val = nullptr;
  // Ends the process, at once; null: a hang is told and nothing else happens.
  std::function<void()> give_up = {};
  TrackerWatch trackers = {};
  Mailbox* mailbox = nullptr; // for a hang that ends nothing
};

// Watches while it lives. What it is given lives longer.
class RunWatch {
 public:
  explicit RunWatch(RunWatchParts parts);

 private:
  std::string in_hand(const Hang& hang) const;
  void slow(const Hang& hang) const;
  void hung(const Hang& hang) const;

  RunWatchParts parts_;
  machine::RunDelay delay_;
  Watchdog watchdog_;
};

} // namespace temper::train

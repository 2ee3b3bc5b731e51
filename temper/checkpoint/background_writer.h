// Writes snapshots on a thread of its own, so that training waits only for the
// copy it hands over. One is written at a time; a newer one takes the place of
// one that still waits. What went wrong is a result, never an exception: a full
// disk must not end a run.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "temper/checkpoint/checkpoint.h"

namespace temper::checkpoint {

// The outcome of writing one checkpoint.
struct Written {
  std::int64_t update = 0;
  bool best = false;
  bool last = false;
  std::string failed; // reason; empty: it is on disk and was read back
  double seconds = 0; // that writing took
  std::uint64_t bytes = 0; // of its tensors
};

class BackgroundWriter {
 public:
  // `before` is called on the thread before each: what a snapshot refers to
  // must be on disk first. What it throws fails that snapshot. `after` is
  // called there when one has ended.
  explicit BackgroundWriter(
      Store& store,
      std::function<void()> before = {},
      std::function<void()> after = {});
  // Finishes what waits.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Takes it over and comes back at once. `last`: of the run or of its stop,
  // which no other takes the place of. The best waits until a better one comes.
  void submit(Snapshot snapshot, bool last = false);
  // Those that have ended since the last call, oldest first.
  std::vector<Written> take();
  // Waits at most so long; true: none waits and none is being written.
  bool idle(double seconds);
  // The same as take() once that is so.
  std::vector<Written> wait();

 private:
  struct Job {
    Snapshot snapshot;
    bool last = false;
  };

  void work();
  Written write(const Job& job);

  Store& store_;
  std::function<void()> before_;
  std::function<void()> after_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> waiting_; // one, and at most one best or last beside it
  std::vector<Written> ended_;
  bool writing_ = false;
  bool leaving_ = false;
  std::thread thread_;
};

} // namespace temper::checkpoint

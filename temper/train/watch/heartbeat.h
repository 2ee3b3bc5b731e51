// Signs of life. Whoever does a part of a run's work says which one it begins;
// the watchdog looks whether anything was said lately. Plain atomics, one
// writer each: a beat is two stores. They may lie in memory that the
// supervisor shares, which then knows where a trainer was when it died.
#pragma once

#include <atomic>
#include <cstdint>

namespace temper::train {

enum class Phase : int {
  resting, // nothing to do: silence is fine
  data_wait,
  transfer,
  forward,
  backward,
  optimizer,
  checkpoint,
  tracker,
  validating,
  telling, // whoever watches: a terminal may be held for as long as it likes
  other,
};

// The phase for a sentence: "waiting for data".
const char* to_string(Phase phase);

struct Heartbeat {
  std::atomic<std::uint64_t> beats{0};
  std::atomic<Phase> phase{Phase::resting};

  void beat(Phase next) noexcept {
    phase.store(next, std::memory_order_relaxed);
    beats.store(
        beats.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<Phase>::is_always_lock_free);

// The heartbeats of the threads that can hang a run.
struct Heartbeats {
  Heartbeat training; // the thread that trains
  Heartbeat saving; // the one that writes checkpoints
  Heartbeat tracking; // the one that tells trackers
  std::atomic<std::int64_t> update{-1}; // under way; -1: none yet
};

// A beat for a thread that nobody may watch: null is fine.
inline void beat(Heartbeat* heartbeat, Phase next) noexcept {
  if (heartbeat != nullptr) heartbeat->beat(next);
}

} // namespace temper::train

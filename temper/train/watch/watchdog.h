// Notices that a run has stopped moving. A thread of its own looks at the
// heartbeats; after half the time without one it warns, after all of it the
// run has hung. What is done about it is up to the caller.
//
// Time that the machine slept does not count, whatever its clocks do meanwhile:
// a look that comes late counts as one look. So does time in a debugger. Time
// that other programs had the processors does not count either: a run that
// waits for its turn is not hung.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "temper/train/watch/heartbeat.h"

namespace temper::train {

enum class Worker { training, saving, tracking };

struct Hang {
  Worker worker = Worker::training;
  Phase phase = Phase::other;
  std::int64_t update = -1;
  double silent_s = 0;
};

// How long one heartbeat has been silent; no clock, no thread.
class Silence {
 public:
  enum class Verdict { fine, slow, hung };

  explicit Silence(double most_s) : most_s_(most_s) {}
  // Looked again `elapsed_s` later, of which what others had of the processor
  // is taken off: it may be negative. Slow and hung are each told once.
  Verdict see(std::uint64_t beats, Phase phase, double elapsed_s);
  double silent_s() const {
    return silent_s_;
  }

 private:
  double most_s_;
  std::uint64_t beats_ = 0;
  double silent_s_ = 0;
  bool warned_ = false;
  bool told_ = false;
};

class Watchdog {
 public:
  // All are called by the watchdog's thread.
  struct Calls {
    std::function<void(const Hang&)> slow;
    std::function<void(const Hang&)> hung;
    std::function<void()> look = {}; // before each look, about once a second
    // Seconds since the last look in which the run waited for a processor.
    std::function<double()> starved_s = {};
  };

  // seconds: of silence; 0 watches nothing.
  Watchdog(const Heartbeats& heartbeats, double seconds, Calls calls);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  void look(double elapsed_s);

  const Heartbeats& heartbeats_;
  const double seconds_;
  const Calls calls_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  Silence silences_[3]; // by Worker
  std::thread thread_;
};

} // namespace temper::train

// One place's thread of a Tracking: delivers, tries again what failed, and says
// what waits. Whoever asks it never waits for the place.
// Private to track/follow.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "temper/track/follow/tracking.h"

namespace temper::track {

class Tracking::Worker {
 public:
  using Clock = std::chrono::steady_clock;

  // The worker, which its thread holds, too: one that never comes back keeps
  // what it uses.
  static std::shared_ptr<Worker> start(
      const std::filesystem::path& directory,
      const Target& target,
      const Options& options);

  Worker(
      std::filesystem::path directory,
      const Target& target,
      const Options& options);

  void leave();
  // True when a delivery has not come back for as long as is slow. A watchdog
  // asks: it waits for no lock.
  bool silent() const;
  const std::string& where() const {
    return target_.shown;
  }
  // A delivery that hangs cannot say so itself: whoever asks finds out.
  Lag lag();
  void finish(Status status);
  // Waits until all is delivered, or until the deadline; `if_failing` counts
  // where the last try failed.
  Lag wait_until(Clock::time_point deadline, Clock::time_point if_failing);

 private:
  void run();
  void deliver();
  void begin_call();
  void end_call();
  void caught_up();
  void failed(const Error& error, double pause_s);
  void pause(double seconds);
  bool leaving() const;
  std::optional<Status> asked_to_finish() const;
  std::int64_t behind() const;

  const std::filesystem::path directory_;
  const Target target_;
  const FollowOptions options_;
  const std::chrono::duration<double> slow_;
  const std::unique_ptr<Tracker> tracker_;
  std::unique_ptr<JournalDelivery> follow_; // of the thread
  int tries_ = 0; // of the thread
  // When the delivery under way began; kResting: none is.
  static constexpr Clock::time_point kResting{};
  std::atomic<Clock::time_point> busy_since_{kResting};
  std::atomic<std::uint64_t> delivered_{0}; // bytes of the journal

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Lag lag_;
  Clock::time_point recount_at_;
  std::optional<Status> finishing_;
  bool leave_ = false;
  bool done_ = false;
  bool left_ = false; // the thread is about to end
  Clock::time_point retry_at_;
  std::thread thread_;
};

} // namespace temper::track

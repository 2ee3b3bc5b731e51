// One long-lived thread that does jobs with deadlines. Calibration touches
// devices on it alone, so that a device that hangs cannot hang the run.
//
// A thread cannot be killed. When a job misses its deadline, the thread is left
// behind: it keeps what the job holds (the job must own all it uses), does
// nothing more should the job ever come back, and a new thread takes over. What
// that means for the caller:
// - the device the job was on must be considered in use: two threads on one
//   device crash LibTorch on MPS, and slow each other down on a CPU;
// - the memory the job holds is not free;
// - the program may end while that thread still sits in a driver: leave by
//   returning from main, and expect nothing of it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace temper::plan {

// Waits until `ended` says so, for at most so many seconds; false: it did not.
// `changed` is notified when it may have ended; both belong to the lock.
using WaitForJob = std::function<bool(
    std::unique_lock<std::mutex>& lock,
    std::condition_variable& changed,
    double seconds,
    const std::function<bool()>& ended)>;

class Worker {
 public:
  // `wait`: how it waits for a job; null: in real time.
  explicit Worker(WaitForJob wait = nullptr);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs a job. False when it did not end within so many seconds; then it may
  // still be running. A job must not throw.
  bool run(std::function<void()> job, double seconds);

 private:
  struct Shared;
  void start();
  void stop();

  WaitForJob wait_;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

} // namespace temper::plan

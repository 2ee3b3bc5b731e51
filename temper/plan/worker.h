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

#include <functional>
#include <memory>
#include <thread>

namespace temper::plan {

class Worker {
 public:
  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs a job. False when it did not end within so many seconds of real time;
  // then it may still be running. A job must not throw.
  bool run(std::function<void()> job, double seconds);

 private:
  struct Shared;
  void start();
  void stop();

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

} // namespace temper::plan

// Threads that claim positions, a few at a time, and work on them. Their
// number can change while they run: more are started, surplus ones park
// between two claims.
// Private to data/loader.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace temper::data {

class WorkerPool {
 public:
  static constexpr int kMostWorkers = 256;

  // Works on positions [begin, end) as worker number `worker`; must not throw.
  // Returns the seconds it waited for something else than its work.
  using Work =
      std::function<double(int worker, std::int64_t begin, std::int64_t end)>;

  WorkerPool(Work work, int positions_per_claim);
  // Whatever `work` waits for must have been told to end.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Fewer when the system gives no more threads; Error when it gives none.
  void set_workers(int workers);
  int workers() const;
  // Hands out the positions [begin, end), in ascending order.
  void run(std::int64_t begin, std::int64_t end);
  // Takes back what is not claimed and waits until nobody works.
  void stop();
  // Time spent at work, added up.
  double busy_s() const;

 private:
  void serve(int worker);

  const Work work_;
  const std::int64_t per_claim_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable quiet_;
  int wanted_ = 0;
  int active_ = 0;
  bool ending_ = false;
  std::atomic<std::int64_t> next_{0};
  std::atomic<std::int64_t> end_{0};
  std::atomic<int> parking_from_{0}; // workers of this number and above park
  std::atomic<std::int64_t> busy_ns_{0};
  std::vector<std::thread> threads_;
};

} // namespace temper::data

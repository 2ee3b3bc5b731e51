#include "temper/data/loader/worker_pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::data {

WorkerPool::WorkerPool(Work work, int positions_per_claim)
    : work_(std::move(work)), per_claim_(positions_per_claim) {}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    end_ = 0;
    wake_.notify_all();
  }
  for (auto& thread : threads_)
    thread.join();
}

void WorkerPool::set_workers(int workers) {
  check(workers > 0 && workers <= kMostWorkers, "there are workers");
  while (static_cast<int>(threads_.size()) < workers) {
    const int number = static_cast<int>(threads_.size());
    try {
      threads_.emplace_back([this, number] { serve(number); });
    } catch (const std::system_error& error) {
      if (number == 0)
        throw Error(
            cat("[data] cannot start a thread: ", error.what(), "."),
            "Raise the limit of threads or processes (ulimit -u).");
      log::detail(cat("[data] no more than ", number, " loader threads."));
      workers = number;
    }
  }
  const std::lock_guard lock(mutex_);
  wanted_ = workers;
  parking_from_ = workers;
  wake_.notify_all();
}

int WorkerPool::workers() const {
  const std::lock_guard lock(mutex_);
  return wanted_;
}

void WorkerPool::run(std::int64_t begin, std::int64_t end) {
  const std::lock_guard lock(mutex_);
  next_ = begin;
  end_ = end;
  wake_.notify_all();
}

void WorkerPool::stop() {
  std::unique_lock lock(mutex_);
  end_ = 0;
  quiet_.wait(lock, [&] { return active_ == 0; });
}

double WorkerPool::busy_s() const {
  return static_cast<double>(busy_ns_.load()) * 1e-9;
}

void WorkerPool::serve(int worker) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(
        lock, [&] { return ending_ || (worker < wanted_ && next_ < end_); });
    if (ending_) return;
    ++active_;
    lock.unlock();
    while (worker < parking_from_.load(std::memory_order_relaxed)) {
      const std::int64_t begin = next_.fetch_add(per_claim_);
      const std::int64_t end = std::min(begin + per_claim_, end_.load());
      if (begin >= end) break;
      const auto from = Clock::now();
      const double waited_s = work_(worker, begin, end);
      const std::chrono::duration<double> took = Clock::now() - from;
      busy_ns_.fetch_add(
          static_cast<std::int64_t>((took.count() - waited_s) * 1e9),
          std::memory_order_relaxed);
    }
    lock.lock();
    if (--active_ == 0) quiet_.notify_all();
  }
}

} // namespace temper::data

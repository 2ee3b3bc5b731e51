#include "temper/plan/worker.h"

#include <chrono>
#include <utility>

namespace temper::plan {
namespace {

bool wait_in_real_time(
    std::unique_lock<std::mutex>& lock,
    std::condition_variable& changed,
    double seconds,
    const std::function<bool()>& ended) {
  return changed.wait_for(lock, std::chrono::duration<double>(seconds), ended);
}

} // namespace

// Owned by both sides: either may outlive the other.
struct Worker::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> job;
  bool busy = false;
  bool stop = false;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return busy || stop; });
      if (stop) return;
      std::function<void()> now = std::exchange(job, nullptr);
      lock.unlock();
      now();
      now = nullptr; // what it holds goes on this thread, too
      lock.lock();
      busy = false;
      changed.notify_all();
      if (stop) return;
    }
  }
};

Worker::Worker(WaitForJob wait)
    : wait_(wait ? std::move(wait) : wait_in_real_time) {}

Worker::~Worker() {
  stop();
}

void Worker::start() {
  shared_ = std::make_shared<Shared>();
  thread_ = std::thread([shared = shared_] { shared->work(); });
}

void Worker::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
  }
  thread_.join();
}

bool Worker::run(std::function<void()> job, double seconds) {
  if (!thread_.joinable()) start();
  std::unique_lock lock(shared_->mutex);
  shared_->job = std::move(job);
  shared_->busy = true;
  shared_->changed.notify_all();
  const bool ended =
      wait_(lock, shared_->changed, seconds, [&] { return !shared_->busy; });
  if (ended) return true;
  shared_->stop = true;
  lock.unlock();
  thread_.detach();
  return false;
}

} // namespace temper::plan

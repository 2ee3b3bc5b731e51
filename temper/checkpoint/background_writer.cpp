#include "temper/checkpoint/background_writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "temper/base/clock.h"
#include "temper/base/error.h"

namespace temper::checkpoint {

BackgroundWriter::BackgroundWriter(
    Store& store,
    std::function<void()> before,
    std::function<void()> after)
    : store_(store),
      before_(std::move(before)),
      after_(std::move(after)),
      thread_([this] { work(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::submit(Snapshot snapshot, bool last) {
  {
    const std::lock_guard lock(mutex_);
    const auto outdated = [&](const Job& job) {
      return !job.last && (!job.snapshot.best || snapshot.best);
    };
    waiting_.erase(
        std::remove_if(waiting_.begin(), waiting_.end(), outdated),
        waiting_.end());
    waiting_.push_back({std::move(snapshot), last});
  }
  changed_.notify_all();
}

std::vector<Written> BackgroundWriter::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, {});
}

bool BackgroundWriter::idle(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] {
    return waiting_.empty() && !writing_;
  });
}

std::vector<Written> BackgroundWriter::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !writing_; });
  return std::exchange(ended_, {});
}

void BackgroundWriter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return leaving_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    writing_ = true;
    Written written;
    {
      const Job job = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      lock.unlock();
      written = write(job);
      if (after_) after_();
    } // its memory goes before the next one is made
    lock.lock();
    ended_.push_back(std::move(written));
    writing_ = false;
    changed_.notify_all();
  }
}

Written BackgroundWriter::write(const Job& job) {
  const auto begin = std::chrono::steady_clock::now();
  Written written;
  written.update = job.snapshot.update;
  written.best = job.snapshot.best;
  written.last = job.last;
  for (const auto& [name, tensor] : job.snapshot.tensors)
    written.bytes += tensor.byte_count;
  try {
    if (before_) before_();
    store_.save(job.snapshot);
  } catch (const std::exception& error) {
    written.failed = error.what();
    if (written.failed.empty()) written.failed = "for an unknown reason.";
  }
  written.seconds = seconds_since(begin);
  return written;
}

} // namespace temper::checkpoint

#include "temper/data/loader/ring.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {

BatchBuffer::BatchBuffer(const SampleLayout& layout, int batch)
    : input_bytes_(layout.input_bytes()),
      target_bytes_(layout.target_bytes()),
      targets_offset_(layout.targets_offset(batch)),
      indices_(static_cast<std::size_t>(batch)) {
  const std::size_t bytes = layout.batch_bytes(batch);
  memory_ = take_large_memory(bytes);
  if (!memory_)
    throw Error(
        cat("[data] no memory for a batch of ", bytes_text(bytes), "."),
        "Lower the batch, or loader.depth.");
}

void BatchBuffer::move(int from, int to, int count) {
  const auto n = static_cast<std::size_t>(count);
  std::memmove(input(to), input(from), n * input_bytes_);
  std::memmove(target(to), target(from), n * target_bytes_);
  std::memmove(&index(to), &index(from), n * sizeof(std::int64_t));
}

void BatchBuffer::remove(const std::vector<int>& slots, int size) {
  int to = slots.empty() ? 0 : slots.front();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const int from = slots[i] + 1;
    const int until = i + 1 < slots.size() ? slots[i + 1] : size;
    if (until > from) move(from, to, until - from);
    to += until - from;
  }
}

Ring::Ring(SampleLayout layout, int batch, int depth)
    : layout_(std::move(layout)),
      batch_(batch),
      batches_(kMostDepth),
      depth_(depth) {
  check(batch > 0 && depth > 0 && depth <= kMostDepth, "the ring has a size");
  for (int i = 0; i < depth; ++i)
    spare_.push_back(std::make_unique<BatchBuffer>(layout_, batch_));
}

void Ring::restart(std::int64_t begin, std::int64_t end) {
  const std::lock_guard lock(mutex_);
  for (auto& batch : batches_)
    if (batch.buffer) spare_.push_back(std::move(batch.buffer));
  begin_ = begin;
  end_ = end;
  given_back_ = taken_ = opened_ = woken_ = 0;
  limit_ = begin;
  stopped_ = false;
  open_batches();
}

void Ring::open_batches() {
  // Fewer buffers than before: the surplus goes.
  const auto in_use = opened_ - given_back_;
  while (!spare_.empty() &&
         in_use + static_cast<std::int64_t>(spare_.size()) > depth_)
    spare_.pop_back();
  while (opened_ < given_back_ + depth_ && !spare_.empty() &&
         begin_of(opened_) < end_) {
    RingBatch& batch = of(opened_);
    batch.begin = begin_of(opened_);
    batch.size =
        static_cast<int>(std::min<std::int64_t>(batch_, end_ - batch.begin));
    batch.buffer = std::move(spare_.back());
    spare_.pop_back();
    batch.missing = batch.size;
    batch.bad.clear();
    batch.failure = nullptr;
    batch.mark.reset();
    ++opened_;
  }
  limit_.store(begin_of(opened_), std::memory_order_release);
  if (opened_ - woken_ >= std::max(1, depth_ / 2)) wake_producers();
}

void Ring::wake_producers() {
  woken_ = opened_;
  room_.notify_all();
}

void Ring::wake_before_waiting() {
  if (woken_ != opened_ && !has_next()) wake_producers();
}

bool Ring::over() const {
  return begin_of(taken_) >= end_;
}

bool Ring::has_next() {
  return taken_ < opened_ &&
      of(taken_).missing.load(std::memory_order_acquire) == 0;
}

bool Ring::ready(double seconds) {
  std::unique_lock lock(mutex_);
  wake_before_waiting();
  return ready_.wait_for(lock, std::chrono::duration<double>(seconds), [&] {
    return over() || has_next();
  });
}

RingBatch* Ring::take() {
  std::unique_lock lock(mutex_);
  wake_before_waiting();
  ready_.wait(lock, [&] { return over() || has_next(); });
  if (over()) return nullptr;
  return &of(taken_++);
}

void Ring::give_back() {
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(of(given_back_).buffer));
  ++given_back_;
  open_batches();
}

void Ring::set_depth(int depth) {
  check(depth > 0 && depth <= kMostDepth, "the ring has a size");
  const std::lock_guard lock(mutex_);
  for (; depth_ < depth; ++depth_)
    spare_.push_back(std::make_unique<BatchBuffer>(layout_, batch_));
  depth_ = depth;
  open_batches();
}

void Ring::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  room_.notify_all();
}

RingBatch* Ring::enter(std::int64_t position, double& waited_s) {
  if (position >= limit_.load(std::memory_order_acquire)) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return stopped_ || position < limit_; });
    waited_s += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  if (stopped()) return nullptr;
  return &of((position - begin_) / batch_);
}

void Ring::done(RingBatch& batch, int samples) {
  if (batch.missing.fetch_sub(samples, std::memory_order_acq_rel) != samples)
    return;
  const std::lock_guard lock(mutex_);
  ready_.notify_one();
}

void Ring::bad(RingBatch& batch, std::int64_t position, std::string reason) {
  const std::lock_guard lock(mutex_);
  batch.bad.push_back(
      {static_cast<int>(position - batch.begin), std::move(reason)});
}

void Ring::fail(
    RingBatch& batch,
    std::int64_t position,
    std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (batch.failure && batch.failed_position < position) return;
  batch.failed_position = position;
  batch.failure = std::move(failure);
}

void Ring::mark(
    RingBatch& batch,
    std::int64_t items,
    std::optional<std::string> text) {
  const std::lock_guard lock(mutex_);
  batch.items = items;
  batch.mark = std::move(text);
}

void Ring::finish(std::int64_t end, bool keep_part) {
  const std::lock_guard lock(mutex_);
  const std::int64_t number = (end - begin_) / batch_;
  const auto part = static_cast<int>(end - begin_of(number));
  end_ = end;
  if (part > 0 && !keep_part) {
    end_ = begin_of(number);
  } else if (part > 0) {
    RingBatch& batch = of(number);
    batch.missing.fetch_sub(batch.size - part, std::memory_order_acq_rel);
    batch.size = part;
  }
  ready_.notify_one();
}

} // namespace temper::data

#include "temper/data/loader/batch_reader.h"

#include <algorithm>
#include <utility>

#include "temper/base/clock.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kShown = 5; // named in an epoch; the rest is counted

} // namespace

void BatchReader::begin_epoch() {
  begun_ = Clock::now();
  holding_ = false;
  waited_s_ = 0;
}

bool BatchReader::ready(Ring& ring, double seconds) {
  if (std::exchange(holding_, false)) ring.give_back();
  const auto begin = Clock::now();
  const bool is_there = ring.ready(seconds);
  waited_s_ += seconds_since(begin);
  return is_there;
}

RingBatch* BatchReader::take(Ring& ring) {
  if (std::exchange(holding_, false)) ring.give_back();
  const auto begin = Clock::now();
  RingBatch* batch = ring.take();
  last_wait_s_ = std::exchange(waited_s_, 0) + seconds_since(begin);
  wait_s_ += last_wait_s_;
  if (batch == nullptr) return nullptr;
  holding_ = true;
  if (first_batch_s_ == 0) first_batch_s_ = seconds_since(begun_);
  return batch;
}

int BadTally::remove(RingBatch& batch) {
  if (batch.bad.empty()) return batch.size;
  const bool skip = policy_ == BadPolicy::skip;
  std::stable_sort(
      batch.bad.begin(),
      batch.bad.end(),
      [](const BadSlot& a, const BadSlot& b) { return a.slot < b.slot; });
  std::vector<int> slots;
  for (const auto& bad : batch.bad) {
    if (in_epoch_++ < kShown)
      log::warn(cat(bad.reason, skip ? " Skipped." : " Replaced."));
    slots.push_back(bad.slot);
  }
  const int count = static_cast<int>(slots.size());
  all_ += count;
  if (!skip) return batch.size;
  batch.buffer->remove(slots, batch.size);
  return batch.size - count;
}

void BadTally::end_epoch(std::uint32_t epoch) const {
  if (in_epoch_ <= kShown) return;
  log::warn(
      cat("[data] ",
          plural(in_epoch_, "bad sample"),
          " in epoch ",
          epoch,
          ", of which the first ",
          kShown,
          " were named."));
}

void show_batch(
    const SampleLayout& layout,
    RingBatch& batch,
    int size,
    HostBatch& out) {
  BatchBuffer& buffer = *batch.buffer;
  out.size = size;
  out.element = layout.element;
  if (out.shape != layout.shape) out.shape = layout.shape;
  out.inputs = buffer.input(0);
  out.target_count = layout.target_count;
  if (layout.target == Target::numbers)
    out.target_numbers = static_cast<const float*>(buffer.target(0));
  else
    out.labels = static_cast<const std::int64_t*>(buffer.target(0));
  out.indices = &buffer.index(0);
}

} // namespace temper::data

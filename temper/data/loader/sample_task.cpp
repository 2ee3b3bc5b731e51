#include "temper/data/loader/sample_task.h"

#include <utility>

#include "temper/base/text.h"
#include "temper/data/loader/finite.h"

namespace temper::data {

std::string describe_bad(
    const std::string& name,
    std::int64_t index,
    const BadSample& bad) {
  std::string text = bad.what();
  if (!text.starts_with("[")) text = "[data] " + text;
  while (!text.empty() && text.back() == '.')
    text.pop_back();
  const bool named = contains(text, name);
  return cat(
      text, " (sample ", index, named ? "" : ", ", named ? "" : name, ").");
}

std::string bad_hint(const BadSample& bad) {
  if (bad.hint().empty()) return "Remove it, or run with data.bad = \"skip\".";
  if (contains(bad.hint(), "data.bad")) return bad.hint();
  return cat(bad.hint(), " Or run with data.bad = \"skip\".");
}

SampleTask::SampleTask(
    std::shared_ptr<const IndexedSource> source,
    std::shared_ptr<const SampleWriter> finish,
    BadPolicy bad)
    : source_(std::move(source)),
      finish_(std::move(finish)),
      bad_(bad),
      order_(source_->size(), false, 0, 0) {}

void SampleTask::begin(
    const Order& order,
    std::uint64_t seed,
    std::uint32_t epoch) {
  order_ = order;
  seed_ = seed;
  epoch_ = epoch;
}

void SampleTask::read(
    std::int64_t index,
    RingBatch& batch,
    int slot,
    Scratch& scratch) {
  scratch.in_hand.store(index, std::memory_order_relaxed);
  Sample& sample = scratch.sample;
  sample.warnings = 0;
  sample.window.reset();
  const auto window =
      finish_->window(seed_, epoch_, static_cast<std::uint64_t>(index));
  source_->read_window(index, window, sample);
  // With "error" the guard of training passes over the batch and names the
  // sample, so that the run finishes.
  if (bad_ != BadPolicy::error)
    if (const auto what = not_finite_text(source_->info(), sample);
        !what.empty())
      throw BadSample(
          cat("[data] ", source_->describe(index), ": ", what, "."));
  if (sample.warnings > 0)
    warnings_.fetch_add(sample.warnings, std::memory_order_relaxed);
  BatchBuffer& buffer = *batch.buffer;
  (*finish_)(
      sample,
      scratch.spare,
      seed_,
      epoch_,
      static_cast<std::uint64_t>(index),
      buffer.input(slot),
      buffer.target(slot));
  buffer.index(slot) = index;
}

void SampleTask::run(
    std::int64_t position,
    Ring& ring,
    RingBatch& batch,
    Scratch& scratch) noexcept {
  try {
    const std::int64_t index = order_.index(position);
    const int slot = static_cast<int>(position - batch.begin);
    try {
      read(index, batch, slot, scratch);
    } catch (const BadSample& bad) {
      const std::string reason =
          describe_bad(source_->describe(index), index, bad);
      switch (bad_) {
        case BadPolicy::error:
          throw BadSample(reason, bad_hint(bad));
        case BadPolicy::skip:
          ring.bad(batch, position, reason);
          break;
        case BadPolicy::replace:
          replace(position, ring, batch, scratch, reason);
          break;
      }
    }
  } catch (...) {
    ring.fail(batch, position, std::current_exception());
  }
  scratch.in_hand.store(-1, std::memory_order_relaxed);
}

void SampleTask::replace(
    std::int64_t position,
    Ring& ring,
    RingBatch& batch,
    Scratch& scratch,
    const std::string& reason) {
  for (int attempt = 0; attempt < kSubstitutes; ++attempt) {
    try {
      const int slot = static_cast<int>(position - batch.begin);
      read(order_.substitute(position, attempt), batch, slot, scratch);
      ring.bad(batch, position, reason);
      return;
    } catch (const BadSample&) {
      continue;
    }
  }
  throw BadSample(
      cat(reason, " So were ", kSubstitutes, " others tried in its place."),
      "See what is wrong with the data: temper data check.");
}

} // namespace temper::data

#include "temper/data/loader/stream_producer.h"

#include <chrono>
#include <utility>

#include "temper/base/clock.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

using Clock = std::chrono::steady_clock;

} // namespace

StreamProducer::StreamProducer(
    std::unique_ptr<StreamSource> source,
    SampleWriter finish,
    BadPolicy bad,
    bool drop_last,
    Ring& ring)
    : source_(std::move(source)),
      finish_(std::move(finish)),
      bad_(bad),
      drop_last_(drop_last),
      ring_(ring) {}

StreamProducer::~StreamProducer() {
  stop();
}

void StreamProducer::stop() {
  ring_.stop();
  if (!thread_.joinable()) return;
  source_->interrupt();
  thread_.join();
}

void StreamProducer::start(const StreamState& from) {
  stop();
  from_ = from;
  ring_.restart(0, std::int64_t{1} << 62);
  thread_ = std::thread([this] { produce(); });
}

void StreamProducer::produce() {
  try {
    find_place();
  } catch (...) {
    double waited_s = 0;
    RingBatch* batch = ring_.enter(0, waited_s);
    if (batch == nullptr) return;
    ring_.fail(*batch, 0, std::current_exception());
    ring_.done(*batch, 1);
    ring_.finish(1, true);
    return;
  }
  fill();
}

void StreamProducer::find_place() {
  source_->restart(from_.seed, from_.epoch);
  items_ = from_.samples_consumed;
  if (items_ == 0) return;
  if (from_.source) {
    source_->load(*from_.source);
    return;
  }
  constexpr double kSayEvery_s = 2;
  log::warn(
      cat("[data] ",
          source_->info().name,
          " cannot save its place: reading again what was consumed, ",
          plural(items_, "sample"),
          "."));
  auto said = Clock::now();
  for (std::int64_t i = 0; i < items_ && !ring_.stopped(); ++i) {
    try {
      if (!source_->next(scratch_.sample))
        throw Error(
            cat("[data] cannot go on where the run stopped: ",
                source_->info().name,
                " ends after ",
                plural(i, "sample"),
                ", the run had consumed ",
                count_text(items_),
                "."));
    } catch (const BadSample&) {
      continue; // it was bad then, too
    }
    if (seconds_since(said) < kSayEvery_s) continue;
    said = Clock::now();
    log::note(
        cat("[data] ",
            count_text(i + 1),
            " of ",
            count_text(items_),
            " samples read again."));
  }
}

void StreamProducer::fill() {
  for (std::int64_t position = 0;; ++position) {
    double waited_s = 0;
    RingBatch* batch = ring_.enter(position, waited_s);
    if (batch == nullptr) return;
    const auto begin = Clock::now();
    try {
      const bool more = fill_slot(*batch, position);
      if (ring_.stopped()) return;
      const bool last = position + 1 == batch->begin + batch->size;
      if (last || !more) ring_.mark(*batch, items_, source_->save());
      if (!more) {
        ring_.finish(position, !drop_last_);
        return;
      }
    } catch (...) {
      ring_.fail(*batch, position, std::current_exception());
      ring_.done(*batch, 1);
      ring_.finish(position + 1, true);
      return;
    }
    busy_s_ = busy_s_ + seconds_since(begin); // only this thread writes it
    ring_.done(*batch, 1);
  }
}

// False at the end of the stream.
bool StreamProducer::fill_slot(RingBatch& batch, std::int64_t position) {
  const int slot = static_cast<int>(position - batch.begin);
  for (;;) {
    std::string reason;
    switch (read(batch, slot, reason)) {
      case Read::end:
        return false;
      case Read::sample:
        return true;
      case Read::bad:
        ring_.bad(batch, position, reason);
        if (bad_ == BadPolicy::skip) return true;
    }
    if (ring_.stopped()) return false;
  }
}

StreamProducer::Read
StreamProducer::read(RingBatch& batch, int slot, std::string& reason) {
  Sample& sample = scratch_.sample;
  sample.warnings = 0;
  const std::int64_t item = items_;
  BatchBuffer& buffer = *batch.buffer;
  try {
    if (!source_->next(sample)) return Read::end;
    ++items_;
    warnings_ += sample.warnings;
    finish_(
        sample,
        scratch_.spare,
        from_.seed,
        from_.epoch,
        static_cast<std::uint64_t>(item),
        buffer.input(slot),
        buffer.target(slot));
  } catch (const BadSample& bad) {
    items_ = item + 1;
    reason = describe_bad(source_->info().name, item, bad);
    if (bad_ == BadPolicy::error) throw BadSample(reason, bad_hint(bad));
    return Read::bad;
  }
  buffer.index(slot) = item;
  return Read::sample;
}

} // namespace temper::data

#include "temper/data/loader/stream_loader.h"

#include <exception>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/loader/batch_reader.h"
#include "temper/data/loader/stream_producer.h"
#include "temper/data/loader/tune_start.h"

namespace temper::data {
namespace {

SampleLayout checked_layout(
    const StreamSource* source,
    const Augment* augment,
    const LoaderOptions& options) {
  check(source != nullptr, "a loader has a source");
  const SourceInfo& info = source->info();
  SampleLayout layout =
      layout_of(info, augment, options.element, options.channels_last);
  if (layout.input_count == 0)
    throw Error(
        cat("[data] ", info.name, " does not say how large its images are."),
        "Choose an augmentation that resizes them.");
  if (options.batch < 1 || options.batch > 1 << 24)
    throw Error(cat("[data] a batch of ", options.batch, " samples."));
  return layout;
}

} // namespace

class StreamLoader::Body {
 public:
  Body(
      std::unique_ptr<StreamSource> source,
      const std::shared_ptr<const Augment>& augment,
      const LoaderOptions& options)
      : layout_(checked_layout(source.get(), augment.get(), options)),
        limits_(tune_limits(source->info(), layout_, options.batch, options)),
        tuning_(start_single(limits_, options)),
        batch_(options.batch),
        ring_(layout_, options.batch, tuning_.depth),
        bad_(options.bad),
        producer_(
            std::move(source),
            SampleWriter(layout_, augment),
            options.bad,
            options.drop_last,
            ring_) {
    state_.seed = options.seed;
    state_.pipeline_hash = augment ? augment->hash() : 0;
  }

  void start(const StreamState& from) {
    taker_.begin_epoch();
    state_ = from;
    failure_ = nullptr;
    bad_.begin_epoch();
    producer_.start(from);
    started_ = true;
    running_ = true;
  }

  bool ready(double seconds) {
    return failure_ || !running_ || taker_.ready(ring_, seconds);
  }

  const HostBatch* next() {
    check(started_, "start() comes before next()");
    if (failure_) std::rethrow_exception(failure_);
    while (running_) {
      RingBatch* batch = taker_.take(ring_);
      if (batch == nullptr) break;
      if (batch->failure) {
        failure_ = batch->failure;
        running_ = false;
        producer_.stop();
        std::rethrow_exception(failure_);
      }
      const std::int64_t before = state_.samples_consumed;
      state_.samples_consumed = batch->items;
      state_.source = batch->mark;
      const int size = bad_.remove(*batch);
      if (size == 0) continue;
      show_batch(layout_, *batch, size, out_);
      out_.number = before / batch_;
      samples_ += size;
      return &out_;
    }
    if (std::exchange(running_, false)) bad_.end_epoch(state_.epoch);
    return nullptr;
  }

  void resume(const StreamState& state) {
    if (state.pipeline_hash != state_.pipeline_hash)
      throw Error(
          cat("[data] cannot go on where the run stopped in ",
              producer_.info().name,
              ": the augmentation is another one."),
          "Resume with the configuration it had, or start a new run.");
    start(state);
  }

  const StreamState& state() const {
    return state_;
  }

  LoaderStats stats() const {
    LoaderStats stats;
    stats.samples = samples_;
    stats.wait_s = taker_.wait_s();
    stats.first_batch_s = taker_.first_batch_s();
    stats.workers = tuning_.workers;
    stats.depth = tuning_.depth;
    stats.memory_bytes = limits_.bytes(tuning_);
    stats.bad_samples = bad_.all();
    stats.decoder_warnings = producer_.warnings();
    stats.busy_s = producer_.busy_s();
    return stats;
  }

  std::string in_hand() const {
    return cat(
        "sample ", producer_.items_read() + 1, " of ", producer_.info().name);
  }

 private:
  SampleLayout layout_;
  TuneLimits limits_;
  Tuning tuning_;
  int batch_;
  Ring ring_;
  BadTally bad_;
  BatchReader taker_;
  StreamState state_;
  std::exception_ptr failure_;
  bool started_ = false;
  bool running_ = false;
  HostBatch out_;
  std::int64_t samples_ = 0; // in all epochs
  StreamProducer producer_; // last: ends before what it uses
};

StreamLoader::StreamLoader(
    std::unique_ptr<StreamSource> source,
    const std::shared_ptr<const Augment>& augment,
    const LoaderOptions& options)
    : body_(std::make_unique<Body>(std::move(source), augment, options)) {}

StreamLoader::~StreamLoader() = default;

void StreamLoader::start(std::uint32_t epoch) {
  StreamState from = body_->state();
  from.epoch = epoch;
  from.samples_consumed = 0;
  from.source.reset();
  body_->start(from);
}

bool StreamLoader::ready(double seconds) {
  return body_->ready(seconds);
}

const HostBatch* StreamLoader::next() {
  return body_->next();
}

StreamState StreamLoader::state() const {
  return body_->state();
}

void StreamLoader::resume(const StreamState& state) {
  body_->resume(state);
}

LoaderStats StreamLoader::stats() const {
  return body_->stats();
}

std::string StreamLoader::in_hand() const {
  return body_->in_hand();
}

} // namespace temper::data

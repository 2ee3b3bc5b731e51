#include "temper/data/stream_loader.h"

#include <chrono>
#include <exception>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/budget.h"
#include "temper/data/consume.h"
#include "temper/data/stream_producer.h"

namespace temper::data {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFirstDepth = 3;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

BatchLayout checked_layout(
    const StreamSource* source,
    const Augment* augment,
    const LoaderOptions& options) {
  check(source != nullptr, "a loader has a source");
  const SourceInfo& info = source->info();
  BatchLayout layout =
      layout_of(info, augment, options.element, options.channels_last);
  if (layout.input_count == 0)
    throw Error(
        cat("[data] ", info.name, " does not say how large its images are."),
        "Choose an augmentation that resizes them.");
  if (options.batch < 1 || options.batch > 1 << 24)
    throw Error(cat("[data] a batch of ", options.batch, " samples."));
  if (options.depth < 0 || options.depth > Ring::kMostDepth)
    throw Error(
        cat("[data] loader.depth = ", options.depth, "."),
        cat("Give 1 to ", Ring::kMostDepth, ", or 0."));
  return layout;
}

TuneLimits limits_of(
    const SourceInfo& info,
    const BatchLayout& layout,
    const LoaderOptions& options) {
  TuneLimits limits;
  limits.fixed_workers = true;
  limits.fixed_depth = options.depth > 0;
  limits.batch_bytes = layout.batch_bytes(options.batch) +
      static_cast<std::uint64_t>(options.batch) * sizeof(std::int64_t);
  limits.scratch_bytes = scratch_bytes(info, layout);
  limits.budget_bytes =
      options.memory_bytes > 0 ? options.memory_bytes : default_budget_bytes();
  return limits;
}

} // namespace

class StreamLoader::Body {
 public:
  Body(
      std::unique_ptr<StreamSource> source,
      const std::shared_ptr<const Augment>& augment,
      const LoaderOptions& options)
      : layout_(checked_layout(source.get(), augment.get(), options)),
        limits_(limits_of(source->info(), layout_, options)),
        tuning_(fit_budget(
            {1, options.depth > 0 ? options.depth : kFirstDepth},
            limits_)),
        batch_(options.batch),
        ring_(layout_, options.batch, tuning_.depth),
        bad_(options.bad),
        producer_(
            std::move(source),
            Finish(layout_, augment),
            options.bad,
            options.drop_last,
            ring_) {
    state_.seed = options.seed;
    state_.pipeline_hash = augment ? augment->hash() : 0;
  }

  void start(const StreamState& from) {
    started_at_ = Clock::now();
    state_ = from;
    failure_ = nullptr;
    holding_ = false;
    bad_.begin_epoch();
    producer_.start(from);
    started_ = true;
    running_ = true;
  }

  const Batch* next() {
    check(started_, "start() comes before next()");
    if (failure_) std::rethrow_exception(failure_);
    while (running_) {
      RingBatch* batch = take();
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
      stats_.samples += size;
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
    LoaderStats stats = stats_;
    stats.workers = tuning_.workers;
    stats.depth = tuning_.depth;
    stats.memory_bytes = limits_.bytes(tuning_);
    stats.bad_samples = bad_.all();
    stats.decoder_warnings = producer_.warnings();
    stats.busy_s = producer_.busy_s();
    return stats;
  }

 private:
  RingBatch* take() {
    if (std::exchange(holding_, false)) ring_.give_back();
    const auto begin = Clock::now();
    RingBatch* batch = ring_.take();
    stats_.wait_s += seconds_since(begin);
    if (batch == nullptr) return nullptr;
    holding_ = true;
    if (stats_.first_batch_s == 0)
      stats_.first_batch_s = seconds_since(started_at_);
    return batch;
  }

  BatchLayout layout_;
  TuneLimits limits_;
  Tuning tuning_;
  int batch_;
  Ring ring_;
  BadTally bad_;
  StreamState state_;
  std::exception_ptr failure_;
  bool started_ = false;
  bool running_ = false;
  bool holding_ = false;
  Clock::time_point started_at_;
  Batch out_;
  LoaderStats stats_;
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

const Batch* StreamLoader::next() {
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

} // namespace temper::data

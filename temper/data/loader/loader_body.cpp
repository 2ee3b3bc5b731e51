#include "temper/data/loader/loader_body.h"

#include <algorithm>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/data/loader/budget.h"
#include "temper/data/loader/tune_start.h"

namespace temper::data {
namespace {

std::int64_t checked_size(const IndexedSource* source) {
  check(source != nullptr, "a loader has a source");
  const std::int64_t size = source->size();
  if (size <= 0)
    throw Error(
        cat("[data] ", source->info().name, " has no samples."),
        "See that data.source and data.path name the right data.");
  return size;
}

int checked_batch(const LoaderOptions& options, std::int64_t size) {
  constexpr int kMostBatch = 1 << 24;
  if (options.batch < 1 || options.batch > kMostBatch)
    throw Error(cat("[data] a batch of ", options.batch, " samples."));
  if (options.drop_last && options.batch > size)
    throw Error(
        cat("[data] a batch of ",
            options.batch,
            " is more than all ",
            plural(size, "sample"),
            ", and incomplete batches are dropped: nothing would be left."),
        "Lower train.batch.");
  return static_cast<int>(std::min<std::int64_t>(options.batch, size));
}

// Where nobody knows the size of the images, the first good one tells.
void find_image_size(
    SampleLayout& layout,
    const IndexedSource& source,
    const std::shared_ptr<const Augment>& augment) {
  constexpr std::int64_t kTries = 16;
  const SampleWriter finish(layout, augment);
  Scratch scratch;
  for (std::int64_t index = 0;; ++index) {
    try {
      source.read(index, scratch.sample);
      break;
    } catch (const BadSample&) {
      if (index + 1 == std::min(kTries, source.size())) throw;
    }
  }
  Image& image = scratch.sample.image;
  finish.transform(image, scratch.spare, 0, 0, 0);
  set_image_size(
      layout,
      image.height(),
      image.width(),
      layout.channels > 0 ? layout.channels : image.channels());
}

} // namespace

Loader::Body::Body(
    std::shared_ptr<const IndexedSource> source,
    std::shared_ptr<const Augment> augment,
    LoaderOptions options)
    : source_(std::move(source)),
      augment_(std::move(augment)),
      options_(std::move(options)),
      size_(checked_size(source_.get())),
      layout_(layout_of(
          source_->info(),
          augment_.get(),
          options_.element,
          options_.channels_last)),
      batch_(checked_batch(options_, size_)),
      scratch_(WorkerPool::kMostWorkers),
      seed_(options_.seed),
      bad_(options_.bad) {
  if (layout_.input_count == 0) find_image_size(layout_, *source_, augment_);
  limits_ = tune_limits(source_->info(), layout_, batch_, options_);
  tuning_ = start_tuning(limits_, options_);
  if (options_.autotune && !(limits_.fixed_workers && limits_.fixed_depth))
    measure_from(tuning_);
  task_ = std::make_unique<SampleTask>(
      source_, std::make_shared<SampleWriter>(layout_, augment_), options_.bad);
  ring_ = std::make_unique<Ring>(layout_, batch_, tuning_.depth);
  // Few enough that every worker has a part in the first batch.
  const int per_claim = std::clamp(batch_ / 16, 1, 8);
  pool_ = std::make_unique<WorkerPool>(
      [this](int worker, std::int64_t begin, std::int64_t end) {
        return work(worker, begin, end);
      },
      per_claim);
  batch_out_.element = layout_.element;
  batch_out_.shape = layout_.shape;
}

Loader::Body::~Body() {
  ring_->stop();
}

void Loader::Body::halt() {
  ring_->stop();
  pool_->stop();
  running_ = false;
}

void Loader::Body::measure_from(Tuning tuning) {
  pace_.emplace(tuning, limits_, options_.tune_window_s, [this](Tuning after) {
    if (tuning_key_) save_tuning(options_.tuning_file, *tuning_key_, after);
  });
}

// With the first epoch, not before: what memory is planned for must not depend
// on what is remembered, and the data has been summed up by then.
void Loader::Body::recall_tuning() {
  if (!pace_ || tuning_key_ || options_.tuning_file.empty()) return;
  tuning_key_ = TuningKey{
      options_.machine_key,
      source_->info().name,
      source_->fingerprint(),
      batch_,
      augment_ ? augment_->hash() : 0,
      layout_.input_bytes()};
  const auto known = load_tuning(options_.tuning_file, *tuning_key_);
  if (!known) return;
  const Tuning tuning = within(limits_, *known, tuning_);
  measure_from(tuning);
  change_tuning(tuning);
  log::detail(
      cat("input: ",
          plural(tuning_.workers, "worker"),
          ", depth ",
          tuning_.depth,
          ", as remembered"));
}

void Loader::Body::start(std::uint32_t epoch, std::int64_t consumed) {
  if (consumed < 0 || consumed > size_)
    throw Error(
        cat("[data] cannot begin after ",
            count_text(consumed),
            " of ",
            plural(size_, "sample"),
            "."));
  taker_.begin_epoch();
  halt();
  epoch_ = epoch;
  consumed_ = consumed;
  handed_out_ = 0;
  bad_.begin_epoch();
  failure_ = nullptr;
  recall_tuning();
  std::int64_t end = size_;
  if (options_.drop_last) end -= (size_ - consumed) % options_.batch;
  task_->begin(Order(size_, options_.shuffle, seed_, epoch), seed_, epoch);
  ring_->restart(consumed, end);
  pool_->set_workers(tuning_.workers);
  pool_->run(consumed, end);
  started_ = true;
  running_ = true;
}

double Loader::Body::work(int worker, std::int64_t begin, std::int64_t end) {
  Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
  double waited_s = 0;
  while (begin < end) {
    RingBatch* batch = ring_->enter(begin, waited_s);
    if (batch == nullptr) return waited_s;
    const std::int64_t stop = std::min(end, batch->begin + batch->size);
    for (std::int64_t position = begin; position < stop; ++position) {
      if (ring_->stopped()) return waited_s;
      task_->run(position, *ring_, *batch, scratch);
    }
    ring_->done(*batch, static_cast<int>(stop - begin));
    begin = stop;
  }
  return waited_s;
}

void Loader::Body::pace(int samples) {
  if (!pace_) return;
  const double busy_s = pool_->busy_s();
  if (handed_out_ == 0 && bad_.in_epoch() == 0) {
    pace_->begin(busy_s);
    return;
  }
  const auto tuning = pace_->batch(taker_.last_wait_s(), samples, busy_s);
  if (tuning) change_tuning(*tuning);
}

void Loader::Body::change_tuning(Tuning tuning) {
  try {
    apply(tuning);
  } catch (const Error& error) {
    // It ran without; it can go on without.
    log::detail(cat("[data] tuning ends: ", error.what()));
    pace_.reset();
  }
}

bool Loader::Body::ready(double seconds) {
  return failure_ || !running_ || taker_.ready(*ring_, seconds);
}

const HostBatch* Loader::Body::next() {
  check(started_, "start() comes before next()");
  if (failure_) std::rethrow_exception(failure_);
  if (!running_) return nullptr;
  for (;;) {
    RingBatch* batch = taker_.take(*ring_);
    if (batch == nullptr) {
      end_epoch();
      return nullptr;
    }
    pace(batch->size);
    if (batch->failure) {
      failure_ = batch->failure;
      halt();
      std::rethrow_exception(failure_);
    }
    const int size = bad_.remove(*batch);
    consumed_ = batch->begin + batch->size;
    if (size > 0) return hand_out(*batch, size);
  }
}

const HostBatch* Loader::Body::hand_out(RingBatch& batch, int size) {
  show_batch(layout_, batch, size, batch_out_);
  batch_out_.number = batch.begin / options_.batch;
  handed_out_ += size;
  samples_ += size;
  return &batch_out_;
}

void Loader::Body::end_epoch() {
  running_ = false;
  bad_.end_epoch(epoch_);
  if (handed_out_ > 0 || bad_.in_epoch() < size_) return;
  failure_ = std::make_exception_ptr(Error(
      cat("[data] every sample of ", source_->info().name, " is bad."),
      "See what is wrong with the data: temper data check."));
  std::rethrow_exception(failure_);
}

std::int64_t Loader::Body::batches_per_epoch() const {
  const std::int64_t whole = size_ / options_.batch;
  return options_.drop_last || size_ % options_.batch == 0 ? whole : whole + 1;
}

LoaderStats Loader::Body::stats() const {
  LoaderStats stats;
  stats.samples = samples_;
  stats.wait_s = taker_.wait_s();
  stats.first_batch_s = taker_.first_batch_s();
  stats.workers = tuning_.workers;
  stats.depth = tuning_.depth;
  stats.memory_bytes = limits_.bytes(tuning_);
  stats.busy_s = pool_->busy_s();
  stats.bad_samples = bad_.all();
  stats.decoder_warnings = task_->warnings();
  return stats;
}

// Sources never change and read from several threads at once: describing a
// sample needs no lock.
std::string Loader::Body::in_hand() const {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> names;
  std::size_t busy = 0;
  for (const Scratch& scratch : scratch_) {
    const auto index = scratch.in_hand.load(std::memory_order_relaxed);
    if (index < 0 || ++busy > kShown) continue;
    names.push_back(cat(source_->describe(index), " (sample ", index, ")"));
  }
  if (busy > kShown) names.push_back(cat(busy - kShown, " more"));
  return join(names, ", ");
}

void Loader::Body::apply(Tuning tuning) {
  ring_->set_depth(tuning.depth);
  tuning_.depth = tuning.depth;
  pool_->set_workers(tuning.workers);
  tuning_.workers = pool_->workers();
}

} // namespace temper::data

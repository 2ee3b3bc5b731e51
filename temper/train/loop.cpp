#include "temper/train/loop.h"

#include <cmath>
#include <utility>

#include "temper/base/error.h"
#include "temper/plan/slowdown.h"
#include "temper/train/loop_events.h"
#include "temper/train/meter.h"
#include "temper/train/progress.h"
#include "temper/train/updates.h"

namespace temper::train {
namespace {

using Clock = Meter::Clock;

class Loop {
 public:
  explicit Loop(const LoopParts& parts)
      : parts_(parts),
        config_(parts.config),
        updates_(parts.config, parts.train.batches_per_epoch()) {}

  void restore(const checkpoint::Snapshot& from) {
    parts_.engine.restore({from.tensors});
    progress_ = Progress::from_json(from.loop);
    meter_.add_earlier(progress_.seconds);
    // Empty: the snapshot was taken between two epochs.
    resume_loader_ = from.loader;
  }

  bool finished() const {
    return stopped_ || early_ || progress_.epoch >= epochs() ||
        updates_.reached_most(progress_.update);
  }

  bool stopped() const {
    return stopped_;
  }

  void train_epoch() {
    meter_.begin_epoch();
    if (resume_loader_.empty())
      parts_.train.start(progress_.epoch);
    else
      parts_.train.resume(std::exchange(resume_loader_, ""));
    while (const data::Batch* batch = next_batch()) {
      step(*batch);
      if (parts_.stop && parts_.stop()) {
        stopped_ = true;
        break;
      }
      if (updates_.reached_most(progress_.update)) break;
    }
    read_sums();
    meter_.end_epoch();
    if (progress_.step == 0)
      throw Error(
          "[train] the data gave no sample in a whole epoch.",
          "Look at it with temper data check.");
  }

  // Ctrl-C or SIGTERM between two steps: the state goes to disk as it is.
  void save_stopped() {
    save(parts_.train.state(), false);
  }

  void validate() {
    validated_ = false;
    const bool due = (progress_.epoch + 1) % config_.train.eval_every == 0 ||
        is_last_epoch();
    if (parts_.val == nullptr || !due) return;
    const auto begin = Clock::now();
    std::int64_t done = 0;
    parts_.val->start(0);
    while (const data::Batch* batch = parts_.val->next()) {
      parts_.engine.evaluate(*batch);
      glimpse(++done, parts_.val->batches_per_epoch().value_or(0), true);
    }
    val_ = parts_.engine.take_evaluation_sums();
    validated_ = true;
    meter_.evaluated(Meter::seconds_since(begin));
  }

  void close_epoch() {
    last_epoch_ = progress_.epoch_sums;
    const bool best = judge_epoch();
    tell(epoch_event(
        progress_,
        meter_,
        {lr_, memory_bytes(), best, validated_ ? &val_ : nullptr}));
    ++progress_.epoch;
    progress_.step = 0;
    progress_.epoch_sums = {};
    save("", best);
    early_ = config_.train.early_stop > 0 &&
        progress_.epochs_since_best >= config_.train.early_stop;
  }

  Outcome outcome() const {
    Outcome made;
    made.ending = stopped_ ? Ending::kStopped
        : early_           ? Ending::kEarly
                           : Ending::kDone;
    made.updates = progress_.update;
    made.train = stopped_ ? progress_.epoch_sums : last_epoch_;
    made.val = val_;
    made.best_metric = watched_;
    made.best = progress_.best.value_or(std::nan(""));
    made.best_epoch = progress_.best_epoch;
    made.seconds = meter_.run_s();
    made.waiting_s = meter_.run_wait_s();
    made.evaluating_s = meter_.run_evaluating_s();
    return made;
  }

 private:
  std::uint32_t epochs() const {
    return static_cast<std::uint32_t>(config_.train.epochs);
  }
  bool is_last_epoch() const {
    return progress_.epoch + 1 >= epochs() ||
        updates_.reached_most(progress_.update);
  }

  const data::Batch* next_batch() {
    const auto begin = Clock::now();
    const data::Batch* batch = parts_.train.next();
    meter_.waited(Meter::seconds_since(begin));
    return batch;
  }

  void step(const data::Batch& batch) {
    lr_ = updates_.lr(progress_.update, progress_.plateau_drops);
    StepOrder order;
    order.epoch = progress_.epoch;
    order.update = progress_.update;
    order.lr = lr_;
    order.micro_batch = updates_.micro_batch();
    order.report = updates_.is_reported(progress_.update + 1);
    const auto begin = Clock::now();
    bool updated = false;
    try {
      updated = parts_.engine.step(batch, order);
    } catch (const NotFinite& error) {
      tell(not_finite_event(progress_, batch, error));
      throw;
    }
    ++progress_.step;
    meter_.stepped(batch.size);
    watch_speed(Meter::seconds_since(begin));
    if (updated) {
      ++progress_.update;
      if (order.report) report(batch);
    } else {
      tell(overflow_event(progress_));
    }
    glimpse(progress_.step, updates_.per_epoch(), false);
  }

  void watch_speed(double step_s) {
    const auto change =
        speed_.see(step_s, plan::conditions_of(vitals_, parts_.cores));
    if (change) tell(speed_event(progress_, *change));
  }

  // Off the CPU an update that was not finite shows only here.
  void read_sums() {
    try {
      progress_.epoch_sums.add(parts_.engine.take_training_sums());
    } catch (const NotFinite& error) {
      tell(not_finite_event(progress_, {}, error));
      throw;
    }
  }

  // Of the device where it tells, of the process otherwise.
  std::uint64_t memory_bytes() const {
    const std::uint64_t device = parts_.engine.memory_bytes();
    return device > 0 ? device : vitals_.rss_bytes;
  }

  void report(const data::Batch& batch) {
    if (parts_.gauge) vitals_ = parts_.gauge();
    const StepReport last = parts_.engine.report();
    read_sums();
    meter_.report();
    loss_ = last.loss;
    accuracy_ = metric(progress_.epoch_sums, "accuracy");
    const int micro = updates_.micro_batch();
    tell(step_event(
        progress_,
        meter_,
        {last, lr_, micro > 0 ? micro : batch.size, memory_bytes()}));
  }

  // Is it the best so far? Without validation data training's metrics tell.
  bool judge_epoch() {
    if (!validated_ && parts_.val != nullptr) return false;
    const MetricSums* val = validated_ ? &val_ : nullptr;
    watched_ = watched_metric(config_, progress_.epoch_sums, val);
    return train::close_epoch(
        progress_,
        config_,
        watched_,
        watched_value(watched_, progress_.epoch_sums, val));
  }

  void save(const std::string& loader, bool best) {
    progress_.seconds = meter_.run_s();
    parts_.journal.sync();
    checkpoint::Snapshot made;
    made.update = progress_.update;
    made.epoch = progress_.epoch;
    made.loader = loader;
    made.journal_offset = parts_.journal.offset();
    made.loop = progress_.to_json();
    made.writer = parts_.writer;
    made.tensors = parts_.engine.capture().tensors;
    parts_.checkpoints.save(made, best);
    tell(checkpoint_event(progress_, best));
  }

  void tell(journal::Event event) {
    parts_.journal.append(event);
    if (parts_.watcher.event) parts_.watcher.event(event);
  }

  void glimpse(std::int64_t step, std::int64_t steps, bool validating) const {
    if (!parts_.watcher.glimpse) return;
    Glimpse seen;
    seen.epoch = progress_.epoch;
    seen.epochs = epochs();
    seen.step = step;
    seen.steps = steps;
    seen.validating = validating;
    seen.loss = loss_;
    seen.accuracy = accuracy_;
    seen.lr = lr_;
    seen.samples_per_s = meter_.samples_per_s();
    seen.waiting = meter_.waiting();
    seen.memory_bytes = memory_bytes();
    parts_.watcher.glimpse(seen);
  }

  const LoopParts& parts_;
  const config::Config& config_;
  Updates updates_;
  Progress progress_;
  Meter meter_;
  machine::Sample vitals_; // as of the last report
  plan::SlowdownWatch speed_;
  std::string resume_loader_;
  bool stopped_ = false;
  bool early_ = false;
  bool validated_ = false;
  MetricSums last_epoch_;
  MetricSums val_;
  std::string watched_;
  double lr_ = 0;
  double loss_ = std::nan("");
  double accuracy_ = std::nan("");
};

} // namespace

Outcome run_loop(const LoopParts& parts, const checkpoint::Snapshot* resumed) {
  Loop loop(parts);
  if (resumed != nullptr) loop.restore(*resumed);
  while (!loop.finished()) {
    loop.train_epoch();
    if (loop.stopped()) {
      loop.save_stopped();
      break;
    }
    loop.validate();
    loop.close_epoch();
  }
  return loop.outcome();
}

} // namespace temper::train

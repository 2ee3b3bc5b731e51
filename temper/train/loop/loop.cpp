#include "temper/train/loop/loop.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "temper/base/clock.h"
#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/libtorch/messages.h"
#include "temper/libtorch/out_of_memory.h"
#include "temper/memory/usage.h"
#include "temper/train/forecast/governor_options.h"
#include "temper/train/loop/attempt.h"
#include "temper/train/loop/loop_events.h"
#include "temper/train/loop/loop_watches.h"
#include "temper/train/loop/progress.h"
#include "temper/train/loop/recovery.h"
#include "temper/train/loop/saver.h"
#include "temper/train/loop/shown_numbers.h"
#include "temper/train/metrics/meter.h"
#include "temper/train/schedule/updates.h"

namespace temper::train {
namespace {

using Clock = std::chrono::steady_clock;

class Loop {
 public:
  explicit Loop(const LoopParts& parts)
      : parts_(parts),
        config_(parts.config),
        updates_(parts.config, parts.train.batches_per_epoch()),
        governor_(
            parts.governor
                ? *parts.governor
                : memory::Governor(
                      governor_options(parts.config, parts.engine.facts()))),
        attempt_(parts.engine, governor_, [this](const auto& e) { tell(e); }),
        watches_(
            {parts,
             progress_,
             governor_,
             attempt_,
             [this](const auto& e) { tell(e); }}),
        recovery_(
            {parts.config,
             parts.engine,
             parts.train,
             progress_,
             [this](const auto& e) { tell(e); }}),
        saver_(
            {parts.config,
             parts.journal,
             parts.checkpoints,
             parts.writer,
             [this](const auto& e) { tell(e); },
             parts.save_now,
             {},
             parts.heartbeats ? &parts.heartbeats->saving : nullptr}) {}

  void restore(const checkpoint::Snapshot& from) {
    progress_ = Progress::from_json(from.loop);
    parts_.engine.restore({from.tensors, progress_.engine_sums});
    progress_.engine_sums = {};
    governor_.restore(progress_.governor);
    recovery_.restore(from.tensors);
    meter_.add_earlier(progress_.run);
    if (progress_.update > 0)
      lr_ = updates_.lr(progress_.update - 1, progress_.plateau_drops);
    // Empty: the snapshot was taken between two epochs.
    resume_loader_ = from.loader;
  }

  // One that was stopped after its last step still validates its last epoch.
  bool finished() const {
    return stopped_ || early() || progress_.epoch >= epochs() ||
        (has_all_updates() && progress_.step == 0);
  }

  bool stopped() const {
    return stopped_;
  }

  void train_epoch() {
    meter_.begin_epoch(std::exchange(progress_.in_epoch, {}));
    if (resume_loader_.empty())
      parts_.train.start(progress_.epoch);
    else
      parts_.train.resume(std::exchange(resume_loader_, ""));
    recovery_.begin();
    watches_.begin_epoch();
    do {
      while (const data::HostBatch* batch = next_batch()) {
        step(*batch);
        if (must_stop()) return;
        if (has_all_updates()) break;
        if (saver_.due(progress_)) save({parts_.train.state()});
      }
      if (stopped_) return;
    } while (!recovery_.settle());
    meter_.end_epoch();
    if (progress_.step == 0)
      throw Error(
          "[train] the data gave no sample in a whole epoch.",
          "Look at it with temper data check.");
  }

  // Between two steps, or in the middle of a validation, which a resume begins
  // again: the state goes to disk as it is.
  void save_stopped() {
    doing(Phase::checkpoint);
    if (saver_.has(progress_) && saver_.finish().empty()) return;
    while (!save({parts_.train.state(), false, {}, true})) {
    }
    const std::string failed = saver_.finish();
    if (!failed.empty() && parts_.checkpoints.list().empty())
      throw saver_.not_saved("stopped", failed);
    recovery_.settle(); // for the outcome: the checkpoint has them as they were
  }

  // The result is what is on disk.
  void save_done() {
    doing(Phase::checkpoint);
    if (saved().empty()) return;
    save({"", best_, score_, true}); // room may have been made
    const std::string failed = saved();
    if (!failed.empty()) throw saver_.not_saved("done", failed);
  }

  void validate() {
    validated_ = false;
    const bool due = (progress_.epoch + 1) % config_.train.eval_every == 0 ||
        is_last_epoch();
    if (parts_.val == nullptr || !due) return;
    const auto begin = Clock::now();
    auto sums = evaluate(*parts_.val);
    if (!sums) return;
    val_ = *std::move(sums);
    validated_ = true;
    validation_s_ = seconds_since(begin);
    meter_.evaluated(validation_s_);
  }

  // The sums over all batches; no value when the run is to stop meanwhile.
  std::optional<MetricSums> evaluate(Batches& batches) {
    std::int64_t done = 0;
    doing(Phase::validating);
    batches.start(0);
    const std::int64_t all = batches.batches_per_epoch().value_or(0);
    StepOrder after;
    after.epoch = progress_.epoch;
    after.update = progress_.update;
    while (const data::HostBatch* batch = next_of(batches)) {
      doing(Phase::validating);
      attempt_.evaluate(*batch, after);
      watches_.system();
      glimpse(++done, all, batch->size, true);
      if (must_stop()) break;
    }
    MetricSums sums = parts_.engine.take_evaluation_sums();
    if (stopped_) return std::nullopt; // a part of them: for nobody
    return sums;
  }

  // Once, with the best weights, which are on disk. A run that is stopped here
  // is resumed at its last checkpoint, and tests again.
  void test() {
    if (parts_.test == nullptr) return;
    const auto begin = Clock::now();
    const bool best = take_best_weights();
    auto sums = evaluate(*parts_.test);
    if (!sums) return;
    test_ = *std::move(sums);
    const double seconds = seconds_since(begin);
    meter_.evaluated(seconds);
    tell(test_event(
        progress_,
        best ? std::int64_t{progress_.best_epoch} : -1,
        test_,
        seconds));
  }

  void close_epoch() {
    last_epoch_ = progress_.epoch_sums;
    best_ = judge_epoch();
    tell(epoch_event(
        progress_,
        meter_,
        {lr_,
         watches_.memory_bytes(),
         best_,
         validated_ ? &val_ : nullptr,
         validation_s_}));
    watches_.after_epoch();
    ++progress_.epoch;
    progress_.step = 0;
    progress_.epoch_sums = {};
    progress_.in_epoch = {};
    save({"", best_, score_, finished()});
  }

  Outcome outcome() const {
    Outcome made;
    made.ending = stopped_ ? Ending::kStopped
        : early()          ? Ending::kEarly
                           : Ending::kDone;
    made.updates = progress_.update;
    made.train = stopped_ ? progress_.epoch_sums : last_epoch_;
    made.val = val_;
    made.test = test_;
    made.best_metric = progress_.watched;
    made.best = progress_.best.value_or(std::nan(""));
    made.best_epoch = progress_.best_epoch;
    made.improved_epoch = static_cast<std::uint32_t>(std::max<std::int64_t>(
        progress_.epoch - progress_.epochs_since_best - 1, 0));
    made.seconds = meter_.run_s();
    made.waiting_s = meter_.run_wait_s();
    made.evaluating_s = meter_.run_evaluating_s();
    made.start_again = stopped_ && watches_.wants_restart();
    return made;
  }

 private:
  std::uint32_t epochs() const {
    return static_cast<std::uint32_t>(config_.train.epochs);
  }
  bool early() const {
    return config_.train.early_stop > 0 &&
        progress_.epochs_since_best >= config_.train.early_stop;
  }
  bool is_last_epoch() const {
    return progress_.epoch + 1 >= epochs() || has_all_updates();
  }
  bool has_all_updates() const {
    return updates_.reached_most(progress_.update);
  }

  // Somebody asked for it, or only a fresh process gives back what leaked.
  bool must_stop() {
    stopped_ = (parts_.stop && parts_.stop()) || watches_.wants_restart();
    return stopped_;
  }

  // False: no checkpoint has them, and the last ones stay.
  bool take_best_weights() {
    try {
      const auto best = parts_.checkpoints.load_best();
      if (!best || !progress_.best) return false;
      parts_.engine.restore({best->tensors, {}});
      return true;
    } catch (const Error& error) {
      log::warn(
          cat("the test set is scored with the last weights: ", error.what()));
      return false;
    }
  }

  // The next batch; null at the end, and when the run is to stop: nothing is
  // under way here.
  const data::HostBatch* next_of(Batches& batches) {
    constexpr double kLookEvery_s = 0.1;
    while (!batches.ready(kLookEvery_s))
      if (must_stop()) return nullptr;
    return batches.next();
  }

  const data::HostBatch* next_batch() {
    if (has_all_updates()) return nullptr;
    const auto begin = Clock::now();
    doing(Phase::data_wait);
    const data::HostBatch* batch = next_of(parts_.train);
    meter_.waited(seconds_since(begin));
    return batch;
  }

  void step(const data::HostBatch& batch) {
    const bool reported = updates_.is_reported(progress_.update + 1);
    StepOrder order;
    order.epoch = progress_.epoch;
    order.update = progress_.update;
    order.lr = updates_.lr(progress_.update, progress_.plateau_drops);
    order.report = reported || shown_.is_old();
    recovery_.arm(order);
    lr_ = order.lr;
    if (parts_.heartbeats != nullptr) {
      parts_.heartbeats->update = progress_.update;
      order.heartbeat = &parts_.heartbeats->training;
    }
    const auto begin = Clock::now();
    bool updated = false;
    try {
      updated = attempt_.step(batch, order);
    } catch (const NotFinite& bad) {
      recovery_.not_finite(bad, &order, &batch);
      return;
    }
    ++progress_.step;
    meter_.stepped(batch.size);
    watches_.after_step(seconds_since(begin));
    if (updated) {
      ++progress_.update;
      recovery_.committed(order);
      if (reported)
        report(batch);
      else if (order.report)
        shown_.look(parts_.engine, progress_.epoch_sums);
      watches_.after_commit(order);
    } else {
      tell(overflow_event(progress_));
    }
    watches_.system();
    glimpse(progress_.step, updates_.per_epoch(), batch.size, false);
  }

  void report(const data::HostBatch& batch) {
    watches_.look();
    const StepReport last = parts_.engine.report();
    recovery_.settle(); // the step has read its numbers: they are good
    meter_.report();
    shown_.take(last, progress_.epoch_sums);
    const int micro = governor_.micro_batch();
    tell(step_event(
        progress_,
        meter_,
        {last, lr_, micro > 0 ? micro : batch.size, watches_.memory_bytes()}));
  }

  // Once nothing is on its way: why the last one is not on disk. Whoever wants
  // the run to stop is heard meanwhile: it does, and this is the way.
  std::string saved() {
    constexpr double kLookEvery_s = 0.1;
    while (!saver_.idle(kLookEvery_s))
      if (parts_.stop) parts_.stop();
    return saver_.finish();
  }

  // Is it the best so far? Without validation data training's metrics tell.
  bool judge_epoch() {
    score_ = std::nullopt;
    if (!validated_ && parts_.val != nullptr) return false;
    const MetricSums* val = validated_ ? &val_ : nullptr;
    const std::string watched =
        watched_metric(config_, progress_.epoch_sums, val);
    const double value = watched_value(watched, progress_.epoch_sums, val);
    progress_.watched = watched;
    score_ = larger_is_better(watched) ? value : -value;
    const double loss = metric(val ? *val : progress_.epoch_sums, "loss");
    return train::close_epoch(progress_, config_, watched, value, loss);
  }

  // False: off the CPU an update that was not finite may show only here. The
  // run is behind it then, and nothing was saved.
  bool save(const Save& what) {
    doing(Phase::checkpoint);
    progress_.run = {
        meter_.run_s(), meter_.run_wait_s(), meter_.run_evaluating_s()};
    if (progress_.step > 0)
      progress_.in_epoch = {meter_.epoch_s(), meter_.epoch_wait_s()};
    progress_.governor = governor_.state();
    try {
      if (parts_.one_copy) saved();
      watches_.at_checkpoint();
      if (hand_over(what).empty()) return true;
      saved(); // what is on its way has as much memory as is missing
      memory::release_cached(parts_.engine.facts().device);
      const std::string why = hand_over(what);
      if (!why.empty()) saver_.fail(progress_, what, why);
      return true;
    } catch (const NotFinite& bad) {
      recovery_.not_finite(bad, nullptr);
      return false;
    }
  }

  // A copy of the state, to the saver. Why there was no memory for it; empty:
  // there was.
  std::string hand_over(const Save& what) {
    try {
      EngineState state = parts_.engine.capture();
      recovery_.save(state.tensors);
      tell_gradients(); // before the checkpoint: it says where the journal ends
      saver_.save(progress_, std::move(state), what);
      return "";
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      if (!libtorch::is_out_of_memory(error)) throw;
      return cat(
          "there is no memory for a copy of the state (",
          libtorch::first_line(error.what()),
          ").");
    }
  }

  // Gradients are valid only until the next step clears them.
  void tell_gradients() {
    if (!config_.track.histograms || told_gradients_ == progress_.update)
      return;
    const graph::Weights gradients = parts_.engine.gradients();
    if (gradients.empty()) return; // it was resumed, and has not stepped yet
    told_gradients_ = progress_.update;
    tell(gradients_event(progress_, gradients));
  }

  void tell(const journal::Event& event) {
    doing(Phase::other);
    parts_.journal.append(event);
    doing(Phase::telling);
    if (parts_.observer != nullptr) parts_.observer->event(event);
    doing(Phase::other);
  }

  void doing(Phase phase) const {
    if (parts_.heartbeats != nullptr) parts_.heartbeats->training.beat(phase);
  }

  void glimpse(
      std::int64_t step,
      std::int64_t steps,
      std::int64_t samples,
      bool validating) const {
    if (parts_.observer == nullptr) return;
    Glimpse seen;
    seen.epoch = progress_.epoch;
    seen.epochs = epochs();
    seen.step = step;
    seen.steps = steps;
    seen.samples = samples;
    seen.validating = validating;
    seen.loss = shown_.loss();
    seen.accuracy = shown_.accuracy();
    seen.lr = lr_;
    seen.samples_per_s = meter_.samples_per_s();
    seen.waiting = meter_.waiting();
    seen.memory_bytes = watches_.memory_bytes();
    doing(Phase::telling);
    parts_.observer->step(seen);
    doing(Phase::other);
  }

  const LoopParts& parts_;
  const config::Config& config_;
  Updates updates_;
  Progress progress_;
  memory::Governor governor_;
  Attempt attempt_;
  LoopWatches watches_;
  Recovery recovery_;
  Meter meter_;
  std::string resume_loader_;
  bool stopped_ = false;
  bool validated_ = false;
  double validation_s_ = 0; // the last one took
  std::int64_t told_gradients_ = -1; // after this update
  MetricSums last_epoch_;
  MetricSums val_;
  MetricSums test_;
  bool best_ = false; // was the last epoch
  std::optional<double> score_; // its own, larger is better
  double lr_ = 0;
  ShownNumbers shown_{parts_.engine, parts_.oldest_loss_s};
  Saver saver_; // goes first: it may still tell something
};

} // namespace

Outcome run_loop(const LoopParts& parts, const checkpoint::Snapshot* resumed) {
  Loop loop(parts);
  if (resumed != nullptr) loop.restore(*resumed);
  while (!loop.finished()) {
    loop.train_epoch();
    if (!loop.stopped()) loop.validate();
    if (!loop.stopped()) loop.close_epoch();
  }
  if (loop.stopped())
    loop.save_stopped();
  else
    loop.save_done();
  if (!loop.stopped()) loop.test();
  return loop.outcome();
}

} // namespace temper::train

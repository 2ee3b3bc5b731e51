#include "temper/train/loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/train/progress.h"
#include "temper/train/schedule.h"

namespace temper::train {
namespace {

using Clock = std::chrono::steady_clock;
using journal::Event;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void add_metrics(
    Event& event,
    const std::string& prefix,
    const MetricSums& sums) {
  for (const auto& [name, value] : metrics_of(sums))
    event.fields.emplace_back(cat(prefix, name), value);
}

class Loop {
 public:
  explicit Loop(const LoopParts& parts)
      : parts_(parts), config_(parts.config), begin_(Clock::now()) {
    plan_updates();
  }

  void restore(const checkpoint::Snapshot& from) {
    parts_.engine.restore({from.tensors});
    progress_ = Progress::from_json(from.loop);
    earlier_s_ = progress_.seconds;
    // Empty: the snapshot was taken between two epochs.
    resume_loader_ = from.loader;
  }

  bool finished() const {
    return stopped_ || early_ ||
        progress_.epoch >= static_cast<std::uint32_t>(config_.train.epochs) ||
        (config_.train.max_steps > 0 &&
         progress_.update >= config_.train.max_steps);
  }

  void train_epoch() {
    epoch_begin_ = Clock::now();
    epoch_wait_s_ = 0;
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
      if (config_.train.max_steps > 0 &&
          progress_.update >= config_.train.max_steps)
        break;
    }
    progress_.epoch_sums.add(parts_.engine.take_training_sums());
    epoch_s_ = seconds_since(epoch_begin_);
    if (progress_.step == 0)
      throw Error(
          "[train] the data gave no sample in a whole epoch.",
          "Look at it with temper data check.");
  }

  // Ctrl-C or SIGTERM between two steps: the state goes to disk as it is.
  void save_stopped() {
    parts_.checkpoints.save(snapshot(parts_.train.state()), false);
    tell({"checkpoint", 0, {{"update", progress_.update}, {"best", false}}});
  }

  void validate() {
    validated_ = false;
    const bool last = is_last_epoch();
    if (parts_.val == nullptr ||
        ((progress_.epoch + 1) % config_.train.eval_every != 0 && !last))
      return;
    const auto begin = Clock::now();
    std::int64_t done = 0;
    parts_.val->start(0);
    while (const data::Batch* batch = parts_.val->next()) {
      parts_.engine.evaluate(*batch);
      glimpse(++done, parts_.val->batches_per_epoch().value_or(0), true);
    }
    val_ = parts_.engine.take_evaluation_sums();
    validated_ = true;
    evaluating_s_ += seconds_since(begin);
  }

  void close() {
    outcome_train_ = progress_.epoch_sums;
    const MetricSums* val = validated_ ? &val_ : nullptr;
    bool best = false;
    if (validated_ || parts_.val == nullptr) {
      watched_ = watched_metric(config_, progress_.epoch_sums, val);
      best = close_epoch(
          progress_,
          config_,
          watched_,
          watched_value(watched_, progress_.epoch_sums, val));
    }
    Event event{
        "epoch",
        0,
        {{"epoch", std::int64_t{progress_.epoch}},
         {"update", progress_.update},
         {"lr", lr_},
         {"seconds", epoch_s_},
         {"wait_s", epoch_wait_s_},
         {"samples", progress_.epoch_sums.samples},
         {"samples_per_s",
          static_cast<double>(progress_.epoch_sums.samples) / epoch_s_},
         {"memory_bytes",
          static_cast<std::int64_t>(parts_.engine.memory_bytes())},
         {"best", best}}};
    add_metrics(event, "train_", progress_.epoch_sums);
    if (validated_) add_metrics(event, "val_", val_);
    tell(event);

    ++progress_.epoch;
    progress_.step = 0;
    progress_.epoch_sums = {};
    parts_.checkpoints.save(snapshot(""), best);
    tell({"checkpoint", 0, {{"update", progress_.update}, {"best", best}}});
    early_ = config_.train.early_stop > 0 &&
        progress_.epochs_since_best >= config_.train.early_stop;
  }

  bool stopped() const {
    return stopped_;
  }

  Outcome outcome() {
    Outcome made;
    made.ending = stopped_ ? Ending::kStopped
        : early_           ? Ending::kEarly
                           : Ending::kDone;
    made.updates = progress_.update;
    made.train = stopped_ ? progress_.epoch_sums : outcome_train_;
    made.val = val_;
    made.best_metric = watched_;
    made.best = progress_.best.value_or(std::nan(""));
    made.best_epoch = progress_.best_epoch;
    made.seconds = earlier_s_ + seconds_since(begin_);
    made.waiting_s = wait_s_;
    made.evaluating_s = evaluating_s_;
    return made;
  }

  void tell(Event event) {
    parts_.journal.append(event);
    if (parts_.watcher.event) parts_.watcher.event(event);
  }

 private:
  void plan_updates() {
    const auto per_epoch = parts_.train.batches_per_epoch();
    const std::int64_t most = config_.train.max_steps;
    if (!per_epoch && most == 0 && config_.schedule.name != "constant" &&
        config_.schedule.name != "plateau")
      throw Error(
          cat("[train] the schedule ",
              config_.schedule.name,
              " needs to know how long the run is, and a generator does not "
              "say how long its epochs are."),
          "Set train.max_steps, or schedule.name = \"constant\".");
    steps_per_epoch_ = per_epoch.value_or(0);
    if (per_epoch && *per_epoch == 0)
      throw Error(
          "[train] an epoch has no batch: the data has fewer samples than one "
          "batch, and train.drop_last leaves the rest out.",
          "Lower train.batch or set train.drop_last = false.");
    std::int64_t total = steps_per_epoch_ * config_.train.epochs;
    if (most > 0) total = total > 0 ? std::min(total, most) : most;
    schedule_ = make_schedule(
        config_, std::max<std::int64_t>(steps_per_epoch_, 1), total);
    total_updates_ = total;
  }

  const data::Batch* next_batch() {
    const auto begin = Clock::now();
    const data::Batch* batch = parts_.train.next();
    const double waited = seconds_since(begin);
    wait_s_ += waited;
    epoch_wait_s_ += waited;
    window_wait_s_ += waited;
    return batch;
  }

  void step(const data::Batch& batch) {
    const std::int64_t update = progress_.update;
    lr_ = learning_rate(schedule_, update, progress_.plateau_drops);
    StepOrder order;
    order.epoch = progress_.epoch;
    order.update = update;
    order.lr = lr_;
    order.micro_batch = micro_batch();
    order.report = is_reported(update + 1);
    try {
      parts_.engine.step(batch, order);
    } catch (const NotFinite& error) {
      tell(not_finite(batch, error));
      throw;
    }
    ++progress_.update;
    ++progress_.step;
    window_samples_ += batch.size;
    if (order.report) report(batch);
    glimpse(progress_.step, steps_per_epoch_, false);
  }

  // As many samples at once as were asked for: a batch that accumulates is
  // computed in that many parts.
  int micro_batch() const {
    if (config_.memory.micro_batch)
      return static_cast<int>(*config_.memory.micro_batch);
    return config_.train.accumulate > 1 ? static_cast<int>(config_.train.batch)
                                        : 0;
  }

  bool is_reported(std::int64_t after) const {
    return after == 1 || after % config_.train.log_every == 0 ||
        after == total_updates_;
  }

  bool is_last_epoch() const {
    return progress_.epoch + 1 >=
        static_cast<std::uint32_t>(config_.train.epochs) ||
        (config_.train.max_steps > 0 &&
         progress_.update >= config_.train.max_steps);
  }

  void report(const data::Batch& batch) {
    const StepReport last = parts_.engine.report();
    progress_.epoch_sums.add(parts_.engine.take_training_sums());
    const double window_s = seconds_since(window_begin_);
    samples_per_s_ = static_cast<double>(window_samples_) / window_s;
    waiting_ = std::min(window_wait_s_ / window_s, 1.0);
    loss_ = last.loss;
    accuracy_ = metric(progress_.epoch_sums, "accuracy");
    const int micro = micro_batch();
    tell(
        {"step",
         0,
         {{"step", progress_.update},
          {"epoch", std::int64_t{progress_.epoch}},
          {"loss", last.loss},
          {"lr", lr_},
          {"grad_norm", last.grad_norm},
          {"samples_per_s", samples_per_s_},
          {"wait", waiting_},
          {"micro_batch", std::int64_t{micro > 0 ? micro : batch.size}},
          {"memory_bytes",
           static_cast<std::int64_t>(parts_.engine.memory_bytes())}}});
    window_begin_ = Clock::now();
    window_samples_ = 0;
    window_wait_s_ = 0;
  }

  Event not_finite(const data::Batch& batch, const NotFinite& error) const {
    std::vector<std::string> samples;
    for (int i = 0; batch.indices != nullptr && i < batch.size; ++i)
      samples.push_back(cat(batch.indices[i]));
    return {
        "incident",
        0,
        {{"what", std::string("not finite")},
         {"why", std::string(error.what())},
         {"epoch", std::int64_t{progress_.epoch}},
         {"update", progress_.update},
         {"samples", journal::Json{cat("[", join(samples, ","), "]")}}}};
  }

  void glimpse(std::int64_t step, std::int64_t steps, bool validating) const {
    if (!parts_.watcher.glimpse) return;
    Glimpse seen;
    seen.epoch = progress_.epoch;
    seen.epochs = static_cast<std::uint32_t>(config_.train.epochs);
    seen.step = step;
    seen.steps = steps;
    seen.validating = validating;
    seen.loss = loss_;
    seen.accuracy = accuracy_;
    seen.lr = lr_;
    seen.samples_per_s = samples_per_s_;
    seen.waiting = waiting_;
    seen.memory_bytes = parts_.engine.memory_bytes();
    parts_.watcher.glimpse(seen);
  }

  checkpoint::Snapshot snapshot(const std::string& loader) {
    progress_.seconds = earlier_s_ + seconds_since(begin_);
    parts_.journal.sync();
    checkpoint::Snapshot made;
    made.update = progress_.update;
    made.epoch = progress_.epoch;
    made.loader = loader;
    made.journal_offset = parts_.journal.offset();
    made.loop = progress_.to_json();
    made.writer = parts_.writer;
    made.tensors = parts_.engine.capture().tensors;
    return made;
  }

  const LoopParts& parts_;
  const config::Config& config_;
  Progress progress_;
  Schedule schedule_;
  std::int64_t steps_per_epoch_ = 0; // 0: not known
  std::int64_t total_updates_ = 0; // 0: not known
  std::string resume_loader_;
  bool stopped_ = false;
  bool early_ = false;
  bool validated_ = false;
  MetricSums outcome_train_;
  MetricSums val_;
  std::string watched_;

  double lr_ = 0;
  double loss_ = std::nan("");
  double accuracy_ = std::nan("");
  double samples_per_s_ = 0;
  double waiting_ = 0;

  Clock::time_point begin_;
  Clock::time_point epoch_begin_;
  Clock::time_point window_begin_ = Clock::now();
  std::int64_t window_samples_ = 0;
  double window_wait_s_ = 0;
  double epoch_wait_s_ = 0;
  double epoch_s_ = 0;
  double wait_s_ = 0;
  double evaluating_s_ = 0;
  double earlier_s_ = 0; // before a resume
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
    loop.close();
  }
  return loop.outcome();
}

} // namespace temper::train

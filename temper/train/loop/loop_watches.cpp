#include "temper/train/loop/loop_watches.h"

#include <utility>

#include "temper/base/clock.h"
#include "temper/memory/usage.h"
#include "temper/train/loop/loop_events.h"
#include "temper/train/metrics/meter.h"

namespace temper::train {

LoopWatches::LoopWatches(LoopWatchesParts parts)
    : parts_(std::move(parts)),
      device_(parts_.loop.engine.facts().device),
      memory_(parts_.loop.forecast, device_, parts_.tell),
      speed_(
          plan::SlowdownWatch::Limits(),
          {parts_.loop.threads, parts_.loop.set_threads != nullptr}),
      looked_(Meter::Clock::now()) {
  if (parts_.loop.planned) first_steps_.emplace(*parts_.loop.planned);
}

void LoopWatches::look() {
  if (!parts_.loop.gauge) return;
  vitals_ = parts_.loop.gauge();
  looked_ = Meter::Clock::now();
}

// The peak of planning and validation is not training's.
void LoopWatches::begin_epoch() {
  memory::reset_tensor_peak(device_);
}

void LoopWatches::after_step(double step_s) {
  const auto now = plan::conditions_of(vitals_, parts_.loop.around);
  if (const auto change = speed_.see(step_s, now)) {
    parts_.tell(speed_event(parts_.progress, *change));
    if (change->threads > 0) next_threads_ = change->threads;
  }
  hold_against_plan(step_s, now);
}

void LoopWatches::hold_against_plan(
    double step_s,
    const plan::Conditions& now) {
  if (!first_steps_) return;
  const auto verdict = first_steps_->see(step_s, now);
  if (!verdict) return;
  first_steps_.reset();
  if (verdict->forget && parts_.loop.forget_plan) parts_.loop.forget_plan();
  if (!verdict->agrees) parts_.tell(plan_event(parts_.progress, *verdict));
}

// The machine is looked at now and then, its tensors after every step.
void LoopWatches::after_commit(const StepOrder& order) {
  constexpr double kEverySeconds = 2;
  if (seconds_since(looked_) > kEverySeconds) look();
  const int before = parts_.governor.micro_batch();
  parts_.attempt.see(
      memory_.after_step(
          parts_.progress,
          {memory::tensor_usage(device_),
           vitals_,
           parts_.loop.train.stats().memory_bytes,
           before}),
      order);
  memory::reset_tensor_peak(device_);
  if (parts_.governor.micro_batch() == before) return;
  speed_.reset();
  first_steps_.reset(); // steps are others than the plan's
}

void LoopWatches::after_epoch() {
  memory_.after_epoch(parts_.progress);
}

void LoopWatches::at_checkpoint() {
  if (next_threads_ == 0) return;
  parts_.loop.set_threads(next_threads_);
  speed_.use_threads(next_threads_);
  first_steps_.reset(); // steps are others than the plan's
  next_threads_ = 0;
}

void LoopWatches::system() {
  if (!parts_.loop.system) return;
  if (auto event = parts_.loop.system()) parts_.tell(*std::move(event));
}

std::uint64_t LoopWatches::memory_bytes() const {
  const std::uint64_t device = parts_.loop.engine.memory_bytes();
  return device > 0 ? device : vitals_.rss_bytes;
}

} // namespace temper::train

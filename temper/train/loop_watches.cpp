#include "temper/train/loop_watches.h"

#include <utility>

#include "temper/memory/usage.h"
#include "temper/train/loop_events.h"
#include "temper/train/meter.h"

namespace temper::train {

LoopWatches::LoopWatches(LoopWatchesParts parts)
    : parts_(std::move(parts)),
      device_(parts_.loop.engine.facts().device),
      memory_(parts_.loop.forecast, device_, parts_.tell),
      looked_(Meter::Clock::now()) {}

void LoopWatches::look() {
  if (!parts_.loop.gauge) return;
  vitals_ = parts_.loop.gauge();
  looked_ = Meter::Clock::now();
}

// What planning and validation took is not training's.
void LoopWatches::begin_epoch() {
  memory::reset_tensor_peak(device_);
}

void LoopWatches::after_step(double step_s) {
  const auto change =
      speed_.see(step_s, plan::conditions_of(vitals_, parts_.loop.cores));
  if (change) parts_.tell(speed_event(parts_.progress, *change));
}

// The machine is looked at now and then, its tensors after every step.
void LoopWatches::after_commit(const StepOrder& order) {
  constexpr double kEverySeconds = 2;
  if (Meter::seconds_since(looked_) > kEverySeconds) look();
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
  if (parts_.governor.micro_batch() != before) speed_.reset();
}

void LoopWatches::after_epoch() {
  memory_.after_epoch(parts_.progress);
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

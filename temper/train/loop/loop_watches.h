// The watches of the loop: the speed of its steps, its memory, how busy the
// machine is. They tell what they find; the governor hears of memory. No torch.
// Private to train/loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "temper/journal/event.h"
#include "temper/machine/gauges.h"
#include "temper/memory/governor.h"
#include "temper/plan/slowdown.h"
#include "temper/train/loop/attempt.h"
#include "temper/train/loop/loop.h"
#include "temper/train/loop/memory_watch.h"
#include "temper/train/loop/progress.h"

namespace temper::train {

struct LoopWatchesParts {
  const LoopParts& loop;
  const Progress& progress;
  const memory::Governor& governor;
  Attempt& attempt;
  std::function<void(const journal::Event&)> tell;
};

class LoopWatches {
 public:
  explicit LoopWatches(LoopWatchesParts parts);

  void look(); // at the machine, now
  void begin_epoch();
  void after_step(double step_s);
  void after_commit(const StepOrder& order);
  void after_epoch();
  // The state is about to be saved: here the number of threads may change.
  void at_checkpoint();
  // Now and then, from steps and from validation: how busy the machine is.
  void system();

  // The memory of the device where it tells, of the process otherwise.
  std::uint64_t memory_bytes() const;
  // True when only a fresh process gives back what leaked.
  bool wants_restart() const {
    return memory_.wants_restart();
  }

 private:
  void hold_against_plan(double step_s, const plan::Conditions& now);

  LoopWatchesParts parts_;
  std::string device_;
  MemoryWatch memory_;
  plan::SlowdownWatch speed_;
  int next_threads_ = 0; // after the next checkpoint; 0: as many as now
  std::optional<plan::FirstSteps> first_steps_; // until they are judged
  machine::Sample vitals_; // as last looked at
  std::chrono::steady_clock::time_point looked_;
};

} // namespace temper::train

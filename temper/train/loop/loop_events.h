// The events that the loop writes into the journal (docs/journal.md).
// Private to train/loop.
#pragma once

#include <cstdint>

#include "temper/checkpoint/background_writer.h"
#include "temper/data/loader/loader.h"
#include "temper/journal/event.h"
#include "temper/plan/first_steps.h"
#include "temper/plan/slowdown.h"
#include "temper/train/engine/engine.h"
#include "temper/train/loop/progress.h"
#include "temper/train/metrics/meter.h"

namespace temper::train {

struct StepTold {
  StepReport report;
  double lr = 0;
  std::int64_t micro_batch = 0;
  std::uint64_t memory_bytes = 0;
};

journal::Event
step_event(const Progress& progress, const Meter& meter, const StepTold& step);

struct EpochTold {
  double lr = 0;
  std::uint64_t memory_bytes = 0;
  bool best = false;
  const MetricSums* val = nullptr; // null: not validated
  double validation_s = 0; // that validation took
};

journal::Event epoch_event(
    const Progress& progress,
    const Meter& meter,
    const EpochTold& epoch);

// The test set, scored with the weights of `weights_epoch`; negative: with the
// last ones.
journal::Event test_event(
    const Progress& progress,
    std::int64_t weights_epoch,
    const MetricSums& test,
    double seconds);

// How the gradients of the last update are spread.
journal::Event gradients_event(
    const Progress& progress,
    const graph::Weights& gradients);

// The checkpoint is on disk, or the reason why it is not.
journal::Event checkpoint_event(const checkpoint::Written& written);

// The run became slow, or fast again, and why.
journal::Event speed_event(
    const Progress& progress,
    const plan::SpeedChange& change);

// The run's own steps are not what the plan measured.
journal::Event plan_event(
    const Progress& progress,
    const plan::FirstStepsVerdict& verdict);

// fp16 could not hold the gradient: the update was left out.
journal::Event overflow_event(const Progress& progress);

} // namespace temper::train

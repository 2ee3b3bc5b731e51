#include "temper/train/loop/loop_events.h"

#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/train/metrics/histogram.h"

namespace temper::train {
namespace {

using journal::Event;
namespace kinds = journal::kinds;
namespace fields = journal::fields;
namespace incidents = journal::incidents;

void add_metrics(
    Event& event,
    const std::string& prefix,
    const MetricSums& sums) {
  for (const auto& [name, value] : metrics_of(sums))
    event.fields.emplace_back(cat(prefix, name), value);
}

} // namespace

Event step_event(
    const Progress& progress,
    const Meter& meter,
    const StepTold& step) {
  return {
      kinds::kStep,
      0,
      {{fields::kStep, progress.update},
       {fields::kEpoch, std::int64_t{progress.epoch}},
       {fields::kLoss, step.report.loss},
       {fields::kLr, step.lr},
       {fields::kGradNorm, step.report.grad_norm},
       {fields::kSamplesPerS, meter.samples_per_s()},
       {fields::kWait, meter.waiting()},
       {fields::kMicroBatch, step.micro_batch},
       {fields::kMemoryBytes, static_cast<std::int64_t>(step.memory_bytes)}}};
}

Event epoch_event(
    const Progress& progress,
    const Meter& meter,
    const EpochTold& epoch) {
  const MetricSums& train = progress.epoch_sums;
  Event event{
      kinds::kEpoch,
      0,
      {{fields::kEpoch, std::int64_t{progress.epoch}},
       {fields::kUpdate, progress.update},
       {fields::kLr, epoch.lr},
       {fields::kSeconds, meter.epoch_s()},
       {fields::kWaitS, meter.epoch_wait_s()},
       {fields::kSamples, train.samples},
       {fields::kSamplesPerS,
        static_cast<double>(train.samples) / meter.epoch_s()},
       {fields::kMemoryBytes, static_cast<std::int64_t>(epoch.memory_bytes)},
       {fields::kBest, epoch.best}}};
  add_metrics(event, fields::kTrainPrefix, train);
  if (epoch.val != nullptr) {
    add_metrics(event, fields::kValPrefix, *epoch.val);
    event.fields.emplace_back(fields::kValidationS, epoch.validation_s);
  }
  return event;
}

Event test_event(
    const Progress& progress,
    std::int64_t weights_epoch,
    const MetricSums& test,
    double seconds) {
  Event event{
      kinds::kTest,
      0,
      {{fields::kUpdate, progress.update},
       {fields::kSamples, test.samples},
       {fields::kSeconds, seconds}}};
  if (weights_epoch >= 0)
    event.fields.emplace_back(fields::kEpoch, weights_epoch);
  add_metrics(event, fields::kTestPrefix, test);
  return event;
}

Event gradients_event(
    const Progress& progress,
    const graph::Weights& gradients) {
  return {
      kinds::kGradients,
      0,
      {{fields::kUpdate, progress.update},
       {fields::kHistograms, journal::Json{spreads_json(gradients)}}}};
}

Event checkpoint_event(const checkpoint::Written& written) {
  Event event{
      written.failed.empty() ? kinds::kCheckpoint : kinds::kCheckpointFailed,
      0,
      {{fields::kUpdate, written.update}, {fields::kBest, written.best}}};
  if (!written.failed.empty()) {
    event.fields.emplace_back(fields::kWhy, written.failed);
    return event;
  }
  event.fields.emplace_back(fields::kSeconds, written.seconds);
  event.fields.emplace_back(
      fields::kBytes, static_cast<std::int64_t>(written.bytes));
  return event;
}

Event speed_event(const Progress& progress, const plan::SpeedChange& change) {
  return {
      kinds::kIncident,
      0,
      {{fields::kWhat,
        std::string(
            change.slower ? incidents::kSlower : incidents::kAsFastAgain)},
       {fields::kWhy, change.text},
       {fields::kEpoch, std::int64_t{progress.epoch}},
       {fields::kUpdate, progress.update},
       {fields::kStepS, change.now_s},
       {fields::kBeforeS, change.before_s}}};
}

Event plan_event(
    const Progress& progress,
    const plan::FirstStepsVerdict& verdict) {
  return {
      kinds::kIncident,
      0,
      {{fields::kWhat, std::string(incidents::kNotAsPlanned)},
       {fields::kWhy, verdict.text},
       {fields::kEpoch, std::int64_t{progress.epoch}},
       {fields::kUpdate, progress.update},
       {fields::kStepS, verdict.step_s},
       {fields::kBeforeS, verdict.planned_s},
       {fields::kForgotten, verdict.forget}}};
}

Event overflow_event(const Progress& progress) {
  return {
      kinds::kIncident,
      0,
      {{fields::kWhat, std::string(incidents::kOverflow)},
       {fields::kWhy,
        std::string(
            "the gradient overflowed fp16: the update was left out, and "
            "the loss scale is halved")},
       {fields::kEpoch, std::int64_t{progress.epoch}},
       {fields::kUpdate, progress.update}}};
}

} // namespace temper::train

#include "temper/train/loop/loop_events.h"

#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/train/metrics/histogram.h"

namespace temper::train {
namespace {

using journal::Event;

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
      "step",
      0,
      {{"step", progress.update},
       {"epoch", std::int64_t{progress.epoch}},
       {"loss", step.report.loss},
       {"lr", step.lr},
       {"grad_norm", step.report.grad_norm},
       {"samples_per_s", meter.samples_per_s()},
       {"wait", meter.waiting()},
       {"micro_batch", step.micro_batch},
       {"memory_bytes", static_cast<std::int64_t>(step.memory_bytes)}}};
}

Event epoch_event(
    const Progress& progress,
    const Meter& meter,
    const EpochTold& epoch) {
  const MetricSums& train = progress.epoch_sums;
  Event event{
      "epoch",
      0,
      {{"epoch", std::int64_t{progress.epoch}},
       {"update", progress.update},
       {"lr", epoch.lr},
       {"seconds", meter.epoch_s()},
       {"wait_s", meter.epoch_wait_s()},
       {"samples", train.samples},
       {"samples_per_s", static_cast<double>(train.samples) / meter.epoch_s()},
       {"memory_bytes", static_cast<std::int64_t>(epoch.memory_bytes)},
       {"best", epoch.best}}};
  add_metrics(event, "train_", train);
  if (epoch.val != nullptr) {
    add_metrics(event, "val_", *epoch.val);
    event.fields.emplace_back("validation_s", epoch.validation_s);
  }
  return event;
}

Event test_event(
    const Progress& progress,
    std::int64_t weights_epoch,
    const MetricSums& test,
    double seconds) {
  Event event{
      "test",
      0,
      {{"update", progress.update},
       {"samples", test.samples},
       {"seconds", seconds}}};
  if (weights_epoch >= 0) event.fields.emplace_back("epoch", weights_epoch);
  add_metrics(event, "test_", test);
  return event;
}

Event gradients_event(
    const Progress& progress,
    const graph::Weights& gradients) {
  return {
      "gradients",
      0,
      {{"update", progress.update},
       {"histograms", journal::Json{spreads_json(gradients)}}}};
}

Event checkpoint_event(const checkpoint::Written& written) {
  Event event{
      written.failed.empty() ? "checkpoint" : "checkpoint_failed",
      0,
      {{"update", written.update}, {"best", written.best}}};
  if (!written.failed.empty()) {
    event.fields.emplace_back("why", written.failed);
    return event;
  }
  event.fields.emplace_back("seconds", written.seconds);
  event.fields.emplace_back("bytes", static_cast<std::int64_t>(written.bytes));
  return event;
}

Event speed_event(const Progress& progress, const plan::SpeedChange& change) {
  return {
      "incident",
      0,
      {{"what", std::string(change.slower ? "slower" : "as fast again")},
       {"why", change.text},
       {"epoch", std::int64_t{progress.epoch}},
       {"update", progress.update},
       {"step_s", change.now_s},
       {"before_s", change.before_s}}};
}

Event plan_event(
    const Progress& progress,
    const plan::FirstStepsVerdict& verdict) {
  return {
      "incident",
      0,
      {{"what", std::string("not as planned")},
       {"why", verdict.text},
       {"epoch", std::int64_t{progress.epoch}},
       {"update", progress.update},
       {"step_s", verdict.step_s},
       {"before_s", verdict.planned_s},
       {"forgotten", verdict.forget}}};
}

Event overflow_event(const Progress& progress) {
  return {
      "incident",
      0,
      {{"what", std::string("overflow")},
       {"why",
        std::string(
            "the gradient overflowed fp16: the update was left out, and "
            "the loss scale is halved")},
       {"epoch", std::int64_t{progress.epoch}},
       {"update", progress.update}}};
}

} // namespace temper::train

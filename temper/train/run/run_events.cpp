#include "temper/train/run/run_events.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/environment.h"
#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/config/print.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/run_directory.h"
#include "temper/kernels/simd/target.h"

namespace temper::train {
namespace {

using journal::Event;
using nlohmann::json;
namespace kinds = journal::kinds;
namespace fields = journal::fields;
namespace statuses = journal::statuses;

// In a writer whose bits do not depend on the number of threads.
constexpr const char* kAnyThreads = "any_threads";

const char* ending_name(Ending ending) {
  switch (ending) {
    case Ending::kDone:
      return statuses::kDone;
    case Ending::kEarly:
      return statuses::kStoppedEarly;
    case Ending::kStopped:
      return statuses::kStopped;
  }
  throw Bug("an ending outside the table");
}

void add_classes(
    Event& event,
    const MetricSums& val,
    const std::vector<std::string>& classes) {
  if (val.confusion.empty()) return;
  json accuracies = json::array();
  for (const double each : class_accuracies(val))
    accuracies.push_back(std::isnan(each) ? json("NaN") : json(each));
  event.fields.emplace_back(
      fields::kClasses,
      // A program's own data may have names that are no UTF-8.
      journal::Json{
          json(classes).dump(-1, ' ', false, json::error_handler_t::replace)});
  event.fields.emplace_back(
      fields::kClassAccuracy, journal::Json{accuracies.dump()});
  event.fields.emplace_back(
      fields::kConfusion, journal::Json{json(val.confusion).dump()});
}

} // namespace

std::string plan_json(const RunOverview& overview) {
  return json{
      {"device", overview.engine.device},
      {"model", overview.engine.model},
      {"task", overview.engine.task},
      {"loss", overview.engine.loss},
      {"optimizer", overview.engine.optimizer},
      {"parameters", overview.engine.parameters},
      {"trainable", overview.engine.trainable},
      {"source", overview.source},
      {"train_samples", overview.train_samples},
      {"val_samples", overview.val_samples},
      {"test_samples", overview.test_samples},
      {"input_shape", overview.input_shape},
      {"updates_per_epoch", overview.updates_per_epoch},
      {"notes", overview.notes},
      {"kernels",
       {{"fused", overview.kernels.fused},
        {"bits", bits_text(overview.kernels)}}},
      {"settings", json::parse(plan::to_json(overview.settings))}}
      .dump();
}

plan::Plan settings_in(const std::string& plan_json) {
  const json read = json::parse(plan_json, nullptr, false);
  if (!read.is_object() || !read.contains("settings"))
    throw Error(
        "[train] the run's plan.json is damaged: it has no settings.",
        "Start the run again from its config.toml.");
  return plan::plan_from_json(read["settings"].dump());
}

std::string writer_json(
    const RunRequest& request,
    const RunOverview& overview) {
  json writer{
      {"temper", request.version},
      {"libtorch", request.machine.libtorch.version},
      {"device", overview.engine.device},
      {"cpu", request.machine.cpu.model},
      {"settings", plan::to_text(overview.settings.setting())}};
  if (const auto limit = kernels::asked_target(current_environment()))
    writer["vectors"] = kernels::name_of(*limit);
  if (overview.kernels.any_threads) writer[kAnyThreads] = true;
  return writer.dump();
}

bool writes_the_same_bits(const std::string& one, const std::string& other) {
  if (one == other) return true;
  json both[] = {
      json::parse(one, nullptr, false), json::parse(other, nullptr, false)};
  for (json& each : both) {
    if (!each.is_object() || !each.contains(kAnyThreads) ||
        !each.contains("settings") || !each["settings"].is_string())
      return false;
    auto setting = plan::setting_from_text(each["settings"]);
    if (!setting) return false;
    setting->threads = 1;
    each["settings"] = plan::to_text(*setting);
  }
  return both[0] == both[1];
}

Event run_event(
    const std::string& name,
    const RunRequest& request,
    const RunOverview& overview,
    const std::string& writer,
    double prepare_s) {
  return {
      kinds::kRun,
      0,
      {{fields::kName, name},
       {fields::kId, journal::new_run_id()},
       {fields::kVersion, request.version},
       {fields::kConfig, config::to_toml(request.config)},
       {fields::kPlan, journal::Json{plan_json(overview)}},
       {fields::kMachine,
        journal::Json{json::parse(machine::to_json(request.machine)).dump()}},
       {fields::kWriter, writer},
       {fields::kOrigin, journal::Json{request.origin}},
       {fields::kPrepareS, prepare_s}}};
}

Event resume_event(
    std::int64_t update,
    const std::string& writer,
    const std::string& origin,
    double prepare_s) {
  return {
      kinds::kResume,
      0,
      {{fields::kUpdate, update},
       {fields::kWriter, writer},
       {fields::kOrigin, journal::Json{origin}},
       {fields::kPrepareS, prepare_s}}};
}

Event note_event(const std::string& text, std::int64_t update) {
  return {kinds::kNote, 0, {{fields::kText, text}, {fields::kUpdate, update}}};
}

std::optional<Event> system_event(
    const std::optional<machine::SystemReading>& reading) {
  if (!reading) return std::nullopt;
  Event event{kinds::kSystem, 0, {}};
  for (const auto& [name, value] : *reading)
    event.fields.emplace_back(name, value);
  return event;
}

Event end_event(const Outcome& outcome, const RunOverview& overview) {
  Event event{
      kinds::kEnd,
      0,
      {{fields::kStatus, std::string(ending_name(outcome.ending))},
       {fields::kUpdates, outcome.updates},
       {fields::kSeconds, outcome.seconds},
       {fields::kBestMetric, outcome.best_metric},
       {fields::kBest, outcome.best},
       {fields::kBestEpoch, std::int64_t{outcome.best_epoch}},
       {fields::kBottleneck, bottleneck(outcome, overview)}}};
  add_classes(event, outcome.val, overview.classes);
  return event;
}

} // namespace temper::train

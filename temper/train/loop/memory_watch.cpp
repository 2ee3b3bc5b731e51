#include "temper/train/loop/memory_watch.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"

namespace temper::train {
namespace {

namespace kinds = journal::kinds;
namespace fields = journal::fields;

std::int64_t count(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

journal::Event leak_event(const Progress& progress, const memory::Leak& leak) {
  return {
      kinds::kLeak,
      0,
      {{fields::kEpoch, std::int64_t{progress.epoch}},
       {fields::kUpdate, progress.update},
       {fields::kSuspect, std::string(to_string(leak.suspect))},
       {fields::kBytesPerStep, leak.bytes_per_step},
       {fields::kGrownBytes, count(leak.grown_bytes)},
       {fields::kWhy, leak.why},
       {fields::kRestart, leak.restart}}};
}

} // namespace

MemoryWatch::MemoryWatch(
    const memory::Forecast& forecast,
    const std::string& device,
    Tell tell)
    : forecast_(forecast),
      leaks_({device, forecast.budget.bytes}),
      tell_(std::move(tell)) {}

memory::MemorySample MemoryWatch::after_step(
    const Progress& progress,
    const Seen& seen) {
  const int forecast =
      forecast_.at_once >= forecast_.batch ? 0 : forecast_.at_once;
  if (seen.micro_batch == forecast)
    peak_bytes_ = std::max(peak_bytes_, seen.tensors.peak_bytes);
  memory::MemorySample sample;
  sample.peak_bytes = seen.tensors.peak_bytes;
  sample.budget_bytes = forecast_.budget.bytes;
  sample.available_bytes = seen.machine.available_bytes;
  if (seen.machine.time_s != machine_seen_s_) {
    sample.pressure = seen.machine.pressure;
    sample.memory_stall = seen.machine.memory_stall;
    machine_seen_s_ = seen.machine.time_s;
  }

  memory::LeakSample point;
  point.update = progress.update;
  point.process_bytes = seen.machine.own_bytes;
  point.tensor_bytes = seen.tensors.live_bytes;
  point.tensors = seen.tensors.tensors;
  point.driver_bytes = seen.tensors.driver_bytes;
  point.loader_bytes = seen.loader_bytes;
  if (const auto leak = leaks_.see(point)) {
    tell_(leak_event(progress, *leak));
    wants_restart_ = wants_restart_ || leak->restart;
  }
  return sample;
}

void MemoryWatch::after_epoch(const Progress& progress) {
  if (compared_ || peak_bytes_ == 0 || forecast_.peak_bytes == 0) return;
  compared_ = true;
  tell_(
      {kinds::kForecastCheck,
       0,
       {{fields::kEpoch, std::int64_t{progress.epoch}},
        {fields::kForecastBytes, count(forecast_.peak_bytes)},
        {fields::kMeasuredBytes, count(peak_bytes_)},
        {fields::kError, memory::error_of(forecast_, peak_bytes_)}}});
}

journal::Event forecast_event(const memory::Forecast& forecast) {
  nlohmann::json parts = nlohmann::json::object();
  for (const memory::ForecastPart& part : forecast.parts)
    if (part.bytes > 0) parts[part.what] = part.bytes;
  return {
      kinds::kForecast,
      0,
      {{fields::kBatch, std::int64_t{forecast.batch}},
       {fields::kAtOnce, std::int64_t{forecast.at_once}},
       {fields::kPeakBytes, count(forecast.peak_bytes)},
       {fields::kWholeBatchBytes, count(forecast.whole_bytes)},
       {fields::kBudgetBytes, count(forecast.budget.bytes)},
       {fields::kBudget, forecast.budget.why},
       {fields::kFits, forecast.fits},
       {fields::kHow, forecast.how},
       {fields::kWhy, forecast.why},
       {fields::kParts, journal::Json{parts.dump()}}}};
}

} // namespace temper::train

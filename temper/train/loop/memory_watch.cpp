#include "temper/train/loop/memory_watch.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace temper::train {
namespace {

std::int64_t count(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

journal::Event leak_event(const Progress& progress, const memory::Leak& leak) {
  return {
      "leak",
      0,
      {{"epoch", std::int64_t{progress.epoch}},
       {"update", progress.update},
       {"suspect", std::string(to_string(leak.suspect))},
       {"bytes_per_step", leak.bytes_per_step},
       {"grown_bytes", count(leak.grown_bytes)},
       {"why", leak.why},
       {"restart", leak.restart}}};
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
      {"forecast_check",
       0,
       {{"epoch", std::int64_t{progress.epoch}},
        {"forecast_bytes", count(forecast_.peak_bytes)},
        {"measured_bytes", count(peak_bytes_)},
        {"error", memory::error_of(forecast_, peak_bytes_)}}});
}

journal::Event forecast_event(const memory::Forecast& forecast) {
  nlohmann::json parts = nlohmann::json::object();
  for (const memory::ForecastPart& part : forecast.parts)
    if (part.bytes > 0) parts[part.what] = part.bytes;
  return {
      "forecast",
      0,
      {{"batch", std::int64_t{forecast.batch}},
       {"at_once", std::int64_t{forecast.at_once}},
       {"peak_bytes", count(forecast.peak_bytes)},
       {"whole_batch_bytes", count(forecast.whole_bytes)},
       {"budget_bytes", count(forecast.budget.bytes)},
       {"budget", forecast.budget.why},
       {"fits", forecast.fits},
       {"how", forecast.how},
       {"why", forecast.why},
       {"parts", journal::Json{parts.dump()}}}};
}

} // namespace temper::train

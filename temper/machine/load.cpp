#include "temper/machine/load.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "temper/base/text.h"

namespace temper::machine {
namespace {

// A system has its own little work; from here on it is felt.
constexpr double kFelt = 0.3; // cores
constexpr double kFeltShare = 0.15; // of the cores that are ours to use
constexpr double kFeltThrottled = 0.05;
// The system counts in hundredths of a second: a share needs many of them.
constexpr double kLeastSeconds = 0.2;

std::string cores_text(double part, double all) {
  return cat(decimals(part, 1), " of ", plural(static_cast<int>(all), "core"));
}

} // namespace

double Load::missing() const {
  const double left = cores - others - stolen;
  return std::max(0.0, usable - std::max(0.0, left));
}

bool Load::busy() const {
  return missing() > std::max(kFelt, kFeltShare * usable) ||
      throttled > kFeltThrottled;
}

std::optional<Load> load_of(const Sample& sample, const Cpu& cpu) {
  if (!sample.cpu || !sample.process_cpu || cpu.logical < 1)
    return std::nullopt;
  Load load;
  load.cores = cpu.logical;
  load.usable = cpu.usable > 0 ? std::min(cpu.usable, load.cores) : load.cores;
  load.own = *sample.process_cpu;
  load.stolen = sample.stolen.value_or(0) * load.cores;
  load.others =
      std::max(0.0, *sample.cpu * load.cores - load.stolen - load.own);
  load.throttled = sample.throttled.value_or(0);
  load.average = sample.load_average;
  return load;
}

std::string to_text(const Load& load) {
  const std::string average =
      load.average ? cat(", load ", decimals(*load.average, 1)) : "";
  if (!load.busy())
    return cat(
        cores_text(load.others + load.stolen, load.cores),
        " used by others",
        average);
  if (load.throttled > kFeltThrottled)
    return cat(
        "the container's limit of ",
        decimals(load.usable, 1),
        " cores holds it back ",
        decimals(load.throttled * 100, 0),
        " % of the time");
  if (load.stolen > load.others)
    return cat(
        "other guests of the host are using the processor (",
        cores_text(load.stolen, load.cores),
        ")");
  return cat(
      "other programs are using the processor (",
      cores_text(load.others, load.cores),
      average,
      ")");
}

std::function<std::optional<Load>()> watch_load(const Cpu& cpu) {
  const auto gauges = std::make_shared<Gauges>();
  const auto first = gauges->read().time_s;
  return [gauges, cpu, last_s = first]() mutable -> std::optional<Load> {
    const double now_s = gauges->now_s();
    if (now_s - last_s < kLeastSeconds) return std::nullopt;
    last_s = now_s;
    return load_of(gauges->read(), cpu);
  };
}

} // namespace temper::machine

#include "temper/plan/slowdown.h"

#include <algorithm>

#include "temper/base/text.h"
#include "temper/plan/plan.h"

namespace temper::plan {
namespace {

using machine::Pressure;
using machine::Thermal;

double median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string hot(const Conditions& before, const Conditions& now) {
  if (now.thermal < Thermal::moderate) return "";
  const bool was = before.thermal >= now.thermal;
  return was ? ""
             : cat("the machine is hot (thermal level ",
                   machine::to_string(now.thermal),
                   ") and has lowered its clock");
}

std::string short_of_memory(const Conditions& before, const Conditions& now) {
  constexpr std::uint64_t kNotableSwap = std::uint64_t{256} << 20;
  constexpr double kNotableStall = 0.1;
  if (now.swap_used_bytes > before.swap_used_bytes + kNotableSwap)
    return cat(
        "memory is short: ",
        bytes_text(now.swap_used_bytes - before.swap_used_bytes),
        " more are in swap");
  if (now.memory_stall.value_or(0) >
      before.memory_stall.value_or(0) + kNotableStall)
    return cat(
        "memory is short: programs wait for it ",
        decimals(*now.memory_stall * 100, 0),
        " % of the time");
  if (now.pressure >= Pressure::warning && now.pressure > before.pressure)
    return cat(
        "memory is short (pressure ", machine::to_string(now.pressure), ")");
  return "";
}

std::string crowded(const Conditions& before, const Conditions& now) {
  constexpr double kNotableCores = 0.5;
  const double others = now.others_cpu.value_or(0);
  if (others < before.others_cpu.value_or(0) + kNotableCores) return "";
  return cat("other programs keep ", decimals(others, 1), " cores busy");
}

} // namespace

Conditions conditions_of(const machine::Sample& sample, int logical_cores) {
  Conditions now;
  now.thermal = sample.thermal;
  now.pressure = sample.pressure;
  now.swap_used_bytes = sample.swap_used_bytes;
  now.memory_stall = sample.memory_stall;
  if (sample.cpu && sample.process_cpu)
    now.others_cpu =
        std::max(0.0, *sample.cpu * logical_cores - *sample.process_cpu);
  return now;
}

std::string likely_cause(const Conditions& before, const Conditions& now) {
  std::vector<std::string> causes;
  for (const std::string& cause :
       {hot(before, now), short_of_memory(before, now), crowded(before, now)})
    if (!cause.empty()) causes.push_back(cause);
  if (!causes.empty()) return join(causes, ", and ");
  // As an M1 Air does, whose level stays nominal while the clock drops.
  return "no gauge shows why; a machine without a fan may be hot and not say "
         "so";
}

SlowdownWatch::SlowdownWatch() : SlowdownWatch(Limits()) {}

SlowdownWatch::SlowdownWatch(Limits limits) : limits_(limits) {}

void SlowdownWatch::reset() {
  *this = SlowdownWatch(limits_);
}

std::optional<SpeedChange> SlowdownWatch::see(
    double step_s,
    const Conditions& now) {
  window_s_.push_back(step_s);
  if (window_s_.size() < static_cast<std::size_t>(limits_.window))
    return std::nullopt;
  const double middle_s = median(window_s_);
  window_s_.clear();
  if (!best_s_ || middle_s < *best_s_) {
    best_s_ = middle_s;
    at_best_ = now;
  }
  if (middle_s <= *best_s_ * limits_.slow) {
    slow_s_.clear();
    if (!told_ || middle_s > *best_s_ * limits_.recovered) return std::nullopt;
    told_ = false;
    return SpeedChange{
        false,
        *best_s_,
        middle_s,
        cat("steps are as fast as before again: ", step_text(middle_s))};
  }
  slow_s_.push_back(middle_s);
  if (told_ || slow_s_.size() < static_cast<std::size_t>(limits_.windows))
    return std::nullopt;
  told_ = true;
  const double now_s = median(slow_s_);
  return SpeedChange{
      true,
      *best_s_,
      now_s,
      cat("steps take ",
          decimals(now_s / *best_s_, 2),
          "x as long as before (",
          step_text(now_s),
          " against ",
          step_text(*best_s_),
          "): ",
          likely_cause(at_best_, now),
          ".")};
}

} // namespace temper::plan

#include "temper/plan/slowdown.h"

#include <algorithm>

#include "temper/base/statistics.h"
#include "temper/base/text.h"
#include "temper/plan/compare.h"
#include "temper/plan/plan.h"

namespace temper::plan {
namespace {

using machine::Pressure;
using machine::Thermal;

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

// A machine that was busy all along may be the cause, too: it is named, unless
// something else has changed.
std::string crowded(const Conditions& now) {
  return now.load && now.load->busy() ? machine::to_text(*now.load) : "";
}

} // namespace

Surroundings surroundings_of(const machine::Machine& machine) {
  Surroundings around;
  around.cpu = machine.cpu;
  const std::string& model = machine.platform.model;
  around.may_lack_fan = machine.apple_silicon() &&
      !model.starts_with("Macmini") && !model.starts_with("iMac") &&
      !model.starts_with("MacPro");
  return around;
}

Conditions conditions_of(
    const machine::Sample& sample,
    const Surroundings& around) {
  Conditions now;
  now.thermal = sample.thermal;
  now.pressure = sample.pressure;
  now.swap_used_bytes = sample.swap_used_bytes;
  now.memory_stall = sample.memory_stall;
  now.load = machine::load_of(sample, around.cpu);
  now.may_lack_fan = around.may_lack_fan;
  return now;
}

std::string likely_cause(const Conditions& before, const Conditions& now) {
  std::vector<std::string> causes;
  for (const std::string& cause :
       {hot(before, now), short_of_memory(before, now), crowded(now)})
    if (!cause.empty()) causes.push_back(cause);
  if (!causes.empty()) return join(causes, ", and ");
  // An M1 Air's level stays nominal while the clock drops.
  return now.may_lack_fan
      ? "no gauge shows why; a machine without a fan may be hot and not say so"
      : "no gauge shows why";
}

std::string stall_advice(const Conditions& now, int threads) {
  if (threads < 2 || crowded(now).empty()) return "";
  return cat(
      " ",
      threads,
      " threads stall when one of them has to wait for a core; one may be "
      "faster, but would change the last bits of the run. To take it, stop "
      "the run and go on with --resume and --set threads=1.");
}

int fewer_threads(const Conditions& now, int threads) {
  if (threads < 2 || crowded(now).empty()) return threads;
  const double left = now.load->usable - now.load->missing();
  return std::clamp(static_cast<int>(left), 1, threads - 1);
}

SlowdownWatch::SlowdownWatch() : SlowdownWatch(Limits()) {}

SlowdownWatch::SlowdownWatch(Limits limits, StepThreads threads)
    : limits_(limits), threads_(threads), in_use_(threads.planned) {}

void SlowdownWatch::reset() {
  use_threads(in_use_);
}

void SlowdownWatch::use_threads(int count) {
  *this = SlowdownWatch(limits_, threads_);
  in_use_ = count;
}

std::optional<SpeedChange> SlowdownWatch::back_to_plan(
    double step_s,
    const Conditions& now) {
  if (in_use_ >= threads_.planned) return std::nullopt;
  calm_ = now.load && !now.load->busy() ? calm_ + 1 : 0;
  if (calm_ != limits_.calm_windows) return std::nullopt;
  return SpeedChange{
      false,
      step_s,
      step_s,
      cat("the cores are free again: the run takes its ",
          plural(threads_.planned, "thread"),
          " back at the next checkpoint"),
      threads_.planned};
}

std::optional<SpeedChange> SlowdownWatch::see(
    double step_s,
    const Conditions& now) {
  window_s_.push_back(step_s);
  if (window_s_.size() < static_cast<std::size_t>(limits_.window))
    return std::nullopt;
  const double middle_s = median(window_s_);
  window_s_.clear();
  if (auto change = back_to_plan(middle_s, now)) return change;
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
  const int fewer = threads_.may_change ? fewer_threads(now, in_use_) : in_use_;
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
          ".",
          fewer < in_use_ ? cat(" The run goes on with ",
                                plural(fewer, "thread"),
                                " from the next checkpoint on: its bits do not "
                                "depend on threads.")
                          : stall_advice(now, in_use_)),
      fewer < in_use_ ? fewer : 0};
}

} // namespace temper::plan

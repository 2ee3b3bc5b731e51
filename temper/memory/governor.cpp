#include "temper/memory/governor.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::memory {
namespace {

// Shrink above this part of the budget, grow only below that one.
constexpr double kNearBudget = 0.97;
constexpr double kRoomInBudget = 0.90;
// The share of the memory free now that a larger size may take.
constexpr double kShareForGrowth = 0.5;
// Committed steps before a larger size is tried; doubled by every shrink, so
// that a run that swings does so less and less.
constexpr int kCalmAtFirst = 50;
constexpr int kCalmAtMost = 3200;
constexpr int kFailuresAtMost = 2;
// Pressure of one sample is chance.
constexpr int kPressedSamples = 3;
constexpr double kStallOfConcern = 0.10;

int rounded_up(int samples, int group) {
  return (samples + group - 1) / group * group;
}

// Samples of the machine are rarer than steps.
bool is_fresh(const MemorySample& now) {
  return now.pressure != machine::Pressure::unknown || now.memory_stall;
}

bool is_pressed(const MemorySample& now) {
  return now.pressure == machine::Pressure::critical ||
      now.memory_stall.value_or(0) > kStallOfConcern;
}

} // namespace

const char* to_string(Cause cause) {
  switch (cause) {
    case Cause::out_of_memory:
      return "out of memory";
    case Cause::pressure:
      return "memory pressure";
    case Cause::budget:
      return "close to the budget";
    case Cause::room:
      return "room again";
  }
  return "";
}

std::string batch_norm_note() {
  return "BatchNorm takes its statistics over the samples computed at once, so "
         "its results change with this size; model.bn_group makes them "
         "independent of it";
}

std::vector<int> micro_batch_sizes(const GovernorOptions& options) {
  const int batch = std::max(options.batch, 1);
  const int group = std::max(options.group, 1);
  if (options.fixed > 0) return {std::min(options.fixed, batch)};
  int size = options.most > 0 ? std::min(options.most, batch) : batch;
  // The whole batch need not be a multiple: its last group takes the rest.
  if (size < batch) size = std::min(rounded_up(size, group), batch);
  std::vector<int> sizes{size};
  if (!options.may_split) return sizes;
  // BatchNorm learns nothing from one sample alone.
  const int least = options.batch_norm && group == 1 ? 2 : 1;
  while (size > least) {
    const int half = rounded_up((size + 1) / 2, group);
    if (half >= size) break;
    sizes.push_back(size = half);
  }
  return sizes;
}

Governor::Governor(const GovernorOptions& options)
    : options_(options), calm_needed_(kCalmAtFirst) {
  for (const int samples : micro_batch_sizes(options))
    levels_.push_back({samples, 0});
  if (options.start > 0 && options.fixed == 0)
    while (level_ + 1 < levels_.size() &&
           levels_[level_].samples > options.start)
      ++level_;
  told_splitting_ = samples_at(level_) < options.batch;
}

int Governor::samples_at(std::size_t level) const {
  return levels_[level].samples;
}

int Governor::micro_batch() const {
  return samples_at(level_) >= options_.batch ? 0 : samples_at(level_);
}

bool Governor::can_shrink() const {
  return level_ + 1 < levels_.size();
}

std::optional<Change> Governor::out_of_memory(int samples) {
  calm_ = 0;
  const int at_once = samples_at(level_);
  if (!retried_) {
    retried_ = true;
    return Change{
        at_once,
        at_once,
        Cause::out_of_memory,
        cat("out of memory with ",
            plural(at_once, "sample"),
            " at once: the step was undone and is tried again with empty "
            "caches")};
  }
  // A short last batch is not made smaller by sizes above its own.
  std::size_t to = level_ + 1;
  while (samples > 0 && to < levels_.size() && samples_at(to) >= samples)
    ++to;
  if (to >= levels_.size()) return std::nullopt;
  ++levels_[level_].failures;
  return move(to, Cause::out_of_memory, "out of memory twice in one step");
}

std::string Governor::refusal() const {
  const std::string now = plural(samples_at(level_), "sample");
  if (options_.fixed > 0)
    return cat(
        "memory.micro_batch fixes ",
        now,
        " at once; \"auto\" lets temper compute fewer");
  if (!options_.may_split)
    return "this loss couples the samples of a batch, so the batch is not "
           "split";
  if (samples_at(level_) > 1 && options_.group > 1)
    return cat(
        "fewer than ", now, " at once would split a group of model.bn_group");
  return cat("even ", now, " at once does not fit");
}

// The bytes that `samples` at once will take, corrected by what this size
// takes.
double Governor::forecast(int samples, const MemorySample& now) const {
  const auto peak = static_cast<double>(now.peak_bytes);
  const double here =
      options_.base_bytes + options_.sample_bytes * samples_at(level_);
  if (options_.sample_bytes <= 0)
    return peak * samples / std::max(samples_at(level_), 1);
  const double there = options_.base_bytes + options_.sample_bytes * samples;
  return peak > 0 ? there + std::max(0.0, peak - here) : there;
}

bool Governor::has_room(const MemorySample& now) const {
  if (level_ == 0 || calm_ < calm_needed_) return false;
  if (levels_[level_ - 1].failures >= kFailuresAtMost) return false;
  const double larger = forecast(samples_at(level_ - 1), now);
  if (now.budget_bytes > 0 &&
      larger > kRoomInBudget * static_cast<double>(now.budget_bytes))
    return false;
  const double more = larger - static_cast<double>(now.peak_bytes);
  return now.available_bytes == 0 ||
      more < kShareForGrowth * static_cast<double>(now.available_bytes);
}

Change Governor::move(std::size_t to, Cause cause, const std::string& because) {
  Change change{samples_at(level_), samples_at(to), cause, ""};
  if (to > level_) calm_needed_ = std::min(calm_needed_ * 2, kCalmAtMost);
  level_ = to;
  calm_ = 0;
  pressed_ = 0;
  retried_ = false;
  change.why =
      cat(because,
          ": ",
          change.to,
          " instead of ",
          plural(change.from, "sample"),
          " at once; the update is still of ",
          options_.batch);
  if (options_.batch_norm && options_.group <= 1 && !told_splitting_) {
    told_splitting_ = true;
    change.why += cat(". ", batch_norm_note());
  }
  return change;
}

std::optional<Change> Governor::see(const MemorySample& now) {
  retried_ = false;
  if (is_fresh(now)) pressed_ = is_pressed(now) ? pressed_ + 1 : 0;
  if (pressed_ > 0) calm_ = 0;
  if (pressed_ >= kPressedSamples && can_shrink())
    return move(
        level_ + 1,
        Cause::pressure,
        cat("the system is short of memory (",
            bytes_text(now.available_bytes),
            " free)"));
  const auto budget = static_cast<double>(now.budget_bytes);
  const bool near = now.budget_bytes > 0 &&
      static_cast<double>(now.peak_bytes) > kNearBudget * budget;
  if (near && can_shrink()) {
    ++levels_[level_].failures;
    return move(
        level_ + 1,
        Cause::budget,
        cat("a step took ",
            bytes_text(now.peak_bytes),
            " of the budget of ",
            bytes_text(now.budget_bytes)));
  }
  if (pressed_ > 0 || now.pressure == machine::Pressure::warning) return {};
  ++calm_;
  if (!has_room(now)) return {};
  return move(
      level_ - 1,
      Cause::room,
      cat(calm_,
          " steps had room, and ",
          bytes_text(now.available_bytes),
          " is free"));
}

std::string Governor::state() const {
  nlohmann::json failures = nlohmann::json::object();
  for (const Level& level : levels_)
    if (level.failures > 0)
      failures[std::to_string(level.samples)] = level.failures;
  // The machine at that time is not part of it: an undisturbed run has the
  // same state everywhere.
  return nlohmann::json{
      {"batch", options_.batch},
      {"samples", samples_at(level_)},
      {"failures", failures},
      {"calm", level_ > 0 ? calm_ : 0},
      {"calm_needed", calm_needed_},
      {"told_splitting", told_splitting_}}
      .dump();
}

// A field that is absent or does not fit changes nothing: sizes are a matter of
// what fits, and another config or machine has others.
void Governor::restore(const std::string& state) {
  if (state.empty()) return;
  const auto saved = nlohmann::json::parse(state, nullptr, false);
  if (!saved.is_object())
    throw Error(
        "[memory] the checkpoint's record of batch sizes cannot be read.",
        "Start the run again, or resume from an earlier checkpoint.");
  const auto number = [&](const char* key, int otherwise) {
    const auto found = saved.find(key);
    return found != saved.end() && found->is_number_integer()
        ? found->get<int>()
        : otherwise;
  };
  if (options_.fixed > 0 || number("batch", 0) != options_.batch) return;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i].samples == number("samples", 0)) level_ = i;
    const auto failures = saved.find("failures");
    if (failures == saved.end() || !failures->is_object()) continue;
    levels_[i].failures =
        failures->value(std::to_string(levels_[i].samples), 0);
  }
  calm_ = std::max(number("calm", 0), 0);
  calm_needed_ =
      std::clamp(number("calm_needed", kCalmAtFirst), 1, kCalmAtMost);
  const auto told = saved.find("told_splitting");
  told_splitting_ = told != saved.end() && told->is_boolean() && *told;
}

} // namespace temper::memory

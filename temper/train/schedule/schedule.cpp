#include "temper/train/schedule/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::train {
namespace {

// One-cycle as PyTorch's OneCycleLR has it by default.
constexpr double kRising = 0.3; // part of the cycle
constexpr double kStartDivisor = 25;
constexpr double kEndDivisor = 1e4; // of the start

ScheduleKind kind_of(const std::string& name) {
  for (const auto& [known, kind] :
       {std::pair{"constant", ScheduleKind::kConstant},
        std::pair{"linear", ScheduleKind::kLinear},
        std::pair{"cosine", ScheduleKind::kCosine},
        std::pair{"one-cycle", ScheduleKind::kOneCycle},
        std::pair{"exponential", ScheduleKind::kExponential},
        std::pair{"step", ScheduleKind::kStep},
        std::pair{"plateau", ScheduleKind::kPlateau}})
    if (name == known) return kind;
  throw Error(cat("[train] there is no schedule ", name, "."));
}

// From a to b along half a cosine; part from 0 to 1.
double along_cosine(double a, double b, double part) {
  return b + (a - b) / 2 * (1 + std::cos(std::numbers::pi * part));
}

double one_cycle(const Schedule& schedule, double t, double total) {
  const double start = schedule.lr / kStartDivisor;
  const double end =
      schedule.min_lr > 0 ? schedule.min_lr : start / kEndDivisor;
  const double top_at = kRising * total - 1;
  const double end_at = total - 1;
  if (t <= top_at && top_at > 0)
    return along_cosine(start, schedule.lr, t / top_at);
  const double falling = std::max(end_at - top_at, 1.0);
  return along_cosine(schedule.lr, end, std::min((t - top_at) / falling, 1.0));
}

} // namespace

std::string epochs_text(double epochs) {
  return cat(epochs, epochs == 1 ? " epoch" : " epochs");
}

Schedule make_schedule(
    const config::Config& config,
    std::int64_t updates_per_epoch,
    std::int64_t total_updates) {
  const auto updates = [&](double epochs) {
    return std::llround(epochs * static_cast<double>(updates_per_epoch));
  };
  Schedule made;
  made.kind = kind_of(config.schedule.name);
  made.lr = config.optimizer.lr;
  made.min_lr = config.schedule.min_lr;
  made.gamma = config.schedule.gamma;
  made.total_updates = std::max<std::int64_t>(total_updates, 1);
  made.warmup_updates = updates(config.schedule.warmup);
  made.step_updates = std::max<std::int64_t>(updates(config.schedule.step), 1);
  if (made.min_lr > made.lr)
    throw Error(
        cat("[train] schedule.min_lr = ",
            made.min_lr,
            " is above optimizer.lr = ",
            made.lr,
            "."),
        "The rate falls from lr to min_lr.");
  if (made.warmup_updates >= made.total_updates && made.warmup_updates > 0)
    throw Error(
        cat("[train] the warm-up (",
            epochs_text(config.schedule.warmup),
            ", ",
            plural(made.warmup_updates, "update"),
            made.warmup_updates == made.total_updates
                ? ") is as long as the run ("
                : ") is longer than the run (",
            plural(made.total_updates, "update"),
            ")."),
        "Train longer, or set schedule.warmup lower.");
  return made;
}

double learning_rate(const Schedule& schedule, std::int64_t update, int drops) {
  const double lr = schedule.lr;
  // The first update already learns a little.
  if (update < schedule.warmup_updates)
    return lr * static_cast<double>(update + 1) /
        static_cast<double>(schedule.warmup_updates);
  const auto t = static_cast<double>(update - schedule.warmup_updates);
  const auto total = static_cast<double>(std::max<std::int64_t>(
      schedule.total_updates - schedule.warmup_updates, 1));
  const auto step = static_cast<double>(schedule.step_updates);
  const auto dropped = [&](double exponent) {
    return std::max(lr * std::pow(schedule.gamma, exponent), schedule.min_lr);
  };
  const double part = std::min(t / total, 1.0);
  switch (schedule.kind) {
    case ScheduleKind::kConstant:
      return lr;
    case ScheduleKind::kLinear:
      return lr + (schedule.min_lr - lr) * part;
    case ScheduleKind::kCosine:
      return along_cosine(lr, schedule.min_lr, part);
    case ScheduleKind::kOneCycle:
      return one_cycle(schedule, t, total);
    case ScheduleKind::kExponential:
      return dropped(t / step);
    case ScheduleKind::kStep:
      return dropped(std::floor(t / step));
    case ScheduleKind::kPlateau:
      return dropped(drops);
  }
  throw Bug("a schedule outside the table");
}

} // namespace temper::train

// The learning rate as a pure function of the number of committed updates: not
// of micro-batches, wall clock or what was computed before. A resumed run asks
// the same function.
#pragma once

#include <cstdint>
#include <string>

#include "temper/config/config.h"

namespace temper::train {

enum class ScheduleKind {
  kConstant,
  kLinear,
  kCosine,
  kOneCycle,
  kExponential,
  kStep,
  kPlateau,
};

// Epochs of the config turned into updates.
struct Schedule {
  ScheduleKind kind = ScheduleKind::kCosine;
  double lr = 0;
  double min_lr = 0;
  double gamma = 0.1;
  std::int64_t warmup_updates = 0; // before, not inside, what follows
  std::int64_t total_updates = 1; // warm-up included
  std::int64_t step_updates = 1;
};

// "1 epoch", "0.5 epochs".
std::string epochs_text(double epochs);

Schedule make_schedule(
    const config::Config& config,
    std::int64_t updates_per_epoch,
    std::int64_t total_updates);

// The rate of update number `update`, the first being 0. `drops` is how often
// plateau has lowered it; the others ignore it.
double
learning_rate(const Schedule& schedule, std::int64_t update, int drops = 0);

} // namespace temper::train

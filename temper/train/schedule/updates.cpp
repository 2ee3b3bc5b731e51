#include "temper/train/schedule/updates.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::train {

bool needs_length(const std::string& schedule) {
  return schedule != "constant" && schedule != "plateau";
}

// A batch that accumulates is computed in that many parts.
int micro_batch_of(const config::Config& config) {
  if (config.memory.micro_batch)
    return static_cast<int>(*config.memory.micro_batch);
  return config.train.accumulate > 1 ? static_cast<int>(config.train.batch) : 0;
}

Updates::Updates(
    const config::Config& config,
    std::optional<std::int64_t> per_epoch)
    : per_epoch_(per_epoch.value_or(0)),
      most_(config.train.max_steps),
      log_every_(config.train.log_every),
      micro_batch_(micro_batch_of(config)) {
  if (!per_epoch && most_ == 0 && needs_length(config.schedule.name))
    throw Error(
        cat("[train] the schedule ",
            config.schedule.name,
            " needs to know how long the run is, and a generator does not "
            "say how long its epochs are."),
        "Set train.max_steps, or schedule.name = \"constant\".");
  if (per_epoch && *per_epoch == 0)
    throw Error(
        "[train] an epoch has no batch: the data has fewer samples than one "
        "batch, and train.drop_last leaves the rest out.",
        "Lower train.batch or set train.drop_last = false.");
  total_ = per_epoch_ * config.train.epochs;
  if (most_ > 0) total_ = total_ > 0 ? std::min(total_, most_) : most_;
  schedule_ =
      make_schedule(config, std::max<std::int64_t>(per_epoch_, 1), total_);
}

bool Updates::is_reported(std::int64_t after) const {
  return after == 1 || after % log_every_ == 0 || after == total_;
}

} // namespace temper::train

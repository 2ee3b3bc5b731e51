// How many updates a run makes, at which learning rates, in which parts, and
// which of them are reported: all known before the first one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "temper/config/config.h"
#include "temper/train/schedule/schedule.h"

namespace temper::train {

// Samples computed at once, as the config asks for; 0: the whole batch.
int micro_batch_of(const config::Config& config);

// Does the learning rate depend on how long the run is?
bool needs_length(const std::string& schedule);

class Updates {
 public:
  // per_epoch: batches of an epoch; no value for a generator. Error when the
  // schedule must know the run's length and nobody does, or an epoch is empty.
  Updates(const config::Config& config, std::optional<std::int64_t> per_epoch);

  std::int64_t per_epoch() const { // 0: not known
    return per_epoch_;
  }
  double lr(std::int64_t update, int plateau_drops) const {
    return learning_rate(schedule_, update, plateau_drops);
  }
  // Samples computed at once; 0: the whole batch.
  int micro_batch() const {
    return micro_batch_;
  }
  // After so many updates: is this one reported, is the run over?
  bool is_reported(std::int64_t after) const;
  bool reached_most(std::int64_t after) const {
    return most_ > 0 && after >= most_;
  }

 private:
  Schedule schedule_;
  std::int64_t per_epoch_ = 0;
  std::int64_t total_ = 0; // 0: not known
  std::int64_t most_ = 0; // train.max_steps
  std::int64_t log_every_ = 1;
  int micro_batch_ = 0;
};

} // namespace temper::train

// The loop's memory from epoch to epoch beside the engine's state: the best so
// far, how long ago, the plateau's drops, and the sums of an epoch that was
// broken off. Goes into every checkpoint as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "temper/config/config.h"
#include "temper/train/loop/guard.h"
#include "temper/train/metrics/meter.h"
#include "temper/train/metrics/metrics.h"

namespace temper::train {

struct Progress {
  std::uint32_t epoch = 0; // under way
  std::int64_t update = 0; // committed
  std::int64_t step = 0; // of the epoch, done
  MetricSums epoch_sums; // of those steps
  MetricSums engine_sums; // of those steps, and not in epoch_sums yet
  std::string watched; // metric, as the last epoch was judged; empty: none yet
  std::optional<double> best; // of the metric that is watched
  std::optional<double> best_loss; // in that epoch, to break ties
  std::uint32_t best_epoch = 0;
  std::int64_t epochs_since_best = 0; // a tie does not reset it
  int plateau_drops = 0;
  GuardState guard;
  std::string governor; // its own JSON; empty: none yet
  TimeSpent run; // over all its sessions
  TimeSpent in_epoch; // of the epoch under way, likewise

  std::string to_json() const;
  static Progress from_json(const std::string& text); // Error if malformed
};

// Which metric the best checkpoint is best at: what the config says, or what
// was measured ("val_accuracy", "val_loss", "train_loss").
std::string watched_metric(
    const config::Config& config,
    const MetricSums& train,
    const MetricSums* val);
// The value of such a name.
double watched_value(
    const std::string& watched,
    const MetricSums& train,
    const MetricSums* val);

// An epoch ended with this value: updates best, epochs_since_best and
// plateau_drops. True when it is the best so far; what is not finite never is.
// Between equal values the smaller loss is better: an accuracy moves in steps,
// and a model that predicts one class only has the same for many epochs. Such a
// tie does not count as an improvement for early_stop and plateau.
bool close_epoch(
    Progress& progress,
    const config::Config& config,
    const std::string& watched,
    double value,
    double loss);

} // namespace temper::train

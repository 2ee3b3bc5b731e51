// The guard decides what becomes of an update that is not finite: the batch is
// passed over, the run goes back to an earlier state, or it stops. A pure state
// machine; the loop asks it and does what it says. Nothing here reads a clock,
// and all that counts is in GuardState, which goes into every checkpoint. No
// torch.
//
//   skip       the batch is spent; neither update, rate nor average advance.
//              After guard.patience in a row: rollback.
//   rollback   to the newest of a few good states kept in memory; data goes on.
//              Again before the run got further than where it failed: to the
//              state before that one, and the learning rate is cut. A third
//              time: stop.
//   stop       the run ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/config/choices.h"
#include "temper/config/config.h"
#include "temper/train/engine/engine.h"

namespace temper::train {

struct GuardState {
  std::int64_t in_a_row = 0; // batches passed over since the last commit
  std::int64_t rollbacks = 0; // since the run last got further
  std::int64_t furthest = 0; // the update at which they failed
  double lr_factor = 1; // cut by rollbacks
  std::vector<double> losses; // committed last; only for guard.loss_spike
};

enum class Action { skip, roll_back, stop };

class Guard {
 public:
  // `state` is the loop's, and outlives this.
  Guard(const config::Guard& options, GuardState& state);

  // Losses of every step are needed: each must be read.
  bool watches_losses() const;
  // A loss above it is an explosion; infinity: no limit, or too few seen yet.
  double loss_limit() const;

  // The action for an update that was not finite; `update` were committed.
  Action not_finite(std::int64_t update);
  // Told that so many updates are committed now. The loss only if losses are
  // watched.
  void committed(std::int64_t update, double loss);
  // Why not_finite() said stop.
  std::string why_stopped() const;

 private:
  const config::Guard& options_;
  const config::NanPolicy policy_;
  GuardState& state_;
};

// Good states in memory, the newest last; how many and how often:
// guard.rollback and guard.rollback_every.
class GoodStates {
 public:
  explicit GoodStates(const config::Guard& options);

  bool due(std::int64_t update) const;
  void keep(std::int64_t update, EngineState state);
  // A state that was kept. newest() is null when none was.
  struct Kept {
    std::int64_t update = 0;
    EngineState state;
  };
  const Kept* newest() const;
  // Drops the newest, which led nowhere: the one before is the newest now. The
  // oldest stays.
  void drop_newest();

  // Saves the states among the tensors of a checkpoint, as
  // "good.<update>.<name>", and restores them: a resumed run goes back to where
  // an undisturbed one does. Each is as large as the checkpoint itself, so only
  // runs that ask for rollbacks have them.
  void save(graph::Weights& into) const;
  void restore(const graph::Weights& from);

 private:
  bool saved_;
  std::int64_t every_;
  std::size_t most_;
  std::vector<Kept> states_;
};

} // namespace temper::train

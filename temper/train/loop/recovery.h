// The loop's recovery from an update that was not finite: it asks the guard,
// passes the batch over, goes back or ends the run, and tells the journal. It
// also keeps the good states to go back to, and for devices that tell late the
// way back to the batch that was bad: whatever was trained since changed
// nothing and is trained again. No torch.
// Private to train/loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/journal/event.h"
#include "temper/train/engine/engine.h"
#include "temper/train/loop/guard.h"
#include "temper/train/loop/progress.h"
#include "temper/train/setup/batches.h"

namespace temper::train {

struct RecoveryParts {
  const config::Config& config;
  Engine& engine;
  Batches& train;
  Progress& progress;
  std::function<void(const journal::Event&)> tell;
};

class Recovery {
 public:
  explicit Recovery(RecoveryParts parts);

  // The part of the good states that goes into a checkpoint, and comes back
  // from it.
  void save(graph::Weights& into) const;
  void restore(const graph::Weights& from);

  // Called before the first step of an epoch: there is a state to go back to.
  void begin();
  // Called before a step: adds what the guard wants to its order.
  void arm(StepOrder& order) const;
  // Called after a step that was committed, as far as is known; progress counts
  // it.
  void committed(const StepOrder& order);
  // One was not finite: `order`'s own, or an earlier one that shows only now.
  // Progress and data are behind that batch afterwards. Throws what was caught
  // when the guard says stop. `batch` is that of `order`: samples of it that
  // hold NaN are named.
  void not_finite(
      const NotFinite& bad,
      const StepOrder* order,
      const data::HostBatch* batch = nullptr);

  // Takes what the engine has added up into the epoch's sums, and keeps a good
  // state when one is due. False: an update was not finite after all, and the
  // epoch goes on behind it. Called at reports and at the end of an epoch: when
  // sums are added up must not depend on checkpoints.
  bool settle();

 private:
  // Behind a batch whose numbers nobody has seen.
  struct EarlierState {
    std::int64_t update; // before it
    std::int64_t step;
    std::string loader;
  };

  void known(std::int64_t update);
  void keep_state();
  void rewind(std::int64_t update);
  std::int64_t roll_back();

  RecoveryParts parts_;
  Progress& progress_;
  Guard guard_;
  GoodStates states_;
  bool late_;
  std::vector<EarlierState> trail_;
  std::int64_t known_ = -1; // updates surely committed; negative: not begun
};

} // namespace temper::train

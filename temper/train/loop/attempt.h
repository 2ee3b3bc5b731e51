// One step, or one batch of validation, with the retries it needs: when memory
// runs out the engine has left no trace, the governor says how many samples to
// compute at once, and the same samples go in again. Whatever shrinks also
// gives back what no tensor uses. Used by the loop. No torch.
#pragma once

#include <functional>

#include "temper/data/loader/loader.h"
#include "temper/journal/event.h"
#include "temper/memory/governor.h"
#include "temper/train/engine/engine.h"

namespace temper::train {

class Attempt {
 public:
  using Tell = std::function<void(const journal::Event&)>;
  Attempt(Engine& engine, memory::Governor& governor, Tell tell);

  // As Engine::step, of which it throws everything but OutOfMemory: an Error
  // that says what to do once the batch cannot be split further. The order's
  // micro-batch is the governor's.
  bool step(const data::HostBatch& batch, StepOrder order);

  // After a step that was committed: more or fewer samples at once from now on?
  void see(const memory::MemorySample& now, const StepOrder& order);

  // As Engine::evaluate; in halves while it does not fit, and so from then on.
  void evaluate(const data::HostBatch& batch);

 private:
  Engine& engine_;
  memory::Governor& governor_;
  Tell tell_;
  int evaluated_at_once_ = 0; // 0: the whole batch
};

} // namespace temper::train

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

  // Like Engine::step, but retries on OutOfMemory and throws Error, with what
  // to do, once the batch cannot be split further. The governor sets the
  // order's micro-batch.
  bool step(const data::HostBatch& batch, StepOrder order);

  // Called after a step that was committed: more or fewer samples at once from
  // now on?
  void see(const memory::MemorySample& now, const StepOrder& order);

  // Like Engine::evaluate, but in halves while the batch does not fit, and so
  // from then on.
  void evaluate(const data::HostBatch& batch, const StepOrder& after);

 private:
  Engine& engine_;
  memory::Governor& governor_;
  Tell tell_;
  int evaluated_at_once_ = 0; // 0: the whole batch
};

} // namespace temper::train

// The engine of a run whose model has a frozen part: trains the rest, and says
// of the whole model what the others say of theirs, so that checkpoints and
// exports hold all of it. From the epoch on in which everything trains it hands
// over to an engine of the whole model. No torch.
// Private to train/transfer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "temper/train/engine/engine.h"
#include "temper/train/transfer/transfer_batches.h"

namespace temper::train {

struct TransferEngineParts {
  std::unique_ptr<Engine> engine; // of what trains
  graph::Weights frozen; // what it has not, by plain names
  std::int64_t frozen_values = 0; // of parameters among them
  std::shared_ptr<TransferPhase> phase;
  // The whole model with these weights; what was frozen joined the optimiser
  // before that update. Null: it stays frozen.
  std::function<std::unique_ptr<Engine>(
      const graph::Weights& weights,
      std::int64_t update)>
      make_whole;
};

std::unique_ptr<Engine> transfer_engine(TransferEngineParts parts);

} // namespace temper::train

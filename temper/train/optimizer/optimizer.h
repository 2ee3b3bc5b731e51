// How parameters follow their gradients: SGD, Adam, AdamW and Lion with
// PyTorch's arithmetic, so that a run can be held against its Python twin. The
// number of updates is the caller's: there is no counter to save. Includes
// torch: see task.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/model/module/module.h"
#include "temper/train/engine/make_engine.h"
#include "temper/train/optimizer/commit_gate.h"

namespace temper::train {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // One update from the parameters' gradients; one without a gradient stays.
  // `update` counts those before this one. Through a closed gate neither a
  // parameter nor the state below changes; gradients may.
  virtual void step(double lr, std::int64_t update, const CommitGate& gate) = 0;
  // The moments by name, "first.fc.weight": they share the optimiser's memory,
  // to be saved and filled.
  virtual std::vector<model::NamedTensor> state() const = 0;
};

// Norms and biases (parameters of at most one dimension) do not decay, unless
// optimizer.decay_all says so. What joined later counts its updates from there.
std::unique_ptr<Optimizer> make_optimizer(
    const config::Optimizer& options,
    const std::vector<model::NamedTensor>& parameters,
    const LateParameters& joined = {});

} // namespace temper::train

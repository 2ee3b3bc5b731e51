// Averaged weights (EMA): a slow copy of the parameters, moved a little towards
// them after each update. Validation and the finished model use it. Includes
// torch: see task.h.
#pragma once

#include <cstddef>
#include <vector>

#include "temper/model/module/module.h"
#include "temper/train/optimizer/commit_gate.h"
#include "temper/train/optimizer/element_spans.h"

namespace temper::train {

class Average {
 public:
  // decay = train.ema; 0: there is no average, and nothing below does anything.
  Average(double decay, const std::vector<model::NamedTensor>& parameters);

  // Called before an update: does what follow() needs and may fail.
  void make_ready(const CommitGate& gate);
  // Called after it; `update` counts those before it. Rolls forward: memory
  // that runs out for good is HalfDone.
  void follow(std::int64_t update, const CommitGate& gate);
  // The parameters become the average, and the other way round.
  void swap();
  // Share its memory, to be saved and filled.
  const std::vector<model::NamedTensor>& tensors() const {
    return tensors_;
  }

 private:
  bool is_laid_out(std::size_t i) const; // for the kernels

  double decay_;
  std::vector<model::NamedTensor> parameters_;
  std::vector<model::NamedTensor> tensors_;
  ElementSpans runs_; // of the next update: what the kernels move
  std::vector<std::size_t> others_;
};

} // namespace temper::train

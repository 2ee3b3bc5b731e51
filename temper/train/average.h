// Averaged weights (EMA): a slow copy of the parameters, moved a little towards
// them after each update. Validation and the finished model use it. Includes
// torch: see task.h.
#pragma once

#include <vector>

#include "temper/model/module.h"
#include "temper/train/gate.h"

namespace temper::train {

class Average {
 public:
  // decay = train.ema; 0: there is no average, and nothing below does anything.
  Average(double decay, const std::vector<model::NamedTensor>& parameters);

  // After an update; `update` counts those before it.
  void follow(std::int64_t update, const Gate& gate);
  // The parameters become the average, and the other way round.
  void swap();
  // Share its memory, to be saved and filled.
  const std::vector<model::NamedTensor>& tensors() const {
    return tensors_;
  }

 private:
  double decay_;
  std::vector<model::NamedTensor> parameters_;
  std::vector<model::NamedTensor> tensors_;
};

} // namespace temper::train

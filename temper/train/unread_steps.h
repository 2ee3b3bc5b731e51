// Updates that happened on the device and whose loss and gradient norm nobody
// has seen yet, and whether they were finite: what lets a step end without
// waiting. On the CPU nothing stays unread. Inside the engine. Includes torch:
// see task.h.
#pragma once

#include <vector>

#include "temper/train/engine.h"
#include "temper/train/gate.h"
#include "temper/train/unread.h"

namespace temper::train {

// Throws NotFinite. `latest`: the update it was seen after.
[[noreturn]] void refuse_not_finite(
    const std::string& what,
    double value,
    const StepOrder& order,
    std::int64_t latest);

class UnreadSteps {
 public:
  // Closed from the first update that is not finite until read() has told so;
  // on the CPU NotFinite at once.
  Gate
  gate(const at::Tensor& loss, const at::Tensor& norm, const StepOrder& order);

  struct Step {
    StepOrder order;
    double units;
    std::int64_t samples;
  };
  void add(const Step& step, const at::Tensor& loss, const at::Tensor& norm);
  bool full() const {
    return numbers_.full();
  }

  // Adds up, and sets the report to the last one. Throws NotFinite at the first
  // that is, and forgets those after it.
  void read(MetricSums& sums, StepReport& report);

 private:
  std::vector<Step> steps_;
  Unread numbers_; // two a step: loss and norm
  at::Tensor finite_; // all of them? undefined: none was asked
};

} // namespace temper::train

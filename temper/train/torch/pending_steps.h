// Updates that happened on the device and whose loss and gradient norm nobody
// has seen yet, and whether they were finite: what lets a step end without
// waiting. On the CPU nothing stays unread. Includes torch: see task.h.
// Private to train/torch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "temper/train/engine/engine.h"
#include "temper/train/optimizer/commit_gate.h"
#include "temper/train/task/task.h"
#include "temper/train/torch/pending_losses.h"

namespace temper::train {

// The fault in a step's numbers.
struct StepVerdict {
  std::string what; // "the loss became nan"; empty: none
};
StepVerdict
judge(double loss_sum, double norm, double units, const StepOrder& order);

// Throws NotFinite. `latest`: the update it was seen after.
[[noreturn]] void refuse(
    const StepVerdict& verdict,
    const StepOrder& order,
    std::int64_t latest,
    std::vector<std::int64_t> samples);

struct UnreadStep {
  StepOrder order;
  double units = 0;
  std::vector<std::int64_t> samples; // by index
  std::int64_t count = 0; // of samples
  TaskSums before; // what the task had counted
  at::Tensor loss; // the sum
  at::Tensor norm;
  at::Tensor finite; // this step and those before it that are unread
};

class PendingSteps {
 public:
  PendingSteps();

  // Are all of them finite? Undefined when there is none.
  const at::Tensor& finite() const {
    return finite_;
  }
  // Completes a step with `finite`: closed from the first that is not until
  // read() has told so. Adds nothing yet.
  UnreadStep asked(UnreadStep step) const;
  // Cannot fail.
  void add(UnreadStep step);
  bool empty() const {
    return steps_.empty();
  }
  bool full() const {
    return numbers_.full();
  }

  struct Bad {
    UnreadStep step;
    StepVerdict verdict;
    std::int64_t latest = 0;
  };
  // Adds up, and sets the report to the last one. Returns the first that was
  // not finite; it and those after it are not added. What throws has changed
  // nothing.
  std::optional<Bad> read(MetricSums& sums, StepReport& report);

 private:
  std::vector<UnreadStep> steps_;
  PendingLosses numbers_; // two a step: loss and norm
  at::Tensor finite_;
};

} // namespace temper::train

// Validation inside the engine: the losses and metrics of batches, in slices
// where memory is short. A batch that fails leaves the sums as they were.
// Includes torch: see task.h.
// Private to train/torch.
#pragma once

#include "temper/data/loader/loader.h"
#include "temper/train/metrics/metrics.h"
#include "temper/train/task/task.h"
#include "temper/train/torch/engine_batch.h"
#include "temper/train/torch/pending_losses.h"
#include "temper/train/torch/step_precision.h"

namespace temper::train {

struct EvaluationParts {
  Task& task;
  const StepPrecision& precision;
  BatchMover& mover;
  const BatchTransfer& plan;
};

// The model is in eval mode, with the weights that count.
class Evaluation {
 public:
  explicit Evaluation(EvaluationParts parts);

  // OutOfMemory, and what a task's eval_step throws.
  void add(const data::HostBatch& batch);
  // Computes so many samples at once from now on; 0: all.
  void set_slice(int samples) {
    slice_ = samples;
  }
  // Waits for the device, and forgets them.
  MetricSums take();

 private:
  at::Tensor loss_of(const TensorBatch& whole) const;
  void read();

  EvaluationParts parts_;
  int slice_ = 0;
  PendingLosses unread_;
  MetricSums sums_;
};

} // namespace temper::train

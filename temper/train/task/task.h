// A Task joins a model, a loss and metrics. temper has classification,
// regression, next-token and autoencoding; your own derives from Task and
// overrides train_step. Includes torch, as module.h does.
//
//   class MyTask : public temper::train::Task {
//     at::Tensor train_step(const TensorBatch& batch) override {
//       at::Tensor out = model().forward({batch.inputs});
//       return at::mse_loss(out, batch.targets, at::Reduction::Sum);
//     }
//   };
//
// train_step sees a micro-batch and returns the SUM of its losses over units
// (samples, unless units() says otherwise). temper divides by the units of the
// whole batch, so that any split gives the same gradient.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "temper/model/module/module.h"
#include "temper/train/metrics/metrics.h"
#include "temper/train/task/predictions.h"

namespace temper::train {

// A batch or a slice of one, on the model's device.
struct TensorBatch {
  at::Tensor inputs; // N x C x H x W floats, N x features, N x tokens (int64)
  at::Tensor targets; // N labels (int64), N x numbers, N x tokens
  at::Tensor soft_targets; // N x classes with mixup or cutmix; else undefined
  std::int64_t samples = 0;
};

// The sums that a task has counted and nobody has read. A copy is cheap and
// stays as it is: the engine goes back to it when a step fails.
struct TaskSums {
  PredictionCounts counts;
  ErrorSums errors;
  // A user's own, by name: sum and weight.
  std::map<std::string, std::pair<at::Tensor, double>> own;

  MetricSums read() const; // waits for the device
};

class Task {
 public:
  explicit Task(std::shared_ptr<model::Module> model);
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  model::Module& model() {
    return *model_;
  }

  virtual std::string name() const {
    return "custom";
  }
  virtual std::string loss_name() const {
    return "custom";
  }

  // The sum of the losses of this slice; autograd goes through it. Metrics may
  // be added with add().
  virtual at::Tensor train_step(const TensorBatch& batch) = 0;
  // The same step without autograd, where the task knows a way: the sum of the
  // losses, with the gradients of sum * factor in the parameters' .grad in
  // place of what was there. No value, and nothing has changed: train_step it
  // is.
  virtual std::optional<double> direct_step(
      const TensorBatch& batch,
      double factor);
  // Validation: the sum of the losses again, without autograd.
  virtual at::Tensor eval_step(const TensorBatch& batch) {
    return train_step(batch);
  }
  // The divisor of a batch's loss; known before anything is computed. The batch
  // is still on the CPU, so that nothing has to wait for the device.
  virtual double units(const TensorBatch& batch) const {
    return static_cast<double>(batch.samples);
  }
  // A loss that couples samples (contrastive, say) cannot be computed in
  // slices: such a batch is never split.
  virtual bool needs_whole_batch() const {
    return false;
  }
  // Whether loss, gradient and metrics have the same bits whatever the number
  // of threads. LibTorch's sums over many numbers have not.
  virtual bool any_threads() const {
    return false;
  }
  // Where the model goes, go the tensors named with moves_along().
  virtual void to(const at::Device& device);
  const std::map<std::string, at::Tensor*>& companions() const {
    return companions_;
  }

  // A metric of one's own: shown as sum / weight over the whole set. The value
  // stays on the device until it is logged.
  void add(const std::string& metric, const at::Tensor& sum, double weight);

  // The engine's side: what was added since, and forgets it. Waits for the
  // device.
  MetricSums take_sums();
  const TaskSums& sums() const {
    return sums_;
  }
  void set_sums(TaskSums sums) {
    sums_ = std::move(sums);
  }

 protected:
  // Called in a constructor: a member (class weights, say) that is to be on the
  // model's device, and the name that messages give it.
  void moves_along(const std::string& name, at::Tensor& member);

  std::shared_ptr<model::Module> model_;
  TaskSums sums_;

 private:
  std::map<std::string, at::Tensor*> companions_;
};

} // namespace temper::train

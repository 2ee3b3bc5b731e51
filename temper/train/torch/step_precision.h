// The precision of a run, and what it adds to a step: autocast around the
// forward pass and, for fp16, a scaled loss. Includes torch: see task.h.
// Private to train/torch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/config/choices.h"
#include "temper/libtorch/torch/autocast.h"
#include "temper/model/module/module.h"
#include "temper/train/schedule/loss_scale.h"

namespace temper::train {

class StepPrecision {
 public:
  StepPrecision(config::Precision precision, const at::Device& device);

  // A scope in which LibTorch casts; null where nothing is cast.
  std::unique_ptr<libtorch::AutocastScope> autocast() const;
  at::ScalarType weights_type() const; // float, or double for fp64

  bool scales() const {
    return scales_;
  }
  // The factor of the loss; 1 where nothing is scaled.
  double scale() const {
    return scales_ ? scale_.scale() : 1;
  }
  // Once, after the last slice: the gradients as they would be without a scale.
  // An overflow stays one.
  void unscale(const std::vector<model::NamedTensor>& parameters) const;
  void update(bool overflowed) {
    scale_.update(overflowed);
  }

  // The scale and its count, to be saved and filled; empty where none is.
  std::vector<model::NamedTensor> state() const;
  // Called after the tensor of state() was filled.
  void take_state();

 private:
  at::DeviceType device_ = at::kCPU;
  at::ScalarType autocast_ = at::kFloat; // kFloat: off
  at::ScalarType weights_ = at::kFloat;
  bool scales_ = false;
  LossScale scale_;
  at::Tensor state_;
};

} // namespace temper::train

// Losses as sums, with what they are to be divided by: PyTorch's means over any
// split of a batch. Used by the tasks. Includes torch: see task.h.
#pragma once

#include <ATen/ATen.h>

namespace temper::train {

struct CrossEntropy {
  double label_smoothing = 0;
  at::Tensor class_weights; // undefined: equal
  at::Tensor weights_here; // the same on the CPU, where units are counted
  bool fused = false; // by kernels of our own, where they take the tensors

  // logits: N x C, or N x C x T with labels N x T.
  at::Tensor sum(const at::Tensor& logits, const at::Tensor& labels) const;
  // Against probabilities N x C, as mixup makes them.
  at::Tensor soft_sum(const at::Tensor& logits, const at::Tensor& soft) const;
  // The divisor of PyTorch's mean: the labels' weights added up. Labels on the
  // CPU.
  double units(const at::Tensor& labels) const;
};

// The sum over every element; units are elements.
at::Tensor mse_sum(const at::Tensor& output, const at::Tensor& target);
at::Tensor bce_sum(const at::Tensor& logits, const at::Tensor& target);

} // namespace temper::train

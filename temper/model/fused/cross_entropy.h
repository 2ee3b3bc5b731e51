// Softmax cross-entropy as one node of autograd. What the kernels do not take
// goes to LibTorch's own operators. Includes torch: see module.h.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace temper::model {

struct CrossEntropySpec {
  double label_smoothing = 0;
  bool mean = false; // else the sum
  std::int64_t ignore_index = -100;
};

// Like at::cross_entropy_loss: logits [N, C, ...] of any strides, int64 labels
// [N, ...], class weights [C] or undefined.
at::Tensor fused_cross_entropy(
    const at::Tensor& logits,
    const at::Tensor& labels,
    const at::Tensor& class_weights,
    const CrossEntropySpec& spec);

// The sum over rows against probabilities [N, C], which get no gradient:
// -sum(log_softmax(logits, 1) * probabilities * weights).
at::Tensor fused_soft_cross_entropy(
    const at::Tensor& logits,
    const at::Tensor& probabilities,
    const at::Tensor& class_weights);

} // namespace temper::model

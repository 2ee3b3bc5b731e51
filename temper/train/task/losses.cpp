#include "temper/train/task/losses.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <numeric>

#include "temper/model/fused/cross_entropy.h"

namespace temper::train {

at::Tensor CrossEntropy::sum(const at::Tensor& logits, const at::Tensor& labels)
    const {
  constexpr std::int64_t kIgnoreNone = -100;
  if (fused) {
    model::CrossEntropySpec spec;
    spec.label_smoothing = label_smoothing;
    spec.ignore_index = kIgnoreNone;
    return model::fused_cross_entropy(logits, labels, class_weights, spec);
  }
  return at::cross_entropy_loss(
      logits,
      labels,
      class_weights,
      at::Reduction::Sum,
      kIgnoreNone,
      label_smoothing);
}

at::Tensor CrossEntropy::soft_sum(
    const at::Tensor& logits,
    const at::Tensor& soft) const {
  if (fused)
    return model::fused_soft_cross_entropy(logits, soft, class_weights);
  at::Tensor weighted = at::log_softmax(logits, 1).mul(soft);
  if (class_weights.defined()) weighted = weighted.mul(class_weights);
  return weighted.sum().neg();
}

double CrossEntropy::units(const at::Tensor& labels) const {
  if (!weights_here.defined()) return static_cast<double>(labels.numel());
  const at::NoGradGuard no_grad;
  // One after the other: LibTorch's sum of many labels depends on the threads.
  const at::Tensor each =
      weights_here.index_select(0, labels.reshape({-1})).to(at::kDouble);
  const auto* first = each.data_ptr<double>();
  return std::accumulate(first, first + each.numel(), 0.0);
}

at::Tensor mse_sum(const at::Tensor& output, const at::Tensor& target) {
  return at::mse_loss(output, target, at::Reduction::Sum);
}

at::Tensor bce_sum(const at::Tensor& logits, const at::Tensor& target) {
  return at::binary_cross_entropy_with_logits(
      logits, target, {}, {}, at::Reduction::Sum);
}

} // namespace temper::train

#include "temper/train/average.h"

#include <torch/torch.h>

#include <algorithm>

namespace temper::train {

Average::Average(
    double decay,
    const std::vector<model::NamedTensor>& parameters)
    : decay_(decay) {
  if (decay <= 0) return;
  const torch::NoGradGuard no_grad;
  parameters_ = parameters;
  for (const model::NamedTensor& each : parameters)
    tensors_.push_back({each.name, each.tensor.detach().clone(), false});
}

void Average::follow(std::int64_t update, const Gate& gate) {
  const torch::NoGradGuard no_grad;
  // A short memory at first: an average of few values.
  const double early =
      (1 + static_cast<double>(update)) / (10 + static_cast<double>(update));
  const double decay = std::min(decay_, early);
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    gate.approach(
        tensors_[i].tensor, parameters_[i].tensor.detach(), 1 - decay);
}

void Average::swap() {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const at::Tensor kept = parameters_[i].tensor.detach().clone();
    parameters_[i].tensor.detach().copy_(tensors_[i].tensor);
    tensors_[i].tensor.copy_(kept);
  }
}

} // namespace temper::train

#include "temper/train/torch/gradients.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "temper/train/task/predictions.h"

namespace temper::train {
namespace {

constexpr double kTiny = 1e-6; // PyTorch's, against division by zero

} // namespace

void forget_gradients(const std::vector<model::NamedTensor>& parameters) {
  for (const model::NamedTensor& each : parameters)
    if (each.tensor.grad().defined()) each.tensor.mutable_grad().reset();
}

at::Tensor gradient_norm(
    const std::vector<model::NamedTensor>& parameters,
    const at::Device& device) {
  const at::NoGradGuard no_grad;
  const auto type = sum_type(device);
  std::vector<at::Tensor> norms;
  for (const model::NamedTensor& each : parameters)
    if (const at::Tensor gradient = each.tensor.grad(); gradient.defined())
      norms.push_back(gradient.norm(2));
  if (norms.empty())
    return at::zeros({}, at::TensorOptions().dtype(type).device(device));
  const at::Tensor all = at::stack(norms).to(type);
  if (!device.is_cpu()) return all.norm(2);
  // One after the other: the same bits whatever the processor's vectors.
  double squares = 0;
  const auto* norm = all.data_ptr<double>();
  for (std::int64_t i = 0; i < all.numel(); ++i)
    squares += norm[i] * norm[i];
  return at::scalar_tensor(std::sqrt(squares), all.options());
}

void clip_gradients(
    const std::vector<model::NamedTensor>& parameters,
    const config::Train& options,
    const at::Tensor& norm) {
  const at::NoGradGuard no_grad;
  const bool here = norm.device().is_cpu();
  double factor = 1;
  at::Tensor factor_there;
  if (options.clip > 0 && here)
    factor = options.clip / (norm.item<double>() + kTiny);
  if (options.clip > 0 && !here)
    factor_there =
        norm.add(kTiny).reciprocal_().mul_(options.clip).clamp_max_(1);
  for (const model::NamedTensor& each : parameters) {
    at::Tensor gradient = each.tensor.grad();
    if (!gradient.defined()) continue;
    if (factor_there.defined()) gradient.mul_(factor_there);
    if (factor < 1) gradient.mul_(factor);
    if (options.clip_value > 0)
      gradient.clamp_(-options.clip_value, options.clip_value);
  }
}

} // namespace temper::train

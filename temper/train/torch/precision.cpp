#include "temper/train/torch/precision.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::train {

Precision::Precision(const std::string& name, const at::Device& device)
    : device_(device.type()) {
  if (name == "bf16") autocast_ = at::kBFloat16;
  if (name == "fp16") autocast_ = at::kHalf;
  if (name == "fp64") weights_ = at::kDouble;
  scales_ = name == "fp16" || name == "scaled";
  check(
      name == "fp32" || scales_ || autocast_ != at::kFloat ||
          weights_ != at::kFloat,
      "a precision outside the table");
  if (autocast_ != at::kFloat) autocast(); // refused now, not in the first step
  if (scales_) state_ = at::zeros({2});
}

std::unique_ptr<libtorch::AutocastScope> Precision::autocast() const {
  if (autocast_ == at::kFloat) return nullptr;
  return std::make_unique<libtorch::AutocastScope>(device_, autocast_);
}

at::ScalarType Precision::weights_type() const {
  return weights_;
}

void Precision::unscale(
    const std::vector<model::NamedTensor>& parameters) const {
  if (!scales_) return;
  const at::NoGradGuard no_grad;
  for (const model::NamedTensor& each : parameters)
    if (each.tensor.grad().defined()) each.tensor.grad().mul_(scale_.inverse());
}

std::vector<model::NamedTensor> Precision::state() const {
  if (!scales_) return {};
  at::Tensor now = state_;
  now[0] = scale_.scale();
  now[1] = scale_.good_steps();
  return {{"state", state_}};
}

void Precision::take_state() {
  if (!scales_) return;
  scale_.restore(
      state_[0].item<float>(),
      static_cast<std::int32_t>(state_[1].item<float>()));
}

} // namespace temper::train

#include "temper/train/torch/step_precision.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::train {

StepPrecision::StepPrecision(
    config::Precision precision,
    const at::Device& device)
    : device_(device.type()) {
  using config::Precision;
  if (precision == Precision::bf16) autocast_ = at::kBFloat16;
  if (precision == Precision::fp16) autocast_ = at::kHalf;
  if (precision == Precision::fp64) weights_ = at::kDouble;
  scales_ = precision == Precision::fp16 || precision == Precision::scaled;
  if (autocast_ != at::kFloat) autocast(); // refused now, not in the first step
  if (scales_) state_ = at::zeros({2});
}

std::unique_ptr<libtorch::AutocastScope> StepPrecision::autocast() const {
  if (autocast_ == at::kFloat) return nullptr;
  return std::make_unique<libtorch::AutocastScope>(device_, autocast_);
}

at::ScalarType StepPrecision::weights_type() const {
  return weights_;
}

void StepPrecision::unscale(
    const std::vector<model::NamedTensor>& parameters) const {
  if (!scales_) return;
  const at::NoGradGuard no_grad;
  for (const model::NamedTensor& each : parameters)
    if (each.tensor.grad().defined()) each.tensor.grad().mul_(scale_.inverse());
}

std::vector<model::NamedTensor> StepPrecision::state() const {
  if (!scales_) return {};
  at::Tensor now = state_;
  now[0] = scale_.scale();
  now[1] = scale_.good_steps();
  return {{"state", state_}};
}

void StepPrecision::take_state() {
  if (!scales_) return;
  scale_.restore(
      state_[0].item<float>(),
      static_cast<std::int32_t>(state_[1].item<float>()));
}

} // namespace temper::train

#include "temper/train/optimizer/average.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "temper/kernels/update.h"
#include "temper/train/optimizer/retry_update.h"

namespace temper::train {

Average::Average(
    double decay,
    const std::vector<model::NamedTensor>& parameters)
    : decay_(decay) {
  if (decay <= 0) return;
  const at::NoGradGuard no_grad;
  parameters_ = parameters;
  for (const model::NamedTensor& each : parameters)
    tensors_.push_back({each.name, each.tensor.detach().clone(), false});
}

bool Average::is_laid_out(std::size_t i) const {
  const at::Tensor& parameter = parameters_[i].tensor;
  return is_plain(parameter) && is_laid_out_as(tensors_[i].tensor, parameter);
}

void Average::make_ready(const CommitGate& gate) {
  runs_.clear();
  others_.clear();
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (gate.is_certain() && is_laid_out(i))
      runs_.add(i, tensors_[i].tensor);
    else
      others_.push_back(i);
}

void Average::follow(std::int64_t update, const CommitGate& gate) {
  const at::NoGradGuard no_grad;
  // A short memory at first: an average of few values.
  const double early =
      (1 + static_cast<double>(update)) / (10 + static_cast<double>(update));
  const double by = 1 - std::min(decay_, early);
  for (const std::size_t i : others_) {
    at::Tensor& average = tensors_[i].tensor;
    roll_forward(
        true,
        [&] {
          average =
              gate.approached(average, parameters_[i].tensor.detach(), by);
        },
        [] {});
  }
  runs_.each([&](const ElementSpans::Span& run) {
    kernels::approach(
        static_cast<float>(by),
        run.count,
        parameters_[run.tensor].tensor.data_ptr<float>() + run.begin,
        tensors_[run.tensor].tensor.data_ptr<float>() + run.begin);
  });
}

void Average::swap() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    at::Tensor& average = tensors_[i].tensor;
    const at::Tensor parameter = parameters_[i].tensor.detach();
    if (is_laid_out(i)) {
      auto* from = average.data_ptr<float>();
      std::swap_ranges(
          from, from + average.numel(), parameter.data_ptr<float>());
      continue;
    }
    at::Tensor kept;
    roll_forward(
        i > 0,
        [&] {
          if (!kept.defined()) kept = parameter.clone();
          parameter.copy_(average);
        },
        [] {});
    average = kept;
  }
}

} // namespace temper::train

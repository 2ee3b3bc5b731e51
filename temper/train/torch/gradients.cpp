#include "temper/train/torch/gradients.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <numeric>

#include "temper/kernels/gradient.h"
#include "temper/train/optimizer/element_spans.h"
#include "temper/train/task/predictions.h"

namespace temper::train {
namespace {

constexpr double kTiny = 1e-6; // PyTorch's, against division by zero

// The gradients that there are: those that kernels go over in one pass, and
// all others (of devices, types and layouts that are LibTorch's business).
class Gradients {
 public:
  explicit Gradients(const std::vector<model::NamedTensor>& parameters) {
    for (const model::NamedTensor& each : parameters) {
      const at::Tensor& gradient = each.tensor.grad();
      if (!gradient.defined()) continue;
      if (!is_plain(gradient)) {
        others_.push_back(gradient);
        continue;
      }
      spans_.add(plain_.size(), gradient);
      plain_.push_back(gradient.data_ptr<float>());
    }
  }

  const std::vector<at::Tensor>& others() const {
    return others_;
  }

  // The same bits whatever the threads and the processor's vectors.
  double plain_squares() const {
    std::vector<double> sums(spans_.size());
    spans_.each([&](const ElementSpans::Span& span) {
      sums[span.number] =
          kernels::sum_of_squares(span.count, plain_[span.tensor] + span.begin);
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  double other_squares() const {
    double sum = 0;
    for (const at::Tensor& gradient : others_) {
      const auto norm = gradient.norm(2).item<double>();
      sum += norm * norm;
    }
    return sum;
  }

  void clip_plain(const kernels::ClipRule& rule) const {
    spans_.each([&](const ElementSpans::Span& span) {
      kernels::clip(rule, span.count, plain_[span.tensor] + span.begin);
    });
  }

 private:
  ElementSpans spans_;
  std::vector<float*> plain_;
  std::vector<at::Tensor> others_;
};

} // namespace

void forget_gradients(const std::vector<model::NamedTensor>& parameters) {
  for (const model::NamedTensor& each : parameters)
    if (each.tensor.grad().defined()) each.tensor.mutable_grad().reset();
}

at::Tensor gradient_norm(
    const std::vector<model::NamedTensor>& parameters,
    const at::Device& device) {
  const at::NoGradGuard no_grad;
  const Gradients all(parameters);
  const auto options = at::TensorOptions().dtype(sum_type(device));
  if (device.is_cpu())
    return at::scalar_tensor(
        std::sqrt(all.plain_squares() + all.other_squares()), options);
  std::vector<at::Tensor> norms;
  for (const at::Tensor& gradient : all.others())
    norms.push_back(gradient.norm(2));
  if (norms.empty()) return at::zeros({}, options.device(device));
  return at::stack(norms).to(sum_type(device)).norm(2);
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
  if (!factor_there.defined() && factor >= 1 && options.clip_value <= 0) return;
  const Gradients all(parameters);
  for (const at::Tensor& gradient : all.others()) {
    if (factor_there.defined()) gradient.mul_(factor_there);
    if (factor < 1) gradient.mul_(factor);
    if (options.clip_value > 0)
      gradient.clamp_(-options.clip_value, options.clip_value);
  }
  all.clip_plain(
      {factor < 1 ? static_cast<float>(factor) : 1.0F,
       static_cast<float>(options.clip_value)});
}

} // namespace temper::train

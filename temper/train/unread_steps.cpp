#include "temper/train/unread_steps.h"

#include <torch/torch.h>

#include <cmath>
#include <utility>

#include "temper/base/text.h"

namespace temper::train {

void refuse_not_finite(
    const std::string& what,
    double value,
    const StepOrder& order,
    std::int64_t latest) {
  const bool late = latest != order.update;
  throw NotFinite(
      cat("[train] ",
          what,
          " became ",
          std::isnan(value) ? "nan" : cat(value), // its sign says nothing
          " in update ",
          order.update + 1,
          " (epoch ",
          order.epoch + 1,
          late ? cat("; seen after update ", latest + 1) : "",
          "): no weight was changed by it",
          late ? " or since" : "",
          "."),
      "Lower optimizer.lr, clip the gradient with train.clip = 1, or warm up "
      "with schedule.warmup.");
}

Gate UnreadSteps::gate(
    const at::Tensor& loss,
    const at::Tensor& norm,
    const StepOrder& order) {
  if (norm.device().is_cpu()) {
    const auto length = norm.item<double>();
    if (!std::isfinite(length))
      refuse_not_finite("the gradient", length, order, order.update);
    return {};
  }
  const torch::NoGradGuard no_grad;
  const at::Tensor finite = at::isfinite(loss).logical_and(at::isfinite(norm));
  finite_ = finite_.defined() ? finite_.logical_and(finite) : finite;
  return Gate(finite_);
}

void UnreadSteps::add(
    const Step& step,
    const at::Tensor& loss,
    const at::Tensor& norm) {
  steps_.push_back(step);
  numbers_.add(loss);
  numbers_.add(norm);
}

void UnreadSteps::read(MetricSums& sums, StepReport& report) {
  const std::vector<double> numbers = numbers_.take();
  const std::vector<Step> steps = std::exchange(steps_, {});
  finite_ = at::Tensor();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& [order, units, samples] = steps[i];
    const double loss = numbers[2 * i];
    const double norm = numbers[2 * i + 1];
    const std::int64_t latest = steps.back().order.update;
    if (!std::isfinite(loss))
      refuse_not_finite("the loss", loss, order, latest);
    if (!std::isfinite(norm))
      refuse_not_finite("the gradient", norm, order, latest);
    sums.loss += loss;
    sums.units += units;
    sums.samples += samples;
    report = {loss / units, norm};
  }
}

} // namespace temper::train

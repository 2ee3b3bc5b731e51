#include "temper/train/torch/pending_steps.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <utility>

#include "temper/base/text.h"

namespace temper::train {
namespace {

constexpr std::size_t kMostSteps =
    1001; // as many as PendingLosses has room for

std::string became(const char* what, double value) {
  // The sign of nan says nothing.
  return cat(what, " became ", std::isnan(value) ? "nan" : cat(value));
}

} // namespace

StepVerdict
judge(double loss_sum, double norm, double units, const StepOrder& order) {
  if (!std::isfinite(loss_sum)) return {became("the loss", loss_sum)};
  if (!std::isfinite(norm)) return {became("the gradient", norm)};
  if (loss_sum / units > order.loss_limit)
    return {
        cat("the loss jumped to ",
            loss_sum / units,
            ", above the limit of ",
            order.loss_limit,
            " that guard.loss_spike draws,")};
  return {};
}

void refuse(
    const StepVerdict& verdict,
    const StepOrder& order,
    std::int64_t latest,
    std::vector<std::int64_t> samples) {
  const bool late = latest != order.update;
  NotFinite bad(
      cat("[train] ",
          verdict.what,
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
  bad.update = order.update;
  bad.samples = std::move(samples);
  throw bad;
}

PendingSteps::PendingSteps() {
  steps_.reserve(kMostSteps);
}

UnreadStep PendingSteps::asked(UnreadStep step) const {
  const at::NoGradGuard no_grad;
  step.loss = step.loss.detach().reshape({});
  step.norm = step.norm.detach().reshape({});
  step.finite = at::isfinite(step.loss).logical_and(at::isfinite(step.norm));
  if (finite_.defined()) step.finite = finite_.logical_and(step.finite);
  return step;
}

void PendingSteps::add(UnreadStep step) {
  finite_ = step.finite;
  numbers_.add(step.loss);
  numbers_.add(step.norm);
  steps_.push_back(std::move(step));
}

std::optional<PendingSteps::Bad> PendingSteps::read(
    MetricSums& sums,
    StepReport& report) {
  const std::vector<double> numbers = numbers_.take();
  finite_ = at::Tensor();
  std::optional<Bad> bad;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    UnreadStep& step = steps_[i];
    const double loss = numbers[2 * i];
    const double norm = numbers[2 * i + 1];
    const StepVerdict verdict = judge(loss, norm, step.units, step.order);
    if (!verdict.what.empty()) {
      const std::int64_t latest = steps_.back().order.update;
      bad = Bad{std::move(step), verdict, latest};
      break;
    }
    sums.loss += loss;
    sums.units += step.units;
    sums.samples += step.count;
    report = {loss / step.units, norm};
  }
  steps_.clear();
  return bad;
}

} // namespace temper::train

#include "temper/train/predictions.h"

#include <torch/torch.h>

#include <algorithm>

namespace temper::train {

at::ScalarType sum_type(const at::Device& device) {
  return device.is_mps() ? at::kFloat : at::kDouble;
}

void PredictionCounts::add(
    const at::Tensor& logits,
    const at::Tensor& labels,
    int top,
    bool confusion) {
  const torch::NoGradGuard no_grad;
  // Classes last, a row a prediction.
  const at::Tensor scores = (logits.dim() > 2 ? logits.movedim(1, -1) : logits)
                                .detach()
                                .reshape({-1, logits.size(1)});
  const at::Tensor truth = labels.reshape({-1});
  const std::int64_t classes = scores.size(1);
  const at::Tensor of_truth = scores.gather(1, truth.unsqueeze(1));
  const at::Tensor number = at::arange(classes, truth.options()).unsqueeze(0);
  const at::Tensor higher = scores.gt(of_truth).logical_or_(
      scores.eq(of_truth).logical_and_(number.lt(truth.unsqueeze(1))));
  const at::Tensor finite = at::isfinite(scores).all(1);
  const at::Tensor rank = higher.sum(1, false, at::kInt);
  const auto right = [&](std::int64_t k) {
    return rank.lt(std::min(k, classes)).logical_and_(finite).sum(at::kInt);
  };
  const at::Tensor counts = at::stack({right(1), right(std::max(top, 1))});
  correct_ = correct_.defined() ? correct_.add_(counts) : counts;
  predictions_ += truth.size(0);
  top_ = top;
  if (!confusion) return;
  classes_ = static_cast<int>(classes);
  if (!confusion_.defined())
    confusion_ =
        at::zeros({classes * classes}, scores.options().dtype(at::kInt));
  const at::Tensor cell = truth.mul(classes).add_(scores.argmax(1));
  confusion_.index_add_(
      0, cell, at::ones({cell.size(0)}, confusion_.options()));
}

void PredictionCounts::take(MetricSums& sums) {
  if (correct_.defined()) {
    // Copied as they are: a copy from MPS that converts can harm its source.
    const at::Tensor read = correct_.to(at::kCPU).to(at::kLong);
    sums.correct = read[0].item<std::int64_t>();
    sums.correct_top = read[1].item<std::int64_t>();
    sums.predictions = predictions_;
    sums.top = top_;
  }
  if (confusion_.defined()) {
    const at::Tensor read = confusion_.to(at::kCPU).to(at::kLong);
    const auto* cells = read.data_ptr<std::int64_t>();
    sums.classes = classes_;
    sums.confusion.assign(cells, cells + read.numel());
  }
  *this = {};
}

void ErrorSums::add(const at::Tensor& output, const at::Tensor& target) {
  const torch::NoGradGuard no_grad;
  const auto type = sum_type(output.device());
  const at::Tensor truth = target.to(type);
  const at::Tensor error = output.detach().to(type).sub(truth);
  const at::Tensor sums = at::stack(
      {error.abs().sum(),
       error.mul(error).sum(),
       truth.sum(),
       truth.mul(truth).sum()});
  sums_ = sums_.defined() ? sums_.add_(sums) : sums;
  numbers_ += target.numel();
}

void ErrorSums::take(MetricSums& sums) {
  if (sums_.defined()) {
    const at::Tensor read = sums_.to(at::kCPU).to(at::kDouble);
    sums.absolute_error = read[0].item<double>();
    sums.squared_error = read[1].item<double>();
    sums.target_sum = read[2].item<double>();
    sums.target_squares = read[3].item<double>();
    sums.numbers = numbers_;
  }
  *this = {};
}

} // namespace temper::train

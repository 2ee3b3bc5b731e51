#include "temper/train/task/predictions.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>

#include "temper/kernels/sequence/ranks.h"

namespace temper::train {

at::ScalarType sum_type(const at::Device& device) {
  return device.is_mps() ? at::kFloat : at::kDouble;
}

namespace {

// Counted by a kernel where it can read the numbers as they lie.
std::optional<kernels::RightRows> counted_here(
    const at::Tensor& scores,
    const at::Tensor& truth,
    std::int64_t top) {
  if (!scores.device().is_cpu() || scores.scalar_type() != at::kFloat ||
      !truth.device().is_cpu() || truth.scalar_type() != at::kLong ||
      !truth.is_contiguous() || truth.size(0) != scores.size(0) ||
      (scores.size(1) > 1 && scores.stride(1) != 1))
    return std::nullopt;
  kernels::RankedRows work;
  work.rows = scores.size(0);
  work.classes = scores.size(1);
  work.scores = scores.data_ptr<float>();
  work.stride = scores.stride(0);
  work.labels = truth.data_ptr<std::int64_t>();
  work.top = std::min(std::max<std::int64_t>(top, 1), work.classes);
  const kernels::RightRows right = kernels::count_right(work);
  if (!right.labels_in_range) return std::nullopt;
  return right;
}

// Two counts: best, among the best `top`.
at::Tensor
counted_there(const at::Tensor& scores, const at::Tensor& truth, int top) {
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
  return at::stack({right(1), right(std::max(top, 1))});
}

} // namespace

void PredictionCounts::add(
    const at::Tensor& logits,
    const at::Tensor& labels,
    int top,
    bool confusion) {
  const at::NoGradGuard no_grad;
  // Classes last, a row a prediction.
  const at::Tensor scores = (logits.dim() > 2 ? logits.movedim(1, -1) : logits)
                                .detach()
                                .reshape({-1, logits.size(1)});
  const at::Tensor truth = labels.reshape({-1});
  const std::int64_t classes = scores.size(1);
  PredictionCounts next = *this;
  if (const auto right = counted_here(scores, truth, top)) {
    next.add_counted(right->best, right->among_top, truth.size(0), top);
  } else {
    const at::Tensor counts = counted_there(scores, truth, top);
    next.correct_ = correct_.defined() ? correct_.add(counts) : counts;
    next.add_counted(0, 0, truth.size(0), top);
  }
  if (confusion) {
    next.classes_ = static_cast<int>(classes);
    const at::Tensor cell = truth.mul(classes).add_(scores.argmax(1));
    const auto type = scores.options().dtype(at::kInt);
    const at::Tensor before = confusion_.defined()
        ? confusion_
        : at::zeros({classes * classes}, type);
    next.confusion_ = before.index_add(0, cell, at::ones({cell.size(0)}, type));
  }
  *this = next;
}

void PredictionCounts::add_counted(
    std::int64_t best,
    std::int64_t among_top,
    std::int64_t predictions,
    int top) {
  correct_here_[0] += best;
  correct_here_[1] += among_top;
  predictions_ += predictions;
  top_ = top;
}

void PredictionCounts::read(MetricSums& sums) const {
  if (predictions_ > 0) {
    sums.correct = correct_here_[0];
    sums.correct_top = correct_here_[1];
    sums.predictions = predictions_;
    sums.top = top_;
  }
  if (correct_.defined()) {
    // Copied as they are: a copy from MPS that converts can harm its source.
    const at::Tensor read = correct_.to(at::kCPU);
    sums.correct += read.data_ptr<std::int32_t>()[0];
    sums.correct_top += read.data_ptr<std::int32_t>()[1];
  }
  if (confusion_.defined()) {
    const at::Tensor read = confusion_.to(at::kCPU);
    const auto* cells = read.data_ptr<std::int32_t>();
    sums.classes = classes_;
    sums.confusion.assign(cells, cells + read.numel());
  }
}

void ErrorSums::add(const at::Tensor& output, const at::Tensor& target) {
  const at::NoGradGuard no_grad;
  const auto type = sum_type(output.device());
  const at::Tensor truth = target.to(type);
  const at::Tensor error = output.detach().to(type).sub(truth);
  const at::Tensor sums = at::stack(
      {error.abs().sum(),
       error.mul(error).sum(),
       truth.sum(),
       truth.mul(truth).sum()});
  sums_ = sums_.defined() ? sums_.add(sums) : sums;
  numbers_ += target.numel();
}

void ErrorSums::read(MetricSums& sums) const {
  if (sums_.defined()) {
    const at::Tensor read = sums_.to(at::kCPU).to(at::kDouble);
    const auto* each = read.data_ptr<double>();
    sums.absolute_error = each[0];
    sums.squared_error = each[1];
    sums.target_sum = each[2];
    sums.target_squares = each[3];
    sums.numbers = numbers_;
  }
}

} // namespace temper::train

#include "temper/train/task/task.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <utility>

#include "temper/base/error.h"

namespace temper::train {

Task::Task(std::shared_ptr<model::Module> model) : model_(std::move(model)) {
  check(model_ != nullptr, "a task has a model");
}

std::optional<double> Task::direct_step(const TensorBatch&, double) {
  return std::nullopt;
}

void Task::moves_along(const std::string& name, at::Tensor& member) {
  companions_[name] = &member;
}

void Task::to(const at::Device& device) {
  for (const auto& [name, member] : companions_)
    if (member->defined()) *member = member->to(device);
}

void Task::add(
    const std::string& metric,
    const at::Tensor& sum,
    double weight) {
  const at::NoGradGuard no_grad;
  const auto found = sums_.own.find(metric);
  const bool first = found == sums_.own.end();
  at::Tensor total =
      first ? sum.detach().clone() : found->second.first.add(sum.detach());
  const double before = first ? 0 : found->second.second;
  sums_.own[metric] = {std::move(total), before + weight};
}

MetricSums Task::take_sums() {
  MetricSums sums = sums_.read();
  sums_ = {};
  return sums;
}

MetricSums TaskSums::read() const {
  MetricSums sums;
  counts.read(sums);
  errors.read(sums);
  for (const auto& [name, each] : own)
    sums.own[name] = {each.first.to(at::kCPU).item().to<double>(), each.second};
  return sums;
}

} // namespace temper::train

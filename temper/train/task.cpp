#include "temper/train/task.h"

#include <torch/torch.h>

#include <utility>

#include "temper/base/error.h"

namespace temper::train {

Task::Task(std::shared_ptr<model::Module> model) : model_(std::move(model)) {
  check(model_ != nullptr, "a task has a model");
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
  const torch::NoGradGuard no_grad;
  auto& [total, weights] = own_[metric];
  total = total.defined() ? total.add(sum.detach()) : sum.detach().clone();
  weights += weight;
}

MetricSums Task::take_sums() {
  MetricSums sums;
  for (const auto& [name, own] : own_)
    sums.own[name] = {own.first.to(at::kCPU).item().to<double>(), own.second};
  own_.clear();
  return sums;
}

} // namespace temper::train

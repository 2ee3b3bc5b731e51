#include "temper/train/torch/evaluation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "temper/train/task/predictions.h"
#include "temper/train/torch/step_errors.h"

namespace temper::train {

Evaluation::Evaluation(EvaluationParts parts) : parts_(parts) {}

void Evaluation::add(const data::HostBatch& batch) {
  const TaskSums before = parts_.task.sums();
  try {
    const at::NoGradGuard no_grad;
    const TensorBatch host = on_host(batch, parts_.plan);
    const double units = parts_.task.units(host);
    at::Tensor loss = loss_of(parts_.mover.moved(host));
    if (parts_.plan.device.is_cpu()) {
      sums_.loss += loss.item<double>();
    } else {
      if (unread_.full()) read();
      unread_.add(std::move(loss));
    }
    sums_.units += units;
    sums_.samples += batch.size;
  } catch (...) {
    parts_.task.set_sums(before);
    rethrow_of_memory(batch.size);
  }
}

MetricSums Evaluation::take() {
  read();
  sums_.add(parts_.task.take_sums());
  return std::exchange(sums_, {});
}

at::Tensor Evaluation::loss_of(const TensorBatch& whole) const {
  Task& task = parts_.task;
  const at::Device device = parts_.plan.device;
  const std::int64_t most =
      slice_ > 0 && !task.needs_whole_batch() ? slice_ : whole.samples;
  at::Tensor total;
  for (std::int64_t begin = 0; begin < whole.samples; begin += most) {
    const std::int64_t count = std::min(most, whole.samples - begin);
    const TensorBatch part =
        count == whole.samples ? whole : slice(whole, begin, count);
    const StepContext context{"eval_step", task, part, whole.samples, device};
    try {
      const auto autocast = parts_.precision.autocast();
      const at::Tensor loss = task.eval_step(part);
      check_loss(loss, false, context);
      const at::Tensor sum = loss.detach().reshape({}).to(sum_type(device));
      total = total.defined() ? total.add(sum) : sum;
    } catch (...) {
      rethrow_of_step(context);
    }
  }
  return total;
}

void Evaluation::read() {
  for (const double loss : unread_.take())
    sums_.loss += loss;
}

} // namespace temper::train

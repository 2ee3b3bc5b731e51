// The cost of steps that can be taken back, and what an update costs with
// the kernels that cannot fail half way against LibTorch's operators.
//
//   make bench-transaction    or: temper_bench_transaction [ROUNDS]
//
// One thread, CPU time of the process. Variants take turns; what counts is the
// median over the rounds. The price of a transaction is measured by itself,
// many times over, and held against the step: a difference of two steps would
// drown in their noise.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <sys/resource.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "temper/base/statistics.h"
#include "temper/model/executor/executor.h"
#include "temper/model/zoo/zoo.h"
#include "temper/train/optimizer/average.h"
#include "temper/train/optimizer/buffer_backup.h"
#include "temper/train/optimizer/optimizer.h"
#include "temper/train/task/tasks.h"
#include "temper/train/torch/gradients.h"
#include "temper/train/torch/torch_engine.h"

namespace {

using namespace temper;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
        1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_of(const std::function<void()>& work, int times) {
  const double begin = cpu_seconds();
  for (int i = 0; i < times; ++i)
    work();
  return (cpu_seconds() - begin) / times;
}

model::ZooOptions options_of(const std::string& name) {
  model::ZooOptions options;
  options.name = name;
  options.image_size = 32;
  options.channels = 3;
  options.classes = 10;
  if (name == "resnet18") options.stem = "cifar";
  if (name == "resnet18") options.width = 0.25;
  return options;
}

void transaction(const std::string& name, int rounds) {
  const auto module =
      std::make_shared<model::GraphModule>(model::build(options_of(name)));
  train::TorchEngineParts parts;
  data::SourceInfo info;
  info.target = data::Target::label;
  parts.task = train::make_task(parts.config, info, module);
  parts.classes = 10;
  const auto engine = train::make_torch_engine(std::move(parts));
  const at::Tensor inputs = at::randn({32, 3, 32, 32});
  const at::Tensor labels = at::randint(10, {32}, at::kLong);
  const at::Tensor indices = at::arange(32, at::kLong);
  data::HostBatch batch;
  batch.size = 32;
  batch.shape = {3, 32, 32};
  batch.inputs = inputs.data_ptr();
  batch.labels = labels.data_ptr<std::int64_t>();
  batch.indices = indices.data_ptr<std::int64_t>();
  std::int64_t update = 0;
  const auto step = [&] {
    train::StepOrder order;
    order.update = update++;
    order.lr = 1e-3;
    engine->step(batch, order);
  };
  train::BufferBackup undo(*module);
  const auto keep = [&] { undo.begin({}); };
  const auto capture = [&] { engine->capture(); };
  step();
  keep();
  std::vector<double> steps;
  std::vector<double> keeps;
  std::vector<double> captures;
  for (int i = 0; i < rounds; ++i) {
    steps.push_back(seconds_of(step, 3));
    keeps.push_back(seconds_of(keep, 200));
    captures.push_back(seconds_of(capture, 1));
  }
  const double each = median(steps);
  const config::Guard guard;
  const auto apart = static_cast<double>(guard.rollback_every);
  std::printf(
      "%-10s %9.3f ms a step, %3zu buffers kept aside %7.2f us = %.3f %%, "
      "a good state every %.0f steps %.3f %%\n",
      name.c_str(),
      1e3 * each,
      undo.tensors(),
      1e6 * median(keeps),
      100 * median(keeps) / each,
      apart,
      100 * median(captures) / (apart * each));
  std::fflush(stdout);
}

// The work of an update beside moving parameters, on MobileNetV2's 158 tensors:
// ours in one pass each, and LibTorch's operators tensor by tensor.
void around_update(int rounds) {
  const auto module = std::make_shared<model::GraphModule>(
      model::build(options_of("mobilenet_v2")));
  const auto parameters = module->parameters();
  for (const auto& each : parameters)
    at::Tensor(each.tensor).mutable_grad() = at::randn_like(each.tensor);
  config::Train options;
  options.clip = 1e-3;
  const at::Tensor norm = train::gradient_norm(parameters, at::kCPU);
  train::Average average(0.99, parameters);
  train::BufferBackup undo(*module);
  struct Part {
    const char* what;
    std::function<void()> ours;
    std::function<void()> theirs;
  };
  const Part parts[] = {
      {"gradient norm",
       [&] { train::gradient_norm(parameters, at::kCPU); },
       [&] {
         std::vector<at::Tensor> norms;
         for (const auto& each : parameters)
           norms.push_back(each.tensor.grad().norm(2));
         at::stack(norms).norm(2).item<float>();
       }},
      {"clipping",
       [&] { train::clip_gradients(parameters, options, norm); },
       [&] {
         for (const auto& each : parameters)
           each.tensor.grad().mul_(0.999999);
       }},
      {"averaged weights",
       [&] {
         average.make_ready({});
         average.follow(1, {});
       },
       [&] {
         const at::NoGradGuard no_grad;
         for (std::size_t i = 0; i < parameters.size(); ++i)
           average.tensors()[i].tensor.lerp_(parameters[i].tensor, 0.1);
       }},
      {"buffers aside", [&] { undo.begin({}); }, {}},
      {"forgotten gradients",
       [&] {
         train::forget_gradients(parameters);
         for (const auto& each : parameters)
           at::Tensor(each.tensor).mutable_grad() = at::empty_like(each.tensor);
       },
       [&] {
         for (const auto& each : parameters)
           each.tensor.grad().zero_();
       }}};
  for (const Part& part : parts) {
    std::vector<double> kernels;
    std::vector<double> operators;
    for (int i = 0; i < rounds; ++i) {
      kernels.push_back(seconds_of(part.ours, 10));
      if (part.theirs) operators.push_back(seconds_of(part.theirs, 10));
    }
    std::printf("%-20s %8.1f us", part.what, 1e6 * median(kernels));
    if (part.theirs)
      std::printf(" %9.1f us LibTorch's operators", 1e6 * median(operators));
    std::printf("\n");
    std::fflush(stdout);
  }
}

// Our kernels and LibTorch's own optimiser, taking turns.
void update(const std::string& rule, int rounds) {
  model::ZooOptions options = options_of("resnet18");
  options.width = 1;
  const auto module =
      std::make_shared<model::GraphModule>(model::build(options));
  const auto parameters = module->parameters();
  config::Optimizer asked;
  asked.name = rule;
  const auto fused = train::make_optimizer(asked, parameters);
  // LibTorch's own, on the same tensors.
  std::vector<at::Tensor> list;
  for (const auto& each : parameters) {
    list.push_back(each.tensor);
    at::Tensor(each.tensor).mutable_grad() = at::randn_like(each.tensor);
  }
  std::unique_ptr<torch::optim::Optimizer> theirs;
  if (rule == "sgd")
    theirs = std::make_unique<torch::optim::SGD>(
        list, torch::optim::SGDOptions(1e-9).momentum(0.9).weight_decay(0.01));
  else
    theirs = std::make_unique<torch::optim::AdamW>(
        list, torch::optim::AdamWOptions(1e-9).weight_decay(0.01));
  std::int64_t count = 0;
  const auto ours = [&] { fused->step(1e-9, count++, {}); };
  const auto stock = [&] { theirs->step(); };
  ours();
  stock();
  std::vector<double> kernels;
  std::vector<double> operators;
  for (int i = 0; i < rounds; ++i) {
    if (i % 2 == 0) kernels.push_back(seconds_of(ours, 3));
    operators.push_back(seconds_of(stock, 3));
    if (i % 2 != 0) kernels.push_back(seconds_of(ours, 3));
  }
  std::printf(
      "%-16s %10.3f ms kernels %9.3f ms LibTorch's operators    x %.2f\n",
      rule.c_str(),
      1e3 * median(kernels),
      1e3 * median(operators),
      median(operators) / median(kernels));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  at::manual_seed(0);
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 21;
  std::printf(
      "CPU time on one thread, median of %d rounds\n\n"
      "the transaction: batch 32, 3 x 32 x 32, adamw\n",
      rounds);
  for (const char* name : {"cnn", "resnet18", "mlp"})
    transaction(name, rounds);
  std::printf("\nthe update: ResNet-18, 11.2 M parameters\n");
  for (const char* rule : {"sgd", "adamw"})
    update(rule, rounds);
  std::printf("\naround it: MobileNetV2, 158 tensors\n");
  around_update(rounds);
}

// Small models, batches and orders for the engine's tests.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "temper/config/choices.h"
#include "temper/model/executor/executor.h"
#include "temper/model/module/tensors.h"
#include "temper/model/zoo/zoo.h"
#include "temper/train/task/tasks.h"
#include "temper/train/torch/torch_engine.h"

namespace temper::train {

// A batch as a loader gives it, and the memory it lies in.
struct Samples {
  at::Tensor inputs;
  at::Tensor labels; // or tokens
  at::Tensor numbers;
  at::Tensor indices;
  data::HostBatch batch;

  Samples(at::Tensor from, at::Tensor whole_labels, at::Tensor targets = {})
      : inputs(std::move(from)),
        labels(std::move(whole_labels)),
        numbers(std::move(targets)) {
    const auto count = inputs.size(0);
    indices = at::arange(count, at::kLong);
    batch.size = static_cast<int>(count);
    batch.shape = inputs.sizes().slice(1).vec();
    batch.element = inputs.scalar_type() == at::kLong ? data::Element::i64
        : inputs.scalar_type() == at::kByte           ? data::Element::u8
                                                      : data::Element::f32;
    batch.inputs = inputs.data_ptr();
    if (labels.defined()) batch.labels = labels.data_ptr<std::int64_t>();
    if (numbers.defined()) batch.target_numbers = numbers.data_ptr<float>();
    batch.indices = indices.data_ptr<std::int64_t>();
  }
};

inline Samples rows(int count, int features = 6, int classes = 3) {
  at::manual_seed(5);
  const at::Tensor inputs = at::randn({count, features});
  return {inputs, at::randint(classes, {count}, at::kLong)};
}

inline Samples images(int count, int channels, int size, int classes = 3) {
  at::manual_seed(6);
  const at::Tensor inputs = at::randn({count, channels, size, size});
  return {inputs, at::randint(classes, {count}, at::kLong)};
}

// What an engine is made of.
struct Sample {
  config::Config config;
  model::ZooOptions zoo;
  data::SourceInfo info;
  BatchTransfer plan;
  std::int64_t classes = 3;
  config::Precision precision = config::Precision::fp32;
  bool channels_last = false;
  bool fused = false;

  std::shared_ptr<model::GraphModule> module() const {
    model::ExecutorOptions options;
    options.fuse = fused;
    options.norm_group = config.model.bn_group;
    return std::make_shared<model::GraphModule>(
        model::build(zoo), std::move(options));
  }
  std::unique_ptr<Engine> engine(std::unique_ptr<Task> task) const {
    TorchEngineParts parts;
    parts.config = config;
    parts.model_name = zoo.name;
    parts.task = std::move(task);
    parts.batch = plan;
    parts.classes = classes;
    parts.precision = precision;
    parts.channels_last = channels_last;
    return make_torch_engine(std::move(parts));
  }
  std::unique_ptr<Engine> engine() const {
    return engine(make_task(
        config,
        info,
        module(),
        {},
        fused ? config::Kernels::fused : config::Kernels::stock));
  }
};

inline config::Config sgd() {
  config::Config config;
  config.optimizer.name = "sgd";
  config.optimizer.weight_decay = 0;
  return config;
}

inline config::Config plain_sgd() {
  config::Config config = sgd();
  config.optimizer.momentum = 0;
  return config;
}

// A table of 6 numbers with 3 classes.
inline Sample table(const config::Config& config, double dropout = 0) {
  Sample made;
  made.config = config;
  made.zoo.name = "mlp";
  made.zoo.image_size = 1;
  made.zoo.channels = 6;
  made.zoo.classes = 3;
  made.zoo.widths = {8};
  made.zoo.dropout = dropout;
  made.info.target = data::Target::label;
  made.plan.images = false;
  return made;
}

inline Sample pictures(const config::Config& config, const std::string& name) {
  Sample made;
  made.config = config;
  made.zoo.name = name;
  made.zoo.image_size = 8;
  made.zoo.channels = 3;
  made.zoo.classes = 3;
  made.zoo.width = 0.125;
  if (name == "cnn")
    made.zoo.dropout = 0;
  else
    made.zoo.stem = "cifar";
  return made;
}

inline StepOrder
order(std::int64_t update, int micro_batch = 0, double lr = 0.1) {
  StepOrder made;
  made.update = update;
  made.lr = lr;
  made.micro_batch = micro_batch;
  return made;
}

inline StepOrder reported(StepOrder made) {
  made.report = true;
  return made;
}

// A train_step written for one test.
class OwnTask : public Task {
 public:
  using Step = std::function<at::Tensor(Task&, const TensorBatch&)>;
  OwnTask(std::shared_ptr<model::Module> model, Step step)
      : Task(std::move(model)), step_(std::move(step)) {}

  at::Tensor train_step(const TensorBatch& batch) override {
    return step_(*this, batch);
  }

 private:
  Step step_;
};

inline double distance(const graph::Weights& a, const graph::Weights& b) {
  double squares = 0;
  for (const auto& [name, tensor] : a) {
    if (tensor.dtype != graph::DType::kFloat32) continue;
    const auto* left = reinterpret_cast<const float*>(tensor.bytes.get());
    const auto* right = reinterpret_cast<const float*>(b.at(name).bytes.get());
    for (std::size_t i = 0; i < tensor.byte_count / sizeof(float); ++i)
      squares += std::pow(double{left[i]} - double{right[i]}, 2);
  }
  return std::sqrt(squares);
}

inline bool same_bits(const graph::Weights& a, const graph::Weights& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a)
    if (std::memcmp(
            tensor.bytes.get(), b.at(name).bytes.get(), tensor.byte_count) != 0)
      return false;
  return true;
}

} // namespace temper::train

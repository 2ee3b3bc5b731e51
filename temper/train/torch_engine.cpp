#include "temper/train/torch_engine.h"

#include <torch/torch.h>

#include <cmath>
#include <utility>

#include "temper/base/hash.h"
#include "temper/base/text.h"
#include "temper/model/tensors.h"
#include "temper/train/average.h"
#include "temper/train/engine_state.h"
#include "temper/train/gradients.h"
#include "temper/train/optimizer.h"
#include "temper/train/precision.h"
#include "temper/train/predictions.h"
#include "temper/train/step_errors.h"
#include "temper/train/unread_steps.h"

namespace temper::train {
namespace {

using model::NamedTensor;

// Dropout draws from LibTorch's generators. Seeding them anew for every slice
// makes its numbers a function of (seed, update, slice): a resumed run draws
// the same, and there is no generator to save.
void seed_generators(std::uint64_t seed, std::int64_t update, int part) {
  Hasher mixed;
  mixed.add(seed);
  mixed.add(static_cast<std::uint64_t>(update));
  mixed.add(static_cast<std::uint64_t>(part));
  torch::manual_seed(mixed.value());
}

class TorchEngine final : public Engine {
 public:
  explicit TorchEngine(TorchEngineParts parts)
      : parts_(std::move(parts)),
        config_(parts_.config),
        task_(*parts_.task),
        device_(parts_.batch.device),
        precision_(parts_.precision, device_),
        mover_(parts_.batch, precision_.weights_type()),
        parameters_(moved_parameters()),
        optimizer_(
            make_optimizer(config_.optimizer, parameters_, parts_.joined)),
        average_(config_.train.ema, parameters_) {}

  EngineFacts facts() const override {
    EngineFacts facts;
    facts.model = parts_.model_name;
    facts.task = task_.name();
    facts.loss = task_.loss_name();
    facts.optimizer = config_.optimizer.name;
    facts.device = device_.str();
    for (const NamedTensor& each : parameters_) {
      facts.parameters += each.tensor.numel();
      if (each.trainable) facts.trainable += each.tensor.numel();
    }
    if (const graph::Graph* graph = task_.model().graph())
      for (const graph::Node& node : graph->nodes)
        facts.batch_norms += contains(node.op, "batch_norm") ? 1 : 0;
    return facts;
  }

  bool step(const data::Batch& batch, const StepOrder& order) override {
    if (parts_.classes > 0) check_labels(batch, parts_.classes);
    model::Module& model = task_.model();
    if (!model.training()) model.set_training(true);
    const Batch host = prepare(batch, order.epoch);
    const double units = task_.units(host);
    const at::Tensor loss = backward(mover_.moved(host), units, order);
    precision_.unscale(parameters_);
    const at::Tensor norm = gradient_norm(parameters_, device_);
    if (precision_.scales() && overflowed(norm)) return false;
    const Gate gate = unread_.gate(loss, norm, order);
    clip_gradients(parameters_, config_.train, norm);
    optimizer_->step(order.lr, order.update, gate);
    average_.follow(order.update, gate);
    unread_.add({order, units, batch.size}, loss, norm);
    if (reads_are_free() || order.report || unread_.full()) read_steps();
    return true;
  }

  StepReport report() override {
    return report_;
  }

  MetricSums take_training_sums() override {
    read_steps();
    training_.add(task_.take_sums());
    return std::exchange(training_, {});
  }

  graph::Weights gradients() override {
    graph::Weights all;
    for (const NamedTensor& each : parameters_)
      if (each.tensor.grad().defined())
        all[each.name] = model::data_of(each.tensor.grad());
    return all;
  }

  void evaluate(const data::Batch& batch) override {
    if (parts_.classes > 0) check_labels(batch, parts_.classes);
    begin_evaluation();
    const torch::NoGradGuard no_grad;
    const Batch host = on_host(batch, parts_.batch);
    const Batch whole = mover_.moved(host);
    evaluation_.units += task_.units(host);
    evaluation_.samples += batch.size;
    const StepContext context{
        "eval_step", task_, whole, whole.samples, device_};
    try {
      const auto autocast = precision_.autocast();
      const at::Tensor loss = task_.eval_step(whole);
      check_loss(loss, false, context);
      unread_evaluation_.add(loss.to(sum_type(device_)));
    } catch (...) {
      rethrow_of_step(context);
    }
    if (reads_are_free() || unread_evaluation_.full()) read_evaluation();
  }

  MetricSums take_evaluation_sums() override {
    read_evaluation();
    evaluation_.add(task_.take_sums());
    end_evaluation();
    return std::exchange(evaluation_, {});
  }

  EngineState capture() override {
    read_steps();
    return saved(everything());
  }

  void restore(const EngineState& state) override {
    fill(everything(), state);
    precision_.take_state();
    unread_ = {};
  }

  graph::Weights weights() override {
    graph::Weights all;
    for (const NamedTensor& each : parameters_)
      all[each.name] = model::data_of(each.tensor);
    for (const NamedTensor& each : task_.model().buffers())
      all[each.name] = model::data_of(each.tensor);
    for (const NamedTensor& each : average_.tensors())
      all[each.name] = model::data_of(each.tensor);
    return all;
  }

 private:
  // Model and task were made or loaded on the CPU; the optimiser's state is
  // made beside the parameters.
  std::vector<NamedTensor> moved_parameters() {
    if (precision_.weights_type() != at::kFloat)
      task_.model().to(precision_.weights_type());
    task_.model().to(device_);
    task_.to(device_);
    task_.model().set_training(true);
    std::vector<NamedTensor> parameters = task_.model().parameters();
    if (parts_.channels_last)
      for (const NamedTensor& each : parameters)
        if (each.tensor.dim() == 4)
          at::Tensor(each.tensor)
              .set_data(each.tensor.detach().contiguous(
                  at::MemoryFormat::ChannelsLast));
    return parameters;
  }

  // Waits for the device: the next step's scale depends on it.
  bool overflowed(const at::Tensor& norm) {
    const bool is = !std::isfinite(norm.item().to<double>());
    precision_.update(is);
    return is;
  }

  bool reads_are_free() const {
    return device_.is_cpu();
  }

  Batch prepare(const data::Batch& batch, std::uint32_t epoch) const {
    MixPlan mix;
    mix.mixup = config_.train.mixup;
    mix.cutmix = config_.train.cutmix;
    if (mix.mixup == 0 && mix.cutmix == 0) return on_host(batch, parts_.batch);
    mix.label_smoothing = config_.train.label_smoothing;
    mix.classes = static_cast<int>(parts_.classes);
    mix.seed = static_cast<std::uint64_t>(config_.seed);
    return mixed(batch, parts_.batch, mix, epoch);
  }

  // The gradient of sum / units, one slice after the other; returns the sum.
  at::Tensor
  backward(const Batch& whole, double units, const StepOrder& order) {
    forget_gradients(parameters_);
    const std::int64_t most = order.micro_batch > 0 && !task_.couples_samples()
        ? order.micro_batch
        : whole.samples;
    at::Tensor total;
    int part = 0;
    for (std::int64_t begin = 0; begin < whole.samples; begin += most) {
      const std::int64_t count = std::min(most, whole.samples - begin);
      seed_generators(
          static_cast<std::uint64_t>(config_.seed), order.update, part++);
      const at::Tensor sum = backward_slice(
          count == whole.samples ? whole : slice(whole, begin, count),
          whole.samples,
          units,
          order);
      total = total.defined() ? total.add(sum) : sum;
    }
    return total;
  }

  at::Tensor backward_slice(
      const Batch& part,
      std::int64_t whole,
      double units,
      const StepOrder& order) {
    const StepContext context{"train_step", task_, part, whole, device_};
    try {
      const at::Tensor sum = [&] {
        const auto autocast = precision_.autocast();
        return task_.train_step(part);
      }();
      check_loss(sum, true, context);
      const at::Tensor loss = sum.detach().reshape({}).to(sum_type(device_));
      // An infinite loss of fp16 shows in the gradient, which is looked at.
      if (reads_are_free() && !precision_.scales() &&
          !std::isfinite(loss.item<double>()))
        refuse_not_finite("the loss", loss.item<double>(), order, order.update);
      // sum / units, whose gradient LibTorch would compute in float64.
      sum.backward(
          at::full_like(loss, precision_.scale() / units, sum.options())
              .view_as(sum));
      return loss;
    } catch (...) {
      rethrow_of_step(context);
    }
  }

  void read_steps() {
    unread_.read(training_, report_);
  }

  void read_evaluation() {
    for (const double loss : unread_evaluation_.take())
      evaluation_.loss += loss;
  }

  // Validation sees the averaged weights; training's wait beside them.
  void begin_evaluation() {
    if (evaluating_) return;
    read_steps();
    evaluating_ = true;
    // What training has counted and nobody read yet stays training's.
    training_.add(task_.take_sums());
    task_.model().set_training(false);
    average_.swap();
  }
  void end_evaluation() {
    if (!evaluating_) return;
    evaluating_ = false;
    task_.model().set_training(true);
    average_.swap();
  }

  std::vector<NamedTensor> everything() const {
    std::vector<NamedTensor> all;
    const auto add = [&](const char* what, const auto& tensors) {
      for (const NamedTensor& each : tensors)
        all.push_back({what + each.name, each.tensor, each.trainable});
    };
    add("model.", parameters_);
    add("model.", task_.model().buffers());
    add("optimizer.", optimizer_->state());
    add("ema.", average_.tensors());
    add("scaler.", precision_.state());
    return all;
  }

  TorchEngineParts parts_;
  const config::Config& config_;
  Task& task_;
  at::Device device_;
  Precision precision_;
  BatchMover mover_;
  std::vector<NamedTensor> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  Average average_;
  bool evaluating_ = false;
  UnreadSteps unread_;
  Unread unread_evaluation_;
  MetricSums training_;
  MetricSums evaluation_;
  StepReport report_;
};

} // namespace

std::unique_ptr<Engine> make_torch_engine(TorchEngineParts parts) {
  return std::make_unique<TorchEngine>(std::move(parts));
}

} // namespace temper::train

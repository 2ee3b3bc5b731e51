#include "temper/train/torch/torch_engine.h"

#include <ATen/ATen.h>

#include <cmath>
#include <exception>
#include <optional>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/graph/op/effects.h"
#include "temper/libtorch/messages.h"
#include "temper/libtorch/onednn.h"
#include "temper/libtorch/torch/device_name.h"
#include "temper/model/fused/torch_threads.h"
#include "temper/model/module/tensors.h"
#include "temper/train/optimizer/average.h"
#include "temper/train/optimizer/buffer_backup.h"
#include "temper/train/optimizer/optimizer.h"
#include "temper/train/optimizer/retry_update.h"
#include "temper/train/schedule/slices.h"
#include "temper/train/task/predictions.h"
#include "temper/train/torch/engine_state.h"
#include "temper/train/torch/evaluation.h"
#include "temper/train/torch/gradients.h"
#include "temper/train/torch/pending_steps.h"
#include "temper/train/torch/step_errors.h"
#include "temper/train/torch/step_precision.h"

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
  at::manual_seed(mixed.value());
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
        average_(config_.train.ema, parameters_),
        undo_(task_.model()),
        evaluation_({task_, precision_, mover_, parts_.batch}) {}

  EngineFacts facts() const override {
    EngineFacts facts;
    facts.model = parts_.model_name;
    facts.task = task_.name();
    facts.loss = task_.loss_name();
    facts.optimizer = config_.optimizer.name;
    facts.device = libtorch::name_of(device_);
    facts.needs_whole_batch = takes_whole_batches();
    facts.reads_late = !reads_are_free();
    facts.loss_for_any_threads = task_.any_threads();
    for (const NamedTensor& each : parameters_) {
      facts.parameters += each.tensor.numel();
      if (each.trainable) facts.trainable += each.tensor.numel();
    }
    for (const NamedTensor& each : everything())
      facts.state_bytes += each.tensor.nbytes();
    if (const graph::Graph* graph = task_.model().graph())
      for (const graph::Node& node : graph->nodes)
        facts.batch_norms += graph::is_batch_norm(node) ? 1 : 0;
    return facts;
  }

  bool step(const data::HostBatch& batch, const StepOrder& order) override {
    refuse_half_done();
    if (parts_.classes > 0) check_labels(batch, parts_.classes);
    if (looks(order)) read_steps();
    model::Module& model = task_.model();
    if (!model.training()) model.set_training(true);
    const bool committed = transact(batch, order);
    if (committed && (order.report || unread_.full())) read_steps();
    return committed;
  }

  StepReport report() override {
    return report_;
  }

  MetricSums take_training_sums() override {
    read_steps();
    training_.add(task_.take_sums());
    return std::exchange(training_, {});
  }

  MetricSums training_sums() const override {
    return training_;
  }

  graph::Weights gradients() override {
    graph::Weights all;
    for (const NamedTensor& each : parameters_)
      if (each.tensor.grad().defined())
        all[each.name] = model::data_of(each.tensor.grad());
    return all;
  }

  void evaluate(const data::HostBatch& batch) override {
    refuse_half_done();
    if (parts_.classes > 0) check_labels(batch, parts_.classes);
    begin_evaluation();
    evaluation_.add(batch);
  }

  void set_evaluation_slice(int samples) override {
    evaluation_.set_slice(samples);
  }

  MetricSums take_evaluation_sums() override {
    MetricSums sums = evaluation_.take();
    end_evaluation();
    return sums;
  }

  EngineState capture() override {
    refuse_half_done();
    read_steps();
    training_.add(task_.take_sums());
    EngineState state = saved(everything());
    state.training_sums = training_;
    return state;
  }

  void restore(const EngineState& state) override {
    fill(everything(), state);
    precision_.take_state();
    unread_ = {};
    task_.set_sums({});
    training_ = state.training_sums;
    half_done_ = false;
  }

  graph::Weights weights() override {
    refuse_half_done();
    read_steps();
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

  // A batch's way to its update, or back to where it began. What can fail is
  // done before the update; what comes after cannot.
  bool transact(const data::HostBatch& batch, const StepOrder& order) {
    const TaskSums before = task_.sums();
    const std::vector<std::int64_t> samples = indices_of(batch);
    keep_buffers(batch.size);
    try {
      beat(order.heartbeat, Phase::transfer);
      const TensorBatch host = prepare(batch, order.epoch);
      UnreadStep step;
      step.order = order;
      step.units = task_.units(host);
      step.count = batch.size;
      step.samples = samples;
      step.before = before;
      step.loss = backward(mover_.moved(host), step.units, order);
      beat(order.heartbeat, Phase::optimizer);
      precision_.unscale(parameters_);
      step.norm = gradient_norm(parameters_, device_);
      // Waits for the device: the next step's scale depends on it.
      if (precision_.scales() &&
          !std::isfinite(step.norm.item().to<double>())) {
        take_back(before);
        precision_.update(true);
        return false;
      }
      looks(order) ? commit_seen(step) : commit_unseen(std::move(step));
      if (precision_.scales()) precision_.update(false);
      return true;
    } catch (const HalfDone&) {
      half_done_ = true;
      throw;
    } catch (NotFinite& bad) {
      take_back(before);
      bad.samples = samples;
      throw;
    } catch (...) {
      take_back(before);
      rethrow_of_memory(batch.size);
    }
  }

  void keep_buffers(std::int64_t samples) {
    try {
      undo_.begin(unread_.finite());
    } catch (...) {
      rethrow_of_memory(samples);
    }
  }

  void take_back(const TaskSums& before) {
    put_buffers_back();
    task_.set_sums(before);
    forget_gradients(parameters_);
  }

  void put_buffers_back() {
    const std::string why = caught();
    try {
      undo_.back();
    } catch (const HalfDone& error) {
      half_done_ = true;
      throw HalfDone(
          why.empty() ? error.what()
                      : cat(error.what(), " Why it failed: ", why),
          error.hint());
    }
  }

  // The message of the exception being handled; empty: there is none.
  static std::string caught() {
    const std::exception_ptr now = std::current_exception();
    if (now == nullptr) return "";
    try {
      std::rethrow_exception(now);
    } catch (const std::exception& error) {
      return libtorch::first_line(error.what());
    } catch (...) {
      return "";
    }
  }

  void update(
      const StepOrder& order,
      const at::Tensor& norm,
      const CommitGate& gate) {
    average_.make_ready(gate);
    clip_gradients(parameters_, config_.train, norm);
    optimizer_->step(order.lr, order.update, gate);
    average_.follow(order.update, gate);
  }

  void commit_seen(const UnreadStep& step) {
    const auto loss = step.loss.item().to<double>();
    const auto norm = step.norm.item().to<double>();
    if (const StepVerdict bad = judge(loss, norm, step.units, step.order);
        !bad.what.empty())
      refuse(bad, step.order, step.order.update, {});
    // Step by step, so that sums have the same bits whenever they are asked
    // for.
    MetricSums sums = training_;
    sums.add(task_.sums().read());
    sums.loss += loss;
    sums.units += step.units;
    sums.samples += step.count;
    update(step.order, step.norm, {});
    task_.set_sums({});
    training_ = std::move(sums);
    report_ = {loss / step.units, norm};
  }

  void commit_unseen(UnreadStep step) {
    step = unread_.asked(std::move(step));
    update(step.order, step.norm, CommitGate(step.finite));
    unread_.add(std::move(step));
  }

  // Elsewhere a look makes the host wait; a limit of the loss asks for one.
  bool looks(const StepOrder& order) const {
    return reads_are_free() || std::isfinite(order.loss_limit);
  }

  void refuse_half_done() const {
    if (half_done_)
      throw Error(
          "[train] an update has failed half way: this state is neither the "
          "old nor the new one.",
          "Resume the run from its last checkpoint.");
  }

  bool takes_whole_batches() const {
    return task_.needs_whole_batch() || parts_.whole_batches;
  }

  bool reads_are_free() const {
    return device_.is_cpu();
  }

  TensorBatch prepare(const data::HostBatch& batch, std::uint32_t epoch) const {
    BatchMix mix;
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
  backward(const TensorBatch& whole, double units, const StepOrder& order) {
    if (at::Tensor sum = direct(whole, units, order); sum.defined()) return sum;
    forget_gradients(parameters_);
    task_.model().begin_update();
    const std::int64_t at_once = takes_whole_batches() ? 0 : order.micro_batch;
    at::Tensor total;
    int part = 0;
    std::int64_t begin = 0;
    for (const std::int64_t count :
         slice_sizes(whole.samples, at_once, config_.model.bn_group)) {
      seed_generators(
          static_cast<std::uint64_t>(config_.seed), order.update, part++);
      const at::Tensor sum = backward_slice(
          count == whole.samples ? whole : slice(whole, begin, count),
          whole.samples,
          units,
          order);
      total = total.defined() ? total.add(sum) : sum;
      begin += count;
    }
    task_.model().end_update();
    return total;
  }

  // The same without autograd, where the task knows how to; else undefined.
  at::Tensor
  direct(const TensorBatch& whole, double units, const StepOrder& order) {
    const int most = takes_whole_batches() ? 0 : order.micro_batch;
    if (parts_.precision != config::Precision::fp32 ||
        (most > 0 && most < whole.samples))
      return {};
    beat(order.heartbeat, Phase::forward);
    const auto sum = task_.direct_step(whole, 1 / units);
    if (!sum) return {};
    if (!std::isfinite(*sum))
      refuse(judge(*sum, 0, units, order), order, order.update, {});
    return at::scalar_tensor(*sum, at::kDouble);
  }

  at::Tensor backward_slice(
      const TensorBatch& part,
      std::int64_t whole,
      double units,
      const StepOrder& order) {
    const StepContext context{"train_step", task_, part, whole, device_};
    try {
      beat(order.heartbeat, Phase::forward);
      const at::Tensor sum = [&] {
        const auto autocast = precision_.autocast();
        return task_.train_step(part);
      }();
      check_loss(sum, true, context);
      const at::Tensor loss = sum.detach().reshape({}).to(sum_type(device_));
      // No backward pass for nothing. An infinite loss of fp16 shows in the
      // gradient, which is looked at.
      if (reads_are_free() && !precision_.scales())
        if (const StepVerdict bad = judge(loss.item<double>(), 0, units, order);
            !std::isfinite(loss.item<double>()))
          refuse(bad, order, order.update, {});
      beat(order.heartbeat, Phase::backward);
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
    if (unread_.empty()) return;
    std::optional<PendingSteps::Bad> bad;
    try {
      roll_forward(
          false,
          [&] { bad = unread_.read(training_, report_); },
          [&] { forget_gradients(parameters_); });
    } catch (const std::exception& error) {
      throw Error(
          cat("[train] a loss could not be read from ",
              device_.str(),
              ": ",
              libtorch::first_line(error.what()),
              "."));
    }
    if (!bad) return;
    put_buffers_back();
    task_.set_sums(bad->step.before);
    refuse(
        bad->verdict,
        bad->step.order,
        bad->latest,
        std::move(bad->step.samples));
  }

  // Validation sees the averaged weights; training's wait beside them.
  void begin_evaluation() {
    if (evaluating_) return;
    read_steps();
    // Sums of training that nobody has read yet stay training's.
    training_.add(task_.take_sums());
    swap_average();
    evaluating_ = true;
    task_.model().set_training(false);
  }
  void end_evaluation() {
    if (!evaluating_) return;
    swap_average();
    evaluating_ = false;
    task_.model().set_training(true);
  }
  void swap_average() {
    try {
      average_.swap();
    } catch (const HalfDone&) {
      half_done_ = true;
      throw;
    } catch (...) {
      rethrow_of_memory(0);
    }
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
  StepPrecision precision_;
  BatchMover mover_;
  std::vector<NamedTensor> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  Average average_;
  BufferBackup undo_;
  Evaluation evaluation_;
  bool half_done_ = false; // an update: nothing of it may be used
  bool evaluating_ = false;
  PendingSteps unread_;
  MetricSums training_;
  StepReport report_;
};

} // namespace

std::unique_ptr<Engine> make_torch_engine(TorchEngineParts parts) {
  libtorch::keep_onednn_from_tiles();
  model::use_torch_threads();
  return std::make_unique<TorchEngine>(std::move(parts));
}

} // namespace temper::train

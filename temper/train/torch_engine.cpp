#include "temper/train/torch_engine.h"

#include <torch/torch.h>

#include <cmath>
#include <utility>

#include "temper/base/hash.h"
#include "temper/base/text.h"
#include "temper/model/tensors.h"
#include "temper/train/optimizer.h"
#include "temper/train/predictions.h"

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
      : parts_(std::move(parts)), config_(parts_.config), task_(*parts_.task) {
    model::Module& model = task_.model();
    model.to(parts_.batch.device);
    task_.to(parts_.batch.device);
    model.set_training(true);
    parameters_ = model.parameters();
    optimizer_ = make_optimizer(config_.optimizer, parameters_);
    if (config_.train.ema > 0) begin_average();
  }

  EngineFacts facts() const override {
    EngineFacts facts;
    facts.model = parts_.model_name;
    facts.task = task_.name();
    facts.loss = task_.loss_name();
    facts.optimizer = config_.optimizer.name;
    facts.device = parts_.batch.device.str();
    for (const NamedTensor& each : parameters_) {
      facts.parameters += each.tensor.numel();
      if (each.trainable) facts.trainable += each.tensor.numel();
    }
    if (const graph::Graph* graph = task_.model().graph())
      for (const graph::Node& node : graph->nodes)
        facts.batch_norms += contains(node.op, "batch_norm") ? 1 : 0;
    return facts;
  }

  void step(const data::Batch& batch, const StepOrder& order) override {
    if (parts_.classes > 0) check_labels(batch, parts_.classes);
    model::Module& model = task_.model();
    if (!model.training()) model.set_training(true);
    const Batch whole = prepare(batch, order.epoch);
    const double units = task_.units(whole);
    const double loss = backward(whole, units, order);
    const double norm = gradient_norm();
    if (!std::isfinite(norm)) refuse("the gradient", norm, order);
    clip(norm);
    optimizer_->step(order.lr, order.update);
    if (!average_.empty()) follow_average(order.update);
    training_.loss += loss;
    training_.units += units;
    training_.samples += batch.size;
    report_ = {loss / units, norm};
  }

  StepReport report() override {
    return report_;
  }

  MetricSums take_training_sums() override {
    training_.add(task_.take_sums());
    return std::exchange(training_, {});
  }

  void evaluate(const data::Batch& batch) override {
    if (parts_.classes > 0) check_labels(batch, parts_.classes);
    begin_evaluation();
    const torch::NoGradGuard no_grad;
    const Batch whole = to_device(batch, parts_.batch);
    evaluation_.loss += task_.eval_step(whole).to(at::kCPU).item().to<double>();
    evaluation_.units += task_.units(whole);
    evaluation_.samples += batch.size;
  }

  MetricSums take_evaluation_sums() override {
    evaluation_.add(task_.take_sums());
    end_evaluation();
    return std::exchange(evaluation_, {});
  }

  EngineState capture() override {
    EngineState state;
    for (const auto& [name, tensor] : everything())
      state.tensors[name] = model::data_of(tensor);
    return state;
  }

  void restore(const EngineState& state) override {
    const torch::NoGradGuard no_grad;
    for (auto& [name, tensor] : everything()) {
      const auto found = state.tensors.find(name);
      if (found == state.tensors.end())
        throw Error(
            cat("[train] the checkpoint has no ", name, "."),
            "It belongs to another model or optimizer: resume with the run's "
            "own config.");
      const at::Tensor saved = model::tensor_of(found->second);
      if (saved.sizes() != tensor.sizes() ||
          saved.scalar_type() != tensor.scalar_type())
        throw Error(
            cat("[train] the checkpoint's ",
                name,
                " is ",
                model::tensor_text(saved),
                ", and the model's is ",
                model::tensor_text(tensor),
                "."),
            "It belongs to another model: resume with the run's own config.");
      tensor.copy_(saved);
    }
  }

  graph::Weights weights() override {
    graph::Weights all;
    for (const NamedTensor& each : parameters_)
      all[each.name] = model::data_of(each.tensor);
    for (const NamedTensor& each : task_.model().buffers())
      all[each.name] = model::data_of(each.tensor);
    for (const NamedTensor& each : average_)
      all[each.name] = model::data_of(each.tensor);
    return all;
  }

 private:
  Batch prepare(const data::Batch& batch, std::uint32_t epoch) const {
    MixPlan mix;
    mix.mixup = config_.train.mixup;
    mix.cutmix = config_.train.cutmix;
    if (mix.mixup == 0 && mix.cutmix == 0)
      return to_device(batch, parts_.batch);
    mix.label_smoothing = config_.train.label_smoothing;
    mix.classes = static_cast<int>(parts_.classes);
    mix.seed = static_cast<std::uint64_t>(config_.seed);
    return mixed(batch, parts_.batch, mix, epoch);
  }

  // The gradient of sum / units, one slice after the other; returns the sum.
  double backward(const Batch& whole, double units, const StepOrder& order) {
    for (const NamedTensor& each : parameters_)
      if (each.tensor.grad().defined()) each.tensor.mutable_grad().reset();
    const std::int64_t most = order.micro_batch > 0 && !task_.couples_samples()
        ? order.micro_batch
        : whole.samples;
    double total = 0;
    int part = 0;
    for (std::int64_t begin = 0; begin < whole.samples; begin += most) {
      const std::int64_t count = std::min(most, whole.samples - begin);
      seed_generators(
          static_cast<std::uint64_t>(config_.seed), order.update, part++);
      const at::Tensor sum = task_.train_step(
          count == whole.samples ? whole : slice(whole, begin, count));
      check_loss(sum);
      const double loss = sum.detach().to(at::kCPU).item().to<double>();
      if (!std::isfinite(loss)) refuse("the loss", loss, order);
      sum.div(units).backward();
      total += loss;
    }
    return total;
  }

  void check_loss(const at::Tensor& sum) const {
    if (sum.defined() && sum.numel() == 1 && sum.requires_grad() &&
        sum.device() == parts_.batch.device)
      return;
    std::string why = "it is no tensor";
    if (sum.defined()) {
      why = cat("it is ", model::tensor_text(sum), " on ", sum.device().str());
      if (sum.numel() != 1)
        why += ", and a loss is one number: the sum over the batch";
      else if (!sum.requires_grad())
        why += ", and no gradient leads through it: compute it with model()";
      else
        why +=
            cat(", and the model is on ",
                parts_.batch.device.str(),
                ": move it there with .to(batch.inputs.device())");
    }
    throw Error(cat("[train] train_step's loss cannot be used: ", why, "."));
  }

  double gradient_norm() const {
    const torch::NoGradGuard no_grad;
    const auto type = sum_type(parts_.batch.device);
    at::Tensor squares;
    for (const NamedTensor& each : parameters_) {
      const at::Tensor gradient = each.tensor.grad();
      if (!gradient.defined()) continue;
      const at::Tensor norm = gradient.norm(2).to(type);
      const at::Tensor square = norm.mul(norm);
      squares = squares.defined() ? squares.add_(square) : square;
    }
    if (!squares.defined()) return 0;
    return std::sqrt(squares.to(at::kCPU).item().to<double>());
  }

  void clip(double norm) const {
    const torch::NoGradGuard no_grad;
    const double longest = config_.train.clip;
    const double largest = config_.train.clip_value;
    for (const NamedTensor& each : parameters_) {
      at::Tensor gradient = each.tensor.grad();
      if (!gradient.defined()) continue;
      // As torch.nn.utils.clip_grad_norm_ has it.
      if (longest > 0 && longest / (norm + 1e-6) < 1)
        gradient.mul_(longest / (norm + 1e-6));
      if (largest > 0) gradient.clamp_(-largest, largest);
    }
  }

  [[noreturn]] static void
  refuse(const std::string& what, double value, const StepOrder& order) {
    throw NotFinite(
        cat("[train] ",
            what,
            " became ",
            value,
            " in update ",
            order.update + 1,
            " (epoch ",
            order.epoch + 1,
            "): no weight was changed by it."),
        "Lower optimizer.lr, clip the gradient with train.clip = 1, or warm up "
        "with schedule.warmup.");
  }

  void begin_average() {
    const torch::NoGradGuard no_grad;
    for (const NamedTensor& each : parameters_)
      average_.push_back({each.name, each.tensor.detach().clone(), false});
  }

  // A short memory at first: an average of few values.
  void follow_average(std::int64_t update) {
    const torch::NoGradGuard no_grad;
    const double early =
        (1 + static_cast<double>(update)) / (10 + static_cast<double>(update));
    const double decay = std::min(config_.train.ema, early);
    for (std::size_t i = 0; i < average_.size(); ++i)
      average_[i].tensor.lerp_(parameters_[i].tensor.detach(), 1 - decay);
  }

  // Validation sees the averaged weights; training's wait beside them.
  void begin_evaluation() {
    if (evaluating_) return;
    evaluating_ = true;
    // What training has counted and nobody read yet stays training's.
    training_.add(task_.take_sums());
    task_.model().set_training(false);
    if (!average_.empty()) swap_average();
  }
  void end_evaluation() {
    if (!evaluating_) return;
    evaluating_ = false;
    task_.model().set_training(true);
    if (!average_.empty()) swap_average();
  }
  void swap_average() {
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < average_.size(); ++i) {
      const at::Tensor kept = parameters_[i].tensor.detach().clone();
      parameters_[i].tensor.detach().copy_(average_[i].tensor);
      average_[i].tensor.copy_(kept);
    }
  }

  std::vector<std::pair<std::string, at::Tensor>> everything() const {
    std::vector<std::pair<std::string, at::Tensor>> all;
    for (const NamedTensor& each : parameters_)
      all.emplace_back("model." + each.name, each.tensor.detach());
    for (const NamedTensor& each : task_.model().buffers())
      all.emplace_back("model." + each.name, each.tensor);
    for (const NamedTensor& each : optimizer_->state())
      all.emplace_back("optimizer." + each.name, each.tensor);
    for (const NamedTensor& each : average_)
      all.emplace_back("ema." + each.name, each.tensor);
    return all;
  }

  TorchEngineParts parts_;
  const config::Config& config_;
  Task& task_;
  std::vector<NamedTensor> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<NamedTensor> average_; // empty: train.ema is off
  bool evaluating_ = false;
  MetricSums training_;
  MetricSums evaluation_;
  StepReport report_;
};

} // namespace

std::unique_ptr<Engine> make_torch_engine(TorchEngineParts parts) {
  return std::make_unique<TorchEngine>(std::move(parts));
}

} // namespace temper::train

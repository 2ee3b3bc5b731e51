#include "temper/train/task/tasks.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/fuse/dense_chain.h"
#include "temper/model/fused/dense_step.h"
#include "temper/model/fused/make_fused.h"
#include "temper/model/module/tensors.h"
#include "temper/train/task/losses.h"
#include "temper/train/task/predictions.h"

namespace temper::train {
namespace {

constexpr int kTop = 5;
// A matrix of more classes than this is of no use to anyone.
constexpr std::int64_t kLargestConfusion = 1000;

[[noreturn]] void misfit(
    const at::Tensor& output,
    const at::Tensor& target,
    const std::string& why) {
  throw Error(
      cat("[train] the model's output ",
          model::tensor_text(output),
          " does not fit the targets ",
          model::tensor_text(target),
          ": ",
          why,
          "."),
      "Look at the model with temper model show, and at the data with temper "
      "data check.");
}

// No value unless the network is linear layers one after the other.
std::optional<model::DenseStep> dense_step_of(const model::Module& network) {
  const graph::Graph* graph = network.graph();
  if (graph == nullptr) return std::nullopt;
  const auto layers = graph::dense_chain(*graph);
  if (!layers) return std::nullopt;
  std::map<std::string, at::Tensor> parameters;
  for (const model::NamedTensor& each : network.parameters())
    parameters[each.name] = each.tensor;
  std::vector<model::DenseStepLayer> chain;
  for (const graph::DenseLayer& layer : *layers) {
    // One that shares its bytes with another goes by the other's name.
    if (parameters.count(layer.weight) == 0 ||
        (!layer.bias.empty() && parameters.count(layer.bias) == 0))
      return std::nullopt;
    chain.push_back(
        {parameters[layer.weight],
         layer.bias.empty() ? at::Tensor() : parameters[layer.bias],
         model::activation_of(layer.act)});
  }
  return model::DenseStep(std::move(chain));
}

// Labels, one a sample or one a token.
class Labelling final : public Task {
 public:
  Labelling(
      std::string name,
      const config::Config& config,
      config::Kernels kernels,
      std::shared_ptr<model::Module> model)
      : Task(std::move(model)), name_(std::move(name)) {
    loss_.fused = kernels == config::Kernels::fused;
    loss_.label_smoothing = config.train.label_smoothing;
    if (config.train.class_weights.empty()) return;
    loss_.weights_here = at::tensor(config.train.class_weights).to(at::kFloat);
    loss_.class_weights = loss_.weights_here;
    moves_along("train.class_weights", loss_.class_weights);
  }

  std::string name() const override {
    return name_;
  }
  std::string loss_name() const override {
    return "cross_entropy";
  }
  // Right and wrong predictions are counted, not added up.
  bool any_threads() const override {
    return loss_.fused;
  }
  double units(const TensorBatch& batch) const override {
    // PyTorch's mean over probabilities divides by samples.
    return batch.soft_targets.defined() ? static_cast<double>(batch.samples)
                                        : loss_.units(batch.targets);
  }

  at::Tensor train_step(const TensorBatch& batch) override {
    const at::Tensor logits = scores(batch);
    // A mixed image is right when it is taken for what it shows most of.
    const at::Tensor labels = batch.soft_targets.defined()
        ? batch.soft_targets.argmax(1)
        : batch.targets;
    sums_.counts.add(logits, labels, top(logits), false);
    return batch.soft_targets.defined()
        ? loss_.soft_sum(logits, batch.soft_targets)
        : loss_.sum(logits, batch.targets);
  }
  std::optional<double> direct_step(const TensorBatch& batch, double factor)
      override {
    if (!loss_.fused || batch.soft_targets.defined()) return std::nullopt;
    if (!looked_for_chain_) chain_ = dense_step_of(model());
    looked_for_chain_ = true;
    if (!chain_) return std::nullopt;
    model::DenseStepWork work;
    work.x = batch.inputs;
    work.labels = batch.targets;
    work.class_weights = loss_.class_weights;
    work.label_smoothing = loss_.label_smoothing;
    work.factor = factor;
    work.top = chain_->outputs() > kTop ? kTop : 0;
    const auto done = chain_->run(work);
    if (!done) return std::nullopt;
    sums_.counts.add_counted(
        done->best, done->among_top, batch.samples, work.top);
    return done->loss;
  }
  at::Tensor eval_step(const TensorBatch& batch) override {
    const at::Tensor logits = scores(batch);
    sums_.counts.add(
        logits,
        batch.targets,
        top(logits),
        logits.dim() == 2 && logits.size(1) <= kLargestConfusion);
    return loss_.sum(logits, batch.targets);
  }

 private:
  static int top(const at::Tensor& logits) {
    return logits.size(1) > kTop ? kTop : 0;
  }

  // N x classes, or N x classes x tokens whichever way the model has them.
  at::Tensor scores(const TensorBatch& batch) {
    at::Tensor output = model().forward({batch.inputs});
    const at::Tensor& target = batch.targets;
    if (output.dim() == 3 && target.dim() == 2 &&
        output.size(2) != target.size(1) && output.size(1) == target.size(1))
      output = output.transpose(1, 2);
    if (output.dim() != target.dim() + 1)
      misfit(output, target, "it should have one more dimension, the classes");
    if (loss_.class_weights.defined() &&
        loss_.class_weights.numel() != output.size(1))
      throw Error(
          cat("[train] train.class_weights has ",
              loss_.class_weights.numel(),
              " numbers, and the model has ",
              output.size(1),
              " classes."),
          "Give one weight a class.");
    return output;
  }

  std::string name_;
  CrossEntropy loss_;
  std::optional<model::DenseStep> chain_; // of a network that is only layers
  bool looked_for_chain_ = false;
};

// Numbers, or the inputs themselves.
class Fitting final : public Task {
 public:
  Fitting(
      std::string name,
      std::string loss,
      const TargetScale& scale,
      std::shared_ptr<model::Module> model)
      : Task(std::move(model)), name_(std::move(name)), loss_(std::move(loss)) {
    if (scale.mean.empty() || name_ == "autoencode") return;
    mean_ = at::tensor(scale.mean).to(at::kFloat);
    deviation_ = at::tensor(scale.deviation).to(at::kFloat);
    moves_along("the mean of the targets", mean_);
    moves_along("the deviation of the targets", deviation_);
  }

  std::string name() const override {
    return name_;
  }
  std::string loss_name() const override {
    return loss_;
  }
  double units(const TensorBatch& batch) const override {
    return static_cast<double>(target(batch).numel());
  }
  at::Tensor train_step(const TensorBatch& batch) override {
    const at::Tensor wanted = target(batch);
    at::Tensor output = model().forward({batch.inputs});
    if (output.numel() != wanted.numel())
      misfit(output, wanted, "it has another number of elements");
    output = output.reshape(wanted.sizes());
    sums_.errors.add(
        users(loss_ == "bce" ? output.sigmoid() : output), users(wanted));
    return loss_ == "bce" ? bce_sum(output, wanted) : mse_sum(output, wanted);
  }

 private:
  // In the units of the data. Targets lie as [N, numbers].
  at::Tensor users(const at::Tensor& scaled) const {
    if (!mean_.defined()) return scaled;
    const at::NoGradGuard no_grad;
    const auto type = sum_type(scaled.device());
    const at::Tensor rows =
        scaled.detach().to(type).reshape({-1, mean_.numel()});
    return rows.mul(deviation_.to(type)).add(mean_.to(type));
  }

  at::Tensor target(const TensorBatch& batch) const {
    return name_ == "autoencode" ? batch.inputs : batch.targets;
  }

  std::string name_;
  std::string loss_;
  at::Tensor mean_; // undefined: targets are in the user's units
  at::Tensor deviation_;
};

std::string target_words(data::Target target) {
  return target == data::Target::label ? "class labels" : to_string(target);
}

} // namespace

std::string task_for(
    const config::Config& config,
    const data::SourceInfo& source) {
  if (config.train.task != "auto") return config.train.task;
  switch (source.target) {
    case data::Target::label:
      return "classification";
    case data::Target::numbers:
      return config.train.loss == "bce" ? "multi-label" : "regression";
    case data::Target::tokens:
      return "next-token";
  }
  throw Bug("a target outside the table");
}

std::unique_ptr<Task> make_task(
    const config::Config& config,
    const data::SourceInfo& source,
    std::shared_ptr<model::Module> model,
    const TargetScale& scale,
    config::Kernels kernels) {
  const std::string name = task_for(config, source);
  const std::string& asked = config.train.loss;
  const bool labels = name == "classification" || name == "next-token";
  const auto needs = [&](data::Target target) {
    if (source.target == target) return;
    throw Error(
        cat("[train] train.task = ",
            name,
            " needs ",
            target_words(target),
            " as targets; ",
            source.name,
            " has ",
            target_words(source.target),
            "."),
        target == data::Target::label && source.target == data::Target::numbers
            ? "Name the column as a class, data.target = \"price:class\", or "
              "set train.task = \"auto\"."
            : "Set train.task = \"auto\", or use other data.");
  };
  if (name == "classification") needs(data::Target::label);
  if (name == "next-token") needs(data::Target::tokens);
  if (name == "regression") needs(data::Target::numbers);
  if (asked != "auto" && labels != (asked == "cross_entropy"))
    throw Error(
        cat("[train] train.loss = ",
            asked,
            " does not go with the task ",
            name,
            "."),
        labels ? "Use cross_entropy." : "Use mse or bce.");
  if (labels)
    return std::make_unique<Labelling>(name, config, kernels, std::move(model));
  return std::make_unique<Fitting>(
      name, asked == "auto" ? "mse" : asked, scale, std::move(model));
}

} // namespace temper::train

#include "temper/train/optimizer.h"

#include <torch/torch.h>

#include <cmath>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::train {
namespace {

struct Slot {
  std::string name;
  at::Tensor parameter;
  double decay = 0;
  at::Tensor first; // momentum, or the mean of gradients
  at::Tensor second; // the mean of their squares
};

class Rule : public Optimizer {
 public:
  Rule(
      const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      bool needs_first,
      bool needs_second)
      : options_(options) {
    for (const model::NamedTensor& each : parameters) {
      if (!each.trainable) continue;
      Slot slot;
      slot.name = each.name;
      slot.parameter = each.tensor;
      const bool decays = options.decay_all || each.tensor.dim() > 1;
      slot.decay = decays ? options.weight_decay : 0;
      if (needs_first) slot.first = at::zeros_like(each.tensor);
      if (needs_second) slot.second = at::zeros_like(each.tensor);
      slots_.push_back(slot);
    }
  }

  void step(double lr, std::int64_t update) final {
    const torch::NoGradGuard no_grad;
    for (Slot& slot : slots_)
      if (const at::Tensor gradient = slot.parameter.grad(); gradient.defined())
        apply(slot, gradient, lr, update);
  }

  std::vector<model::NamedTensor> state() const final {
    std::vector<model::NamedTensor> all;
    for (const Slot& slot : slots_) {
      if (slot.first.defined())
        all.push_back({"first." + slot.name, slot.first});
      if (slot.second.defined())
        all.push_back({"second." + slot.name, slot.second});
    }
    return all;
  }

 protected:
  virtual void apply(
      Slot& slot,
      const at::Tensor& gradient,
      double lr,
      std::int64_t update) = 0;

  // What L2 adds to the gradient; the gradient itself is left alone.
  static at::Tensor with_l2(const Slot& slot, const at::Tensor& gradient) {
    return slot.decay == 0 ? gradient
                           : gradient.add(slot.parameter, slot.decay);
  }

  config::Optimizer options_;
  std::vector<Slot> slots_;
};

class Sgd final : public Rule {
 public:
  Sgd(const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters)
      : Rule(options, parameters, options.momentum > 0, false) {}

 private:
  void apply(Slot& slot, const at::Tensor& gradient, double lr, std::int64_t)
      override {
    at::Tensor direction = with_l2(slot, gradient);
    if (slot.first.defined()) {
      slot.first.mul_(options_.momentum).add_(direction);
      direction = options_.nesterov
          ? direction.add(slot.first, options_.momentum)
          : slot.first;
    }
    slot.parameter.add_(direction, -lr);
  }
};

class Adam final : public Rule {
 public:
  Adam(
      const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      bool decoupled)
      : Rule(options, parameters, true, true), decoupled_(decoupled) {}

 private:
  void apply(
      Slot& slot,
      const at::Tensor& gradient,
      double lr,
      std::int64_t update) override {
    const double beta1 = options_.betas[0];
    const double beta2 = options_.betas[1];
    const auto count = static_cast<double>(update + 1);
    if (decoupled_ && slot.decay != 0) slot.parameter.mul_(1 - lr * slot.decay);
    const at::Tensor direction =
        decoupled_ ? gradient : with_l2(slot, gradient);
    slot.first.mul_(beta1).add_(direction, 1 - beta1);
    slot.second.mul_(beta2).addcmul_(direction, direction, 1 - beta2);
    const double step_size = lr / (1 - std::pow(beta1, count));
    const double correction = std::sqrt(1 - std::pow(beta2, count));
    const at::Tensor spread =
        slot.second.sqrt().div_(correction).add_(options_.eps);
    slot.parameter.addcdiv_(slot.first, spread, -step_size);
  }

  bool decoupled_;
};

// Chen et al., 2023: the sign of an average, then a slower average.
class Lion final : public Rule {
 public:
  Lion(
      const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters)
      : Rule(options, parameters, true, false) {}

 private:
  void apply(Slot& slot, const at::Tensor& gradient, double lr, std::int64_t)
      override {
    const double beta1 = options_.betas[0];
    const double beta2 = options_.betas[1];
    if (slot.decay != 0) slot.parameter.mul_(1 - lr * slot.decay);
    const at::Tensor direction =
        slot.first.mul(beta1).add_(gradient, 1 - beta1).sign_();
    slot.parameter.add_(direction, -lr);
    slot.first.mul_(beta2).add_(gradient, 1 - beta2);
  }
};

} // namespace

std::unique_ptr<Optimizer> make_optimizer(
    const config::Optimizer& options,
    const std::vector<model::NamedTensor>& parameters) {
  if (options.name != "sgd" && options.betas.size() != 2)
    throw Error(
        cat("[train] optimizer.betas has ",
            options.betas.size(),
            " numbers; ",
            options.name,
            " takes two."),
        "Write optimizer.betas = [0.9, 0.999].");
  if (options.name == "sgd" && options.nesterov && options.momentum == 0)
    throw Error("[train] optimizer.nesterov needs optimizer.momentum above 0.");
  if (options.name == "sgd") return std::make_unique<Sgd>(options, parameters);
  if (options.name == "adam")
    return std::make_unique<Adam>(options, parameters, false);
  if (options.name == "adamw")
    return std::make_unique<Adam>(options, parameters, true);
  if (options.name == "lion")
    return std::make_unique<Lion>(options, parameters);
  throw Error(cat("[train] there is no optimizer ", options.name, "."));
}

} // namespace temper::train

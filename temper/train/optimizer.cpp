#include "temper/train/optimizer.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/passes.h"
#include "temper/train/lr_scale.h"

namespace temper::train {
namespace {

struct Slot {
  std::string name;
  at::Tensor parameter;
  double decay = 0;
  double rate = 1; // factor of the learning rate
  std::int64_t since = 0; // the update before which it joined
  at::Tensor first; // momentum, or the mean of gradients
  at::Tensor second; // the mean of their squares
};

// What an update computes with: the moment itself, or a float32 copy of one
// that is kept in bf16.
at::Tensor wide(const at::Tensor& moment) {
  return moment.scalar_type() == at::kBFloat16 ? moment.to(at::kFloat) : moment;
}

// Puts the copy back. Rounded at random, up or down in proportion: to the
// nearest, the small steps of a slow average would all be lost.
void keep(at::Tensor moment, const at::Tensor& computed) {
  if (moment.scalar_type() != at::kBFloat16) return;
  constexpr std::int64_t kLowBits = 65536; // that bf16 has not
  const at::Tensor noise = at::randint(
      kLowBits, computed.sizes(), computed.options().dtype(at::kInt));
  moment.copy_(computed.view(at::kInt).add(noise).bitwise_and(-kLowBits).view(
      at::kFloat));
}

class Rule : public Optimizer {
 public:
  Rule(
      const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      const Joined& joined,
      bool needs_first,
      bool needs_second)
      : options_(options) {
    const auto scales = parse_lr_scales(options.lr_scale);
    for (const model::NamedTensor& each : parameters) {
      if (!each.trainable) continue;
      Slot slot;
      slot.name = each.name;
      slot.parameter = each.tensor;
      const bool decays = options.decay_all || each.tensor.dim() > 1;
      slot.decay = decays ? options.weight_decay : 0;
      slot.rate = lr_factor(scales, each.name);
      const auto is_it = [&](const std::string& pattern) {
        return graph::matches(pattern, each.name);
      };
      if (std::any_of(joined.names.begin(), joined.names.end(), is_it))
        slot.since = joined.update;
      const at::Tensor zero = at::zeros_like(
          each.tensor,
          options.moments == "bf16" ? each.tensor.options().dtype(at::kBFloat16)
                                    : each.tensor.options());
      if (needs_first) slot.first = zero.clone();
      if (needs_second) slot.second = zero.clone();
      slots_.push_back(slot);
    }
  }

  void step(double lr, std::int64_t update, const Gate& gate) final {
    const torch::NoGradGuard no_grad;
    for (Slot& slot : slots_) {
      const at::Tensor gradient = slot.parameter.grad();
      if (!gradient.defined()) continue;
      gate.clear(gradient);
      apply(slot, gradient, {lr * slot.rate, update - slot.since, gate});
    }
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
  struct Update {
    double lr;
    std::int64_t before; // updates before this one
    const Gate& gate;
  };

  virtual void
  apply(Slot& slot, const at::Tensor& gradient, const Update& now) = 0;

  // What L2 adds to the gradient; the gradient itself is left alone.
  static at::Tensor
  with_l2(const Slot& slot, const at::Tensor& gradient, const Update& now) {
    return slot.decay == 0 ? gradient
                           : now.gate.sum(gradient, slot.parameter, slot.decay);
  }
  // Decay beside the gradient, as AdamW and Lion have it.
  static void shrink(const Slot& slot, const Update& now) {
    if (slot.decay != 0)
      now.gate.scale(slot.parameter, 1 - now.lr * slot.decay);
  }

  config::Optimizer options_;
  std::vector<Slot> slots_;
};

class Sgd final : public Rule {
 public:
  Sgd(const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      const Joined& joined)
      : Rule(options, parameters, joined, options.momentum > 0, false) {}

 private:
  void apply(Slot& slot, const at::Tensor& gradient, const Update& now)
      override {
    at::Tensor direction = with_l2(slot, gradient, now);
    if (slot.first.defined()) {
      const at::Tensor momentum = wide(slot.first);
      now.gate.scale(momentum, options_.momentum);
      momentum.add_(direction);
      keep(slot.first, momentum);
      direction = options_.nesterov ? direction.add(momentum, options_.momentum)
                                    : momentum;
    }
    now.gate.add(slot.parameter, direction, -now.lr);
  }
};

class Adam final : public Rule {
 public:
  Adam(
      const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      const Joined& joined,
      bool decoupled)
      : Rule(options, parameters, joined, true, true), decoupled_(decoupled) {}

 private:
  void apply(Slot& slot, const at::Tensor& gradient, const Update& now)
      override {
    const double beta1 = options_.betas[0];
    const double beta2 = options_.betas[1];
    const auto count = static_cast<double>(now.before + 1);
    if (decoupled_) shrink(slot, now);
    const at::Tensor direction =
        decoupled_ ? gradient : with_l2(slot, gradient, now);
    const at::Tensor first = wide(slot.first);
    const at::Tensor second = wide(slot.second);
    now.gate.scale(first, beta1);
    first.add_(direction, 1 - beta1);
    now.gate.scale(second, beta2);
    second.addcmul_(direction, direction, 1 - beta2);
    keep(slot.first, first);
    keep(slot.second, second);
    const double step_size = now.lr / (1 - std::pow(beta1, count));
    const double correction = std::sqrt(1 - std::pow(beta2, count));
    const at::Tensor spread = second.sqrt().div_(correction).add_(options_.eps);
    now.gate.add_ratio(slot.parameter, first, spread, -step_size);
  }

  bool decoupled_;
};

// Chen et al., 2023: the sign of an average, then a slower average.
class Lion final : public Rule {
 public:
  Lion(
      const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      const Joined& joined)
      : Rule(options, parameters, joined, true, false) {}

 private:
  void apply(Slot& slot, const at::Tensor& gradient, const Update& now)
      override {
    const double beta1 = options_.betas[0];
    const double beta2 = options_.betas[1];
    shrink(slot, now);
    const at::Tensor average = wide(slot.first);
    const at::Tensor direction =
        average.mul(beta1).add_(gradient, 1 - beta1).sign_();
    now.gate.add(slot.parameter, direction, -now.lr);
    now.gate.scale(average, beta2);
    average.add_(gradient, 1 - beta2);
    keep(slot.first, average);
  }
};

} // namespace

std::unique_ptr<Optimizer> make_optimizer(
    const config::Optimizer& options,
    const std::vector<model::NamedTensor>& parameters,
    const Joined& joined) {
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
  if (options.name == "sgd")
    return std::make_unique<Sgd>(options, parameters, joined);
  if (options.name == "adam")
    return std::make_unique<Adam>(options, parameters, joined, false);
  if (options.name == "adamw")
    return std::make_unique<Adam>(options, parameters, joined, true);
  if (options.name == "lion")
    return std::make_unique<Lion>(options, parameters, joined);
  throw Error(cat("[train] there is no optimizer ", options.name, "."));
}

} // namespace temper::train

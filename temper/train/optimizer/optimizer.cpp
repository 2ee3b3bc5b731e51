#include "temper/train/optimizer/optimizer.h"

#include <ATen/ATen.h>

#include <cmath>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/kernels/update.h"
#include "temper/train/optimizer/optimizer_rule.h"

namespace temper::train {
namespace {

float* numbers(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

class Sgd final : public Rule {
 public:
  Sgd(const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      const LateParameters& joined)
      : Rule(options, parameters, joined, options.momentum > 0, false) {}

 private:
  Next computed(const Slot& slot, const at::Tensor& gradient, const Update& now)
      const override {
    Next next;
    at::Tensor direction = with_l2(slot, gradient, now);
    if (slot.first.defined()) {
      const at::Tensor momentum =
          now.gate.scaled(wide(slot.first), options_.momentum).add_(direction);
      next.first = kept(slot.first, momentum);
      direction = options_.nesterov ? direction.add(momentum, options_.momentum)
                                    : momentum;
    }
    next.parameter = now.gate.sum(slot.parameter, direction, -now.lr);
    return next;
  }

  void apply(const Slot& slot, const Update& now, const ElementSpans::Span& run)
      const override {
    kernels::SgdRule rule;
    rule.rate = static_cast<float>(now.lr);
    rule.l2 = static_cast<float>(slot.decay);
    rule.momentum = static_cast<float>(options_.momentum);
    rule.nesterov = options_.nesterov;
    kernels::sgd(
        rule,
        run.count,
        numbers(slot.parameter.grad()) + run.begin,
        numbers(slot.parameter) + run.begin,
        slot.first.defined() ? numbers(slot.first) + run.begin : nullptr);
  }
};

class Adam final : public Rule {
 public:
  Adam(
      const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      const LateParameters& joined,
      bool decoupled)
      : Rule(options, parameters, joined, true, true), decoupled_(decoupled) {}

 private:
  struct Corrections {
    double step_size;
    double spread; // the root of the second moment is divided by it
  };
  Corrections corrections(const Update& now) const {
    const auto count = static_cast<double>(now.before + 1);
    return {
        now.lr / (1 - std::pow(options_.betas[0], count)),
        std::sqrt(1 - std::pow(options_.betas[1], count))};
  }

  Next computed(const Slot& slot, const at::Tensor& gradient, const Update& now)
      const override {
    const double beta1 = options_.betas[0];
    const double beta2 = options_.betas[1];
    const at::Tensor parameter =
        decoupled_ ? shrunk(slot, now) : slot.parameter;
    const at::Tensor direction =
        decoupled_ ? gradient : with_l2(slot, gradient, now);
    const at::Tensor first =
        now.gate.scaled(wide(slot.first), beta1).add_(direction, 1 - beta1);
    const at::Tensor second = now.gate.scaled(wide(slot.second), beta2)
                                  .addcmul_(direction, direction, 1 - beta2);
    const auto [step_size, correction] = corrections(now);
    const at::Tensor spread = second.sqrt().div_(correction).add_(options_.eps);
    return {
        now.gate.ratio_added(parameter, first, spread, -step_size),
        kept(slot.first, first),
        kept(slot.second, second)};
  }

  void apply(const Slot& slot, const Update& now, const ElementSpans::Span& run)
      const override {
    const auto [step_size, correction] = corrections(now);
    kernels::AdamRule rule;
    rule.rate = static_cast<float>(step_size);
    rule.keep = decoupled_ ? static_cast<float>(keep(slot, now)) : 1.0F;
    rule.l2 = decoupled_ ? 0.0F : static_cast<float>(slot.decay);
    rule.beta1 = static_cast<float>(options_.betas[0]);
    rule.rest1 = static_cast<float>(1 - options_.betas[0]);
    rule.beta2 = static_cast<float>(options_.betas[1]);
    rule.rest2 = static_cast<float>(1 - options_.betas[1]);
    rule.correction = static_cast<float>(correction);
    rule.eps = static_cast<float>(options_.eps);
    kernels::adam(
        rule,
        run.count,
        numbers(slot.parameter.grad()) + run.begin,
        numbers(slot.parameter) + run.begin,
        numbers(slot.first) + run.begin,
        numbers(slot.second) + run.begin);
  }

  bool decoupled_;
};

// Chen et al., 2023: the sign of an average, then a slower average.
class Lion final : public Rule {
 public:
  Lion(
      const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      const LateParameters& joined)
      : Rule(options, parameters, joined, true, false) {}

 private:
  Next computed(const Slot& slot, const at::Tensor& gradient, const Update& now)
      const override {
    const double beta1 = options_.betas[0];
    const double beta2 = options_.betas[1];
    const at::Tensor average = wide(slot.first);
    const at::Tensor direction =
        average.mul(beta1).add_(gradient, 1 - beta1).sign_();
    Next next;
    next.parameter = now.gate.sum(shrunk(slot, now), direction, -now.lr);
    next.first = kept(
        slot.first, now.gate.scaled(average, beta2).add_(gradient, 1 - beta2));
    return next;
  }

  void apply(const Slot& slot, const Update& now, const ElementSpans::Span& run)
      const override {
    kernels::LionRule rule;
    rule.rate = static_cast<float>(now.lr);
    rule.keep = static_cast<float>(keep(slot, now));
    rule.beta1 = static_cast<float>(options_.betas[0]);
    rule.rest1 = static_cast<float>(1 - options_.betas[0]);
    rule.beta2 = static_cast<float>(options_.betas[1]);
    rule.rest2 = static_cast<float>(1 - options_.betas[1]);
    kernels::lion(
        rule,
        run.count,
        numbers(slot.parameter.grad()) + run.begin,
        numbers(slot.parameter) + run.begin,
        numbers(slot.first) + run.begin);
  }
};

} // namespace

std::unique_ptr<Optimizer> make_optimizer(
    const config::Optimizer& options,
    const std::vector<model::NamedTensor>& parameters,
    const LateParameters& joined) {
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

#include "temper/train/optimizer/optimizer_rule.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "temper/base/digest/hash.h"
#include "temper/config/choices.h"
#include "temper/graph/pass/passes.h"
#include "temper/train/optimizer/retry_update.h"
#include "temper/train/schedule/lr_scale.h"

namespace temper::train {
namespace {

// Can the kernels follow it? A gradient that lies otherwise than its
// parameter is copied; LibTorch rarely leaves one.
bool lay_out_gradient(const Slot& slot) {
  const at::Tensor& parameter = slot.parameter;
  const auto fits = [&](const at::Tensor& moment) {
    return !moment.defined() || is_laid_out_as(moment, parameter);
  };
  if (!is_plain(parameter) || !fits(slot.first) || !fits(slot.second))
    return false;
  const at::Tensor gradient = parameter.grad();
  if (is_laid_out_as(gradient, parameter)) return true;
  at::Tensor copy = at::empty_like(parameter);
  copy.copy_(gradient.is_sparse() ? gradient.to_dense() : gradient);
  parameter.mutable_grad() = copy;
  return is_laid_out_as(copy, parameter);
}

} // namespace

at::Tensor wide(const at::Tensor& moment) {
  return moment.scalar_type() == at::kBFloat16 ? moment.to(at::kFloat) : moment;
}

// Up or down at random, in proportion: to the nearest, the small steps of a
// slow average would all be lost.
at::Tensor kept(const at::Tensor& moment, const at::Tensor& computed) {
  if (moment.scalar_type() != at::kBFloat16) return computed;
  constexpr std::int64_t kLowBits = 65536; // that bf16 has not
  const at::Tensor noise = at::randint(
      kLowBits, computed.sizes(), computed.options().dtype(at::kInt));
  return computed.view(at::kInt)
      .add(noise)
      .bitwise_and(-kLowBits)
      .view(at::kFloat)
      .to(at::kBFloat16);
}

Rule::Rule(
    const config::Optimizer& options,
    const std::vector<model::NamedTensor>& parameters,
    const LateParameters& joined,
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
        config::moments_of(options) == config::Precision::bf16
            ? each.tensor.options().dtype(at::kBFloat16)
            : each.tensor.options());
    if (needs_first) slot.first = zero.clone();
    if (needs_second) slot.second = zero.clone();
    slots_.push_back(slot);
  }
}

// Work that may fail comes first; the kernels at the end cannot.
void Rule::step(double lr, std::int64_t update, const CommitGate& gate) {
  const at::NoGradGuard no_grad;
  const auto now = [&](const Slot& slot) -> Update {
    return {lr * slot.rate, update - slot.since, gate};
  };
  ElementSpans runs;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].parameter.grad().defined()) continue;
    if (gate.is_certain() && lay_out_gradient(slots_[i]))
      runs.add(i, slots_[i].parameter);
    else
      others.push_back(i);
  }
  for (std::size_t n = 0; n < others.size(); ++n) {
    Slot& slot = slots_[others[n]];
    Next next;
    roll_forward(
        n > 0,
        [&] {
          if (!next.parameter.defined()) {
            gate.clear(slot.parameter.grad());
            seed_noise(slot, update, others[n]);
            next = computed(slot, slot.parameter.grad(), now(slot));
          }
          slot.parameter.copy_(next.parameter);
        },
        [&] { // gradients that were followed are done with
          for (std::size_t i = 0; i < n; ++i)
            slots_[others[i]].parameter.mutable_grad().reset();
        });
    if (next.first.defined()) slot.first = next.first;
    if (next.second.defined()) slot.second = next.second;
  }
  runs.each([&](const ElementSpans::Span& run) {
    const Slot& slot = slots_[run.tensor];
    apply(slot, now(slot), run);
  });
}

std::vector<model::NamedTensor> Rule::state() const {
  std::vector<model::NamedTensor> all;
  for (const Slot& slot : slots_) {
    if (slot.first.defined()) all.push_back({"first." + slot.name, slot.first});
    if (slot.second.defined())
      all.push_back({"second." + slot.name, slot.second});
  }
  return all;
}

// The same noise when the part is tried again.
void Rule::seed_noise(const Slot& slot, std::int64_t update, std::size_t i)
    const {
  if (!slot.first.defined() || slot.first.scalar_type() != at::kBFloat16)
    return;
  Hasher mixed;
  mixed.add(static_cast<std::uint64_t>(update));
  mixed.add(static_cast<std::uint64_t>(i));
  at::manual_seed(mixed.value());
}

} // namespace temper::train

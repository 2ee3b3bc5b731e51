// The common ground of the optimisers: slots of parameters with their moments,
// the order of an update that cannot be left half done, and two ways through
// it: kernels for float32 on the CPU, LibTorch's operators for everything else.
// Includes torch: see task.h.
// Private to train/optimizer.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/train/optimizer/element_spans.h"
#include "temper/train/optimizer/optimizer.h"

namespace temper::train {

struct Slot {
  std::string name;
  at::Tensor parameter;
  double decay = 0;
  double rate = 1; // factor of the learning rate
  std::int64_t since = 0; // the update before which it joined
  at::Tensor first; // momentum, or the mean of gradients
  at::Tensor second; // the mean of their squares
};

// The next values of a slot; undefined where there is nothing.
struct Next {
  at::Tensor parameter;
  at::Tensor first;
  at::Tensor second;
};

// The moment that an update computes with: the moment itself, or a float32 copy
// of one that is kept in bf16.
at::Tensor wide(const at::Tensor& moment);
// The computed moment as the slot keeps it, rounded at random if that is bf16.
at::Tensor kept(const at::Tensor& moment, const at::Tensor& computed);

class Rule : public Optimizer {
 public:
  Rule(
      const config::Optimizer& options,
      const std::vector<model::NamedTensor>& parameters,
      const LateParameters& joined,
      bool needs_first,
      bool needs_second);

  void step(double lr, std::int64_t update, const CommitGate& gate) final;
  std::vector<model::NamedTensor> state() const final;

 protected:
  struct Update {
    double lr;
    std::int64_t before; // updates before this one
    const CommitGate& gate;
  };

  // The rule in LibTorch's operators: new tensors, the slot is left alone.
  virtual Next computed(
      const Slot& slot,
      const at::Tensor& gradient,
      const Update& now) const = 0;
  // The same rule by the kernels, in place, for a run of the slot's numbers.
  virtual void apply(
      const Slot& slot,
      const Update& now,
      const ElementSpans::Span& run) const = 0;

  // The gradient with L2's part added; the gradient itself is left alone.
  static at::Tensor
  with_l2(const Slot& slot, const at::Tensor& gradient, const Update& now) {
    return slot.decay == 0 ? gradient
                           : now.gate.sum(gradient, slot.parameter, slot.decay);
  }
  // Decay beside the gradient, as AdamW and Lion have it.
  static double keep(const Slot& slot, const Update& now) {
    return slot.decay == 0 ? 1 : 1 - now.lr * slot.decay;
  }
  static at::Tensor shrunk(const Slot& slot, const Update& now) {
    return slot.decay == 0 ? slot.parameter
                           : now.gate.scaled(slot.parameter, keep(slot, now));
  }

  config::Optimizer options_;
  std::vector<Slot> slots_;

 private:
  void seed_noise(const Slot& slot, std::int64_t update, std::size_t i) const;
};

} // namespace temper::train

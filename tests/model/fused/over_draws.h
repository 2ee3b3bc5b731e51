// Fused ops of convolutions and BatchNorm against LibTorch's own operators,
// over several draws of their inputs, both held against float64. Needs torch.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>

#include "temper/model/fused/layers.h"
#include "tests/model/fused/against_float64.h"

namespace temper::model {

inline at::Tensor act_by_torch(Activation act, const at::Tensor& x) {
  switch (act) {
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kRelu6:
      return at::hardtanh(x, 0, 6);
    case Activation::kHardswish:
      return at::hardswish(x);
    case Activation::kSilu:
      return at::silu(x);
    default:
      return x;
  }
}

inline at::Tensor norm_by_torch(
    const NormSpec& spec,
    const at::Tensor& x,
    const OpTensors& in,
    std::size_t at) {
  return at::batch_norm(
      x,
      in[at],
      in[at + 1],
      in[at + 2],
      in[at + 3],
      spec.training,
      spec.momentum,
      spec.eps,
      false);
}

inline at::Tensor
conv_by_torch(const ConvSpec& spec, const at::Tensor& x, const at::Tensor& w) {
  return at::conv2d(
      x,
      w,
      {},
      {spec.stride[0], spec.stride[1]},
      {spec.padding[0], spec.padding[1]},
      {spec.dilation[0], spec.dilation[1]},
      spec.groups);
}

// Copies that are leaves; running statistics want no gradient.
inline OpTensors leaves(const OpTensors& inputs, at::ScalarType type) {
  OpTensors copies;
  for (const at::Tensor& one : inputs)
    copies.push_back(
        one.defined() ? one.detach()
                            .to(type, false, true)
                            .requires_grad_(one.requires_grad())
                      : at::Tensor());
  return copies;
}

struct BlockOutcome {
  at::Tensor result;
  OpTensors gradients;
  OpTensors inputs; // after the call: buffers may have changed
};

inline BlockOutcome
outcome(const Formula& compute, OpTensors inputs, const at::Tensor& gradient) {
  BlockOutcome found;
  found.result = compute(inputs);
  found.result.backward(gradient.to(found.result.scalar_type()));
  for (const at::Tensor& one : inputs)
    found.gradients.push_back(one.defined() ? one.grad() : at::Tensor());
  found.inputs = inputs;
  return found;
}

// Relative to the truth, or to numbers of about one where the truth is zero.
inline double distance_to_truth(
    const at::Tensor& found,
    const at::Tensor& truth) {
  const double size = truth.norm().item<double>() +
      std::sqrt(static_cast<double>(truth.numel()));
  return (found.to(at::kDouble) - truth).norm().item<double>() / size;
}

// So many times as far from float64 as LibTorch's float32, and a few roundings.
struct Allowed {
  double times = 2;
  double roundings = 2e-7;
};

// Errors of results and gradients over several draws of the inputs. A single
// draw says little: where a normalisation's gradient nearly cancels, roundings
// grow by chance, on either side.
struct Errors {
  std::map<std::string, double> ours, stock; // sums of logarithms
  int draws = 0;

  void add(
      const at::Tensor& found,
      const at::Tensor& by_torch,
      const at::Tensor& truth,
      const std::string& what) {
    ASSERT_TRUE(found.defined()) << what;
    ASSERT_EQ(found.sizes(), truth.sizes()) << what;
    ours[what] += std::log(distance_to_truth(found, truth) + 1e-8);
    stock[what] += std::log(distance_to_truth(by_torch, truth) + 1e-8);
  }

  void check(const Allowed& allowed) const {
    for (const auto& [what, sum] : ours) {
      const double by_torch = std::exp(stock.at(what) / draws);
      EXPECT_LE(
          std::exp(sum / draws), allowed.times * by_torch + allowed.roundings)
          << what << ", LibTorch " << by_torch;
    }
  }
};

inline void add_errors(
    Errors& errors,
    const OpTensors& inputs,
    const BlockOutcome& ours,
    const BlockOutcome& plain,
    const BlockOutcome& truth) {
  errors.add(ours.result, plain.result, truth.result, "result");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    const std::string name = "input " + std::to_string(i);
    if (inputs[i].requires_grad())
      errors.add(
          ours.gradients[i],
          plain.gradients[i],
          truth.gradients[i],
          "gradient of " + name);
    else // running statistics, or an x that wants none
      errors.add(
          ours.inputs[i].detach(),
          plain.inputs[i].detach(),
          truth.inputs[i].detach(),
          name);
  }
}

constexpr int kDraws = 5;

// Winograd's gradients of x are so much further from float64 than a direct
// sum's: docs/precision.md. Its transforms round by themselves, however exact
// the direct sum of a LibTorch without AVX2 is.
constexpr Allowed kByWinograd{8, 1.2e-5};

// `draw` makes inputs anew.
inline void compare(
    const OpPointer& op,
    const std::function<OpTensors()>& draw,
    const Formula& stock,
    bool every_target = false,
    const Allowed& allowed = {}) {
  std::vector<kernels::Target> targets{kernels::target()};
  if (every_target) targets = kernels::runnable_targets();
  std::vector<Errors> errors(targets.size());
  for (int i = 0; i < kDraws; ++i) {
    const OpTensors inputs = draw();
    ASSERT_TRUE(op->takes(inputs));
    at::Tensor gradient;
    {
      OpTensors probe = leaves(inputs, at::kDouble);
      const at::NoGradGuard none;
      gradient = at::randn_like(stock(probe)).to(at::kFloat);
    }
    const BlockOutcome truth =
        outcome(stock, leaves(inputs, at::kDouble), gradient);
    const BlockOutcome plain =
        outcome(stock, leaves(inputs, at::kFloat), gradient);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      kernels::choose_target(targets[t]);
      const BlockOutcome ours = outcome(
          [&](const OpTensors& in) { return apply_fused(op, in); },
          leaves(inputs, at::kFloat),
          gradient);
      if (ours.result.dim() == 4) {
        EXPECT_TRUE(ours.result.is_contiguous(at::MemoryFormat::ChannelsLast));
      }
      add_errors(errors[t], inputs, ours, plain, truth);
      ++errors[t].draws;
    }
  }
  kernels::choose_fastest_target();
  for (std::size_t t = 0; t < targets.size(); ++t) {
    SCOPED_TRACE(kernels::name_of(targets[t]));
    errors[t].check(allowed);
  }
}

inline at::Tensor wanting(const at::Tensor& tensor) {
  return tensor.detach().requires_grad_(true);
}

// Norm weight, bias, running mean and variance.
inline void add_norm(OpTensors& inputs, std::int64_t channels) {
  inputs.push_back(wanting(at::rand({channels}) + 0.5));
  inputs.push_back(wanting(at::randn({channels})));
  inputs.push_back(at::randn({channels}));
  inputs.push_back(at::rand({channels}) + 0.5);
}

// The kernels on LibTorch's threads, and the same inputs every time.
class OnTorchThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    torch::manual_seed(5);
    use_torch_threads();
  }
  void TearDown() override {
    kernels::set_thread_count(nullptr);
  }
};

inline const Activation kEvery[] = {
    Activation::kNone,
    Activation::kRelu,
    Activation::kRelu6,
    Activation::kHardswish,
    Activation::kSilu};

} // namespace temper::model

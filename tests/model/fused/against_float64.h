// Fused ops against LibTorch's own operators, both measured by the same
// operators in float64. Needs torch.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"
#include "temper/model/fused/fused_op.h"
#include "temper/model/fused/torch_threads.h"

namespace temper::model {

using OpTensors = FusedOp::Tensors;
using Formula = std::function<at::Tensor(const OpTensors&)>;

// The result and then the gradients of all inputs that want one.
inline OpTensors result_and_gradients(
    const Formula& formula,
    const OpTensors& inputs,
    at::ScalarType type,
    const at::Tensor& gradient) {
  OpTensors used;
  OpTensors wanted;
  for (const at::Tensor& input : inputs) {
    if (!input.defined() || !input.is_floating_point()) {
      used.push_back(input);
      continue;
    }
    at::Tensor copy = type == at::kFloat
        ? input.detach().alias() // with the strides it came with
        : input.detach().to(type);
    copy.requires_grad_(input.requires_grad());
    used.push_back(copy);
    if (input.requires_grad()) wanted.push_back(copy);
  }
  OpTensors found{formula(used)};
  if (wanted.empty()) return found;
  const auto gradients = torch::autograd::grad(
      {found[0]}, wanted, {gradient.to(type)}, false, false, true);
  found[0] = found[0].detach();
  for (const at::Tensor& one : gradients)
    found.push_back(one);
  return found;
}

inline double relative_error(const at::Tensor& found, const at::Tensor& exact) {
  const double size = exact.norm().item<double>();
  return (found.to(at::kDouble) - exact).norm().item<double>() /
      (size > 0 ? size : 1.0);
}

// Every number off by at most one rounding of float32, at random.
inline at::Tensor rounded_at_random(const at::Tensor& tensor) {
  constexpr double kRounding = 1.0 / (1 << 24);
  return tensor *
      (1 + (at::rand(tensor.sizes(), at::kDouble) * 2 - 1) * kRounding);
}

// How far result and gradients move when all they are made of is off by a
// rounding: sums that cancel move far.
inline std::vector<double> moved_by_roundings(
    const Formula& stock,
    const OpTensors& inputs,
    const at::Tensor& gradient,
    const OpTensors& exact) {
  OpTensors off;
  for (const at::Tensor& input : inputs)
    off.push_back(
        !input.defined() || !input.is_floating_point()
            ? input
            : rounded_at_random(input.detach().to(at::kDouble))
                  .requires_grad_(input.requires_grad()));
  const OpTensors moved = result_and_gradients(
      stock, off, at::kDouble, rounded_at_random(gradient.to(at::kDouble)));
  std::vector<double> found;
  for (std::size_t i = 0; i < exact.size(); ++i)
    found.push_back(relative_error(moved[i], exact[i]));
  return found;
}

// No further from float64 than twice what LibTorch's float32 is, but for a few
// roundings of what goes in and of the result itself.
inline void expect_as_exact(
    const std::shared_ptr<const FusedOp>& op,
    const Formula& stock,
    const OpTensors& inputs) {
  constexpr double kRounding = 1.0 / (1 << 24);
  constexpr double kFew = 4;
  const Formula ours = [&](const OpTensors& in) { return apply_fused(op, in); };
  ASSERT_TRUE(op->takes(inputs));
  at::Tensor gradient;
  {
    const at::NoGradGuard no_grad;
    gradient = at::randn_like(stock(inputs));
  }
  const OpTensors exact =
      result_and_gradients(stock, inputs, at::kDouble, gradient);
  const OpTensors usual =
      result_and_gradients(stock, inputs, at::kFloat, gradient);
  const std::vector<double> moved =
      moved_by_roundings(stock, inputs, gradient, exact);
  for (const kernels::Target target : kernels::runnable_targets()) {
    SCOPED_TRACE(kernels::name_of(target));
    kernels::choose_target(target);
    const OpTensors found =
        result_and_gradients(ours, inputs, at::kFloat, gradient);
    ASSERT_EQ(found.size(), exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      SCOPED_TRACE(i == 0 ? "result" : "gradient " + std::to_string(i - 1));
      ASSERT_EQ(found[i].sizes(), exact[i].sizes());
      EXPECT_LE(
          relative_error(found[i], exact[i]),
          2 * relative_error(usual[i], exact[i]) +
              kFew * std::max(kRounding, moved[i]));
    }
    // Without gradients the result is the same.
    const at::NoGradGuard no_grad;
    EXPECT_TRUE(at::equal(apply_fused(op, inputs), found[0]));
  }
  kernels::choose_fastest_target();
}

// The same bits with one thread and with several.
inline void expect_same_bits_on_threads(
    const std::shared_ptr<const FusedOp>& op,
    const OpTensors& inputs) {
  const Formula ours = [&](const OpTensors& in) { return apply_fused(op, in); };
  use_torch_threads();
  const int threads = at::get_num_threads();
  std::vector<OpTensors> all;
  at::Tensor gradient;
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    if (!gradient.defined()) {
      const at::NoGradGuard no_grad;
      gradient = at::randn_like(ours(inputs));
    }
    all.push_back(result_and_gradients(ours, inputs, at::kFloat, gradient));
  }
  at::set_num_threads(threads);
  kernels::set_thread_count(nullptr);
  for (const OpTensors& other : all)
    for (std::size_t i = 0; i < other.size(); ++i)
      EXPECT_TRUE(at::equal(all.front()[i], other[i])) << i;
}

inline at::Tensor
normal(at::IntArrayRef sizes, double size = 1, bool wants_gradient = true) {
  return (at::randn(sizes) * size).requires_grad_(wants_gradient);
}

} // namespace temper::model

// How far temper's kernels and LibTorch's operators are from float64, layer by
// layer: the result and the gradients, as relative L2 distances.
//
//   temper_bench_kernels_errors
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "temper/model/fused/layers.h"
#include "temper/model/fused/torch_threads.h"

namespace {

using namespace temper;
using Tensors = model::FusedOp::Tensors;
using Formula = std::function<at::Tensor(const Tensors&)>;

// The result, then the gradients of all inputs.
Tensors
computed(const Formula& formula, const Tensors& inputs, at::ScalarType type) {
  Tensors used;
  Tensors wanted;
  for (const at::Tensor& input : inputs) {
    used.push_back(input);
    if (!input.defined()) continue;
    used.back() = input.detach().to(type).clone().requires_grad_(true);
    wanted.push_back(used.back());
  }
  const at::Tensor y = formula(used);
  at::manual_seed(2);
  const at::Tensor gradient = at::randn(y.sizes()).to(type);
  Tensors found{y.detach()};
  for (const at::Tensor& one : torch::autograd::grad({y}, wanted, {gradient}))
    found.push_back(one);
  return found;
}

double apart(const at::Tensor& a, const at::Tensor& exact) {
  return (a.to(at::kDouble) - exact).norm().item<double>() /
      exact.norm().item<double>();
}

void compare(
    const std::string& name,
    const model::OpPointer& op,
    const Formula& stock,
    const Tensors& inputs) {
  const Formula ours = [&](const Tensors& in) {
    return model::apply_fused(op, in);
  };
  if (!op->takes(inputs)) {
    std::printf("%-30s not taken\n", name.c_str());
    return;
  }
  const Tensors exact = computed(stock, inputs, at::kDouble);
  const Tensors theirs = computed(stock, inputs, at::kFloat);
  const Tensors found = computed(ours, inputs, at::kFloat);
  std::printf("%-30s", name.c_str());
  const char* columns[] = {"result", "dx", "dweight", "dbias"};
  for (std::size_t i = 0; i < exact.size() && i < 4; ++i)
    std::printf(
        "  %s %.1e (%.1e)",
        columns[i],
        apart(found[i], exact[i]),
        apart(theirs[i], exact[i]));
  std::printf("\n");
}

at::Tensor
images(std::int64_t count, std::int64_t channels, std::int64_t side) {
  return at::randn({count, channels, side, side})
      .contiguous(at::MemoryFormat::ChannelsLast);
}

void convolution(
    std::int64_t channels,
    std::int64_t side,
    std::int64_t kernel,
    std::int64_t stride) {
  const std::int64_t padding = (kernel - 1) / 2;
  model::ConvSpec spec;
  spec.kernel = {kernel, kernel};
  spec.stride = {stride, stride};
  spec.padding = {padding, padding};
  char name[64];
  std::snprintf(
      name,
      sizeof name,
      "conv %dx%d/%d %dch %dx%d",
      static_cast<int>(kernel),
      static_cast<int>(kernel),
      static_cast<int>(stride),
      static_cast<int>(channels),
      static_cast<int>(side),
      static_cast<int>(side));
  compare(
      name,
      model::make_convolution(spec),
      [=](const Tensors& in) {
        return at::conv2d(
            in[0], in[1], {}, {stride, stride}, {padding, padding});
      },
      {images(16, channels, side),
       images(channels, channels, kernel),
       at::Tensor()});
}

} // namespace

int main() {
  model::use_torch_threads();
  at::manual_seed(1);
  std::printf("temper's kernels (LibTorch's float32), both against float64\n");
  for (const auto& [channels, side] :
       {std::pair{64, 32}, {128, 16}, {256, 8}, {512, 4}})
    convolution(channels, side, 3, 1);
  convolution(64, 32, 3, 2);
  convolution(256, 8, 3, 2);
  convolution(64, 32, 1, 1);
  convolution(16, 32, 5, 1);
  compare(
      "linear 768 to 192",
      model::make_linear(model::Activation::kNone),
      [](const Tensors& in) { return at::linear(in[0], in[1], in[2]); },
      {at::randn({2048, 768}), at::randn({192, 768}), at::randn({192}), {}});
  compare(
      "LayerNorm 192",
      model::make_layer_norm(1e-5),
      [](const Tensors& in) {
        return at::layer_norm(in[0], {192}, in[1], in[2], 1e-5);
      },
      {at::randn({2048, 192}), at::randn({192}), at::randn({192})});
  compare(
      "mean over 7x7",
      model::make_mean_pool(true),
      [](const Tensors& in) {
        return at::mean(in[0], {2, 3}, true);
      },
      {images(16, 1280, 7)});
  return 0;
}

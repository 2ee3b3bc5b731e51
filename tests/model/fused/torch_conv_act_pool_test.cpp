#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "temper/kernels/simd/threads.h"
#include "temper/model/fused/layers.h"
#include "temper/model/fused/torch_threads.h"

namespace temper::model {
namespace {

ConvSpec pooled_spec(std::int64_t padding) {
  ConvSpec spec;
  spec.kernel = {3, 3};
  spec.padding = {padding, padding};
  return spec;
}

struct Pooled {
  at::Tensor y;
  at::Tensor x;
  at::Tensor weight;
  at::Tensor bias;
};

struct PoolCase {
  at::Tensor x;
  at::Tensor weight;
  at::Tensor bias;
  std::int64_t padding = 0;
  bool relu = true;
};

at::Tensor leaf_of(const at::Tensor& from, at::ScalarType type) {
  if (!from.defined()) return {};
  return from.detach().to(type).requires_grad_();
}

at::Tensor gradient_of(const at::Tensor& leaf) {
  return leaf.defined() ? leaf.grad() : at::Tensor();
}

Pooled pooled_by_torch(
    const PoolCase& of,
    const at::Tensor& gradient,
    at::ScalarType type) {
  const at::Tensor x = leaf_of(of.x, type);
  const at::Tensor weight = leaf_of(of.weight, type);
  const at::Tensor bias = leaf_of(of.bias, type);
  at::Tensor y = at::conv2d(x, weight, bias, {1, 1}, {of.padding, of.padding});
  if (of.relu) y = at::relu(y);
  y = at::max_pool2d(y, {2, 2});
  y.backward(gradient.defined() ? gradient.to(type) : at::ones_like(y));
  return {y.detach(), x.grad(), weight.grad(), gradient_of(bias)};
}

Pooled pooled_by_op(const PoolCase& of, const at::Tensor& gradient) {
  const OpPointer op = make_conv_act_pool(
      pooled_spec(of.padding),
      of.relu ? Activation::kRelu : Activation::kNone,
      2);
  const at::Tensor x = leaf_of(of.x, at::kFloat);
  const at::Tensor weight = leaf_of(of.weight, at::kFloat);
  const at::Tensor bias = leaf_of(of.bias, at::kFloat);
  EXPECT_TRUE(op->takes({x, weight, bias}));
  const at::Tensor y = apply_fused(op, {x, weight, bias});
  y.backward(gradient);
  return {y.detach(), x.grad(), weight.grad(), gradient_of(bias)};
}

double relative(const at::Tensor& a, const at::Tensor& exact) {
  return (a.to(at::kDouble) - exact).norm().item<double>() /
      exact.norm().item<double>();
}

// Where two pixels of a cell are nearly the same, rounding chooses between
// them, and the gradients of x and the weight move: the data are whole numbers
// of a coarse grid, whose sums are exact.
at::Tensor coarse(at::IntArrayRef sizes) {
  return (at::randn(sizes) * 16).round() / 16;
}

PoolCase pool_case(
    std::int64_t channels,
    std::int64_t out,
    std::int64_t height,
    std::int64_t width,
    std::int64_t padding) {
  PoolCase made;
  made.x = coarse({2, channels, height, width});
  made.weight = coarse({out, channels, 3, 3});
  made.bias = coarse({out});
  made.padding = padding;
  return made;
}

TEST(TorchConvActPool, AgreesWithConvolutionReluAndPooling) {
  at::manual_seed(5);
  for (const auto& [channels, out, height, width, padding] :
       {std::array<std::int64_t, 5>{3, 32, 16, 18, 0},
        {3, 32, 16, 18, 1},
        {1, 8, 28, 28, 1},
        {1, 16, 9, 9, 0},
        {4, 24, 11, 70, 1},
        {2, 13, 7, 6, 1},
        {12, 40, 8, 8, 0}})
    for (const bool relu : {true, false}) {
      SCOPED_TRACE(channels);
      PoolCase of = pool_case(channels, out, height, width, padding);
      of.relu = relu;
      const at::Tensor sizes = pooled_by_torch(of, {}, at::kDouble).y;
      const at::Tensor gradient = coarse(sizes.sizes());
      const Pooled exact = pooled_by_torch(of, gradient, at::kDouble);
      const Pooled ours = pooled_by_op(of, gradient);
      EXPECT_LE(relative(ours.y, exact.y), 1e-7);
      EXPECT_LE(relative(ours.x, exact.x), 1e-6);
      EXPECT_LE(relative(ours.weight, exact.weight), 1e-6);
      EXPECT_LE(relative(ours.bias, exact.bias), 1e-6);
      EXPECT_EQ(ours.weight.strides(), of.weight.strides());
      EXPECT_TRUE(ours.y.is_contiguous(at::MemoryFormat::ChannelsLast));
    }
}

TEST(TorchConvActPool, ABiasMayBeMissing) {
  PoolCase of = pool_case(3, 16, 10, 10, 1);
  of.bias = at::Tensor();
  of.weight = of.weight.contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor gradient = coarse({2, 16, 5, 5});
  const Pooled exact = pooled_by_torch(of, gradient, at::kDouble);
  const Pooled ours = pooled_by_op(of, gradient);
  EXPECT_LE(relative(ours.y, exact.y), 1e-7);
  EXPECT_LE(relative(ours.weight, exact.weight), 1e-6);
  EXPECT_EQ(ours.weight.strides(), of.weight.strides());
}

TEST(TorchConvActPool, NansComeThroughAsInLibTorch) {
  PoolCase of = pool_case(3, 16, 10, 10, 0);
  of.x[0][1][3][3] = NAN;
  const at::Tensor gradient = coarse({2, 16, 4, 4});
  const Pooled stock = pooled_by_torch(of, gradient, at::kFloat);
  const Pooled ours = pooled_by_op(of, gradient);
  EXPECT_TRUE(ours.y.isnan().equal(stock.y.isnan()));
  EXPECT_GT(ours.y.isnan().sum().item<std::int64_t>(), 0);
  EXPECT_TRUE(ours.weight.isnan().any().item<bool>());
}

TEST(TorchConvActPool, BitsDoNotDependOnThreads) {
  use_torch_threads();
  const int before = at::get_num_threads();
  PoolCase of = pool_case(3, 32, 64, 64, 0);
  of.x = at::randn({4, 3, 64, 64});
  const at::Tensor gradient = at::randn({4, 32, 31, 31});
  at::set_num_threads(1);
  const Pooled one = pooled_by_op(of, gradient);
  at::set_num_threads(2);
  const Pooled two = pooled_by_op(of, gradient);
  EXPECT_TRUE(one.y.equal(two.y));
  EXPECT_TRUE(one.weight.equal(two.weight));
  EXPECT_TRUE(one.bias.equal(two.bias));
  at::set_num_threads(before);
  kernels::set_thread_count(nullptr);
}

TEST(TorchConvActPool, DeclinesWhatLibTorchComputes) {
  const PoolCase of = pool_case(3, 16, 10, 10, 1);
  const OpPointer op = make_conv_act_pool(pooled_spec(1), Activation::kRelu, 2);
  EXPECT_TRUE(op->takes({of.x, of.weight, of.bias}));
  EXPECT_FALSE(op->takes({of.x.to(at::kDouble), of.weight, of.bias}));
  EXPECT_FALSE(op->takes({of.x.slice(0, 0, 0), of.weight, of.bias}));
  EXPECT_FALSE(
      op->takes({at::randn({1, 64, 8, 8}), at::randn({8, 64, 3, 3}), {}}));
  EXPECT_EQ(make_conv_act_pool(pooled_spec(1), Activation::kSilu, 2), nullptr);
  EXPECT_EQ(make_conv_act_pool(pooled_spec(1), Activation::kRelu, 3), nullptr);
}

} // namespace
} // namespace temper::model

#include "temper/model/fused/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "temper/kernels/simd/threads.h"
#include "tests/model/fused/against_float64.h"

namespace temper::model {
namespace {

struct Layer {
  std::int64_t batch;
  std::int64_t in;
  std::int64_t height;
  std::int64_t width;
  std::int64_t out;
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding;

  ConvSpec spec() const {
    ConvSpec spec;
    spec.kernel = {kernel, kernel};
    spec.stride = {stride, stride};
    spec.padding = {padding, padding};
    return spec;
  }
  std::string text() const {
    std::string text;
    for (const std::int64_t number :
         {batch, in, height, width, out, kernel, stride, padding})
      text += std::to_string(number) + " ";
    return text;
  }
};

struct Tensors {
  at::Tensor x;
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor gradient; // of the result; undefined: made when it is needed
};

Tensors made_for(const Layer& layer) {
  at::manual_seed(layer.in * 31 + layer.out);
  Tensors made;
  made.x = at::randn({layer.batch, layer.in, layer.height, layer.width})
               .contiguous(at::MemoryFormat::ChannelsLast);
  const double fan =
      static_cast<double>(layer.in * layer.kernel * layer.kernel);
  made.weight = at::randn({layer.out, layer.in, layer.kernel, layer.kernel}) *
      std::sqrt(2 / fan);
  made.bias = at::randn({layer.out});
  return made;
}

struct Results {
  at::Tensor y;
  at::Tensor x;
  at::Tensor weight;
  at::Tensor bias;
};

Results through_torch(const Layer& layer, Tensors& of, at::ScalarType type) {
  const auto leaf = [&](const at::Tensor& from) {
    return from.detach().to(type).requires_grad_();
  };
  const at::Tensor x = leaf(of.x);
  const at::Tensor weight = leaf(of.weight);
  const at::Tensor bias = of.bias.defined() ? leaf(of.bias) : at::Tensor();
  const at::Tensor y = at::conv2d(
      x,
      weight,
      bias,
      {layer.stride, layer.stride},
      {layer.padding, layer.padding});
  if (!of.gradient.defined()) of.gradient = at::randn(y.sizes());
  y.backward(of.gradient.to(type));
  return {
      y.detach(),
      x.grad(),
      weight.grad(),
      bias.defined() ? bias.grad() : at::Tensor()};
}

Results through_op(const OpPointer& op, const Tensors& of) {
  const auto leaf = [](const at::Tensor& from) {
    return from.detach().requires_grad_();
  };
  const at::Tensor x = leaf(of.x);
  const at::Tensor weight = leaf(of.weight);
  const at::Tensor bias = of.bias.defined() ? leaf(of.bias) : at::Tensor();
  EXPECT_TRUE(op->takes({x, weight, bias}));
  const at::Tensor y = apply_fused(op, {x, weight, bias});
  y.backward(of.gradient);
  return {
      y.detach(),
      x.grad(),
      weight.grad(),
      bias.defined() ? bias.grad() : at::Tensor()};
}

// F(4x4) may be a few times as far off as a direct sum (docs/precision.md);
// sums of k products that are rounded at random are about sqrt(k) roundings
// off.
double allowed(const Layer& layer, double stock, bool transforms) {
  const double rounding = 6e-8;
  const double products =
      static_cast<double>(layer.in * layer.kernel * layer.kernel);
  if (!transforms) return 2 * stock + 4 * rounding;
  return 3 * stock + rounding * (8 + 1.0 * std::sqrt(products));
}

void expect_as_close_as_torch(const Layer& layer, Tensors of, bool transforms) {
  SCOPED_TRACE(layer.text());
  const Results truth = through_torch(layer, of, at::kDouble);
  const Results stock = through_torch(layer, of, at::kFloat);
  const Results ours = through_op(make_convolution(layer.spec()), of);
  const auto compare = [&](const char* what,
                           const at::Tensor& mine,
                           const at::Tensor& theirs,
                           const at::Tensor& exact) {
    EXPECT_EQ(mine.defined(), exact.defined()) << what;
    if (!exact.defined()) return;
    EXPECT_EQ(mine.sizes(), exact.sizes()) << what;
    EXPECT_LE(
        relative_error(mine, exact),
        allowed(layer, relative_error(theirs, exact), transforms))
        << what;
  };
  compare("y", ours.y, stock.y, truth.y);
  compare("x", ours.x, stock.x, truth.x);
  compare("weight", ours.weight, stock.weight, truth.weight);
  compare("bias", ours.bias, stock.bias, truth.bias);
  EXPECT_TRUE(ours.y.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_EQ(ours.weight.strides(), of.weight.strides());
}

TEST(TorchConvolution, WinogradKeepsWhatThePrecisionPageStates) {
  for (const Layer& layer :
       {Layer{4, 64, 16, 16, 64, 3, 1, 1},
        Layer{2, 128, 8, 8, 128, 3, 1, 1},
        Layer{8, 256, 4, 4, 256, 3, 1, 1},
        Layer{2, 32, 14, 14, 48, 3, 1, 1},
        Layer{1, 17, 9, 13, 40, 3, 1, 0},
        Layer{2, 64, 7, 7, 64, 3, 1, 2},
        Layer{4, 64, 16, 16, 128, 3, 2, 1},
        Layer{2, 40, 17, 15, 24, 3, 2, 1},
        Layer{2, 48, 18, 16, 32, 3, 2, 0}})
    expect_as_close_as_torch(layer, made_for(layer), true);
}

TEST(TorchConvolution, GatheredRowsAreAsExactAsLibTorch) {
  for (const Layer& layer :
       {Layer{2, 3, 16, 16, 64, 7, 2, 3},
        Layer{2, 3, 12, 10, 32, 3, 1, 1},
        Layer{8, 64, 2, 2, 64, 3, 1, 1},
        Layer{8, 128, 1, 1, 96, 3, 1, 1},
        Layer{4, 32, 2, 2, 64, 3, 2, 1},
        Layer{2, 32, 9, 9, 24, 1, 2, 0},
        Layer{1, 1, 28, 28, 6, 5, 1, 2},
        Layer{2, 7, 11, 6, 13, 5, 3, 1},
        Layer{1, 3, 35, 35, 16, 11, 4, 2},
        Layer{3, 1280, 1, 1, 10, 1, 1, 0}})
    expect_as_close_as_torch(layer, made_for(layer), false);
}

TEST(TorchConvolution, TakesAnyStridesAndNoBias) {
  const Layer layer{2, 32, 9, 8, 16, 3, 1, 1};
  Tensors of = made_for(layer);
  of.bias = at::Tensor();
  of.x = of.x.contiguous(); // NCHW
  of.weight = of.weight.contiguous(at::MemoryFormat::ChannelsLast);
  expect_as_close_as_torch(layer, of, true);
  of.x = at::randn({2, 32, 8, 9}).transpose(2, 3);
  of.gradient = at::randn({2, 16, 8, 9}).transpose(2, 3);
  expect_as_close_as_torch(layer, of, true);
}

TEST(TorchConvolution, RectanglesHaveTwoStridesAndPaddings) {
  ConvSpec spec;
  spec.kernel = {3, 5};
  spec.stride = {2, 1};
  spec.padding = {1, 0};
  const at::Tensor x = at::randn({2, 6, 9, 11});
  const at::Tensor weight = at::randn({8, 6, 3, 5});
  const at::Tensor mine =
      make_convolution(spec)->forward({x, weight, {}}, nullptr);
  const at::Tensor exact =
      at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), {}, {2, 1}, {1, 0});
  EXPECT_LE(relative_error(mine, exact), 1e-6);
}

TEST(TorchConvolution, BitsDoNotDependOnThreads) {
  use_torch_threads();
  const int before = at::get_num_threads();
  for (const Layer& layer :
       {Layer{8, 64, 16, 16, 64, 3, 1, 1},
        Layer{16, 64, 16, 16, 64, 3, 2, 1},
        Layer{16, 128, 4, 4, 256, 3, 1, 1},
        Layer{16, 3, 32, 32, 32, 7, 2, 3},
        Layer{64, 128, 2, 2, 128, 3, 1, 1}}) {
    SCOPED_TRACE(layer.text());
    Tensors of = made_for(layer);
    through_torch(layer, of, at::kFloat);
    const OpPointer op = make_convolution(layer.spec());
    at::set_num_threads(1);
    const Results one = through_op(op, of);
    at::set_num_threads(2);
    const Results two = through_op(op, of);
    EXPECT_TRUE(one.y.equal(two.y));
    EXPECT_TRUE(one.x.equal(two.x));
    EXPECT_TRUE(one.weight.equal(two.weight));
    EXPECT_TRUE(one.bias.equal(two.bias));
  }
  at::set_num_threads(before);
  kernels::set_thread_count(nullptr);
}

TEST(TorchConvolution, NansStay) {
  const Layer layer{1, 16, 8, 8, 16, 3, 1, 1};
  const Tensors of = made_for(layer);
  of.x[0][3][2][2] = NAN;
  const at::Tensor y = make_convolution(layer.spec())
                           ->forward({of.x, of.weight, of.bias}, nullptr);
  EXPECT_TRUE(y[0].select(1, 2).select(1, 2).isnan().all().item<bool>());
}

TEST(TorchConvolution, DeclinesWhatLibTorchComputes) {
  const Layer layer{2, 8, 6, 6, 8, 3, 1, 1};
  const Tensors of = made_for(layer);
  const OpPointer op = make_convolution(layer.spec());
  EXPECT_TRUE(op->takes({of.x, of.weight, {}}));
  EXPECT_FALSE(op->takes({of.x.to(at::kBFloat16), of.weight, {}}));
  EXPECT_FALSE(op->takes({of.x.to(at::kDouble), of.weight, {}}));
  EXPECT_FALSE(op->takes({of.x, of.weight.to(at::kDouble), {}}));
  EXPECT_FALSE(op->takes({of.x.slice(0, 0, 0), of.weight, {}}));
  EXPECT_FALSE(op->takes({of.x[0], of.weight, {}}));
  EXPECT_FALSE(op->takes({of.x.slice(1, 0, 4), of.weight, {}}));
  ConvSpec groups = layer.spec();
  groups.groups = 2;
  EXPECT_EQ(make_convolution(groups), nullptr);
  ConvSpec dilated = layer.spec();
  dilated.dilation = {2, 2};
  EXPECT_EQ(make_convolution(dilated), nullptr);
}

} // namespace
} // namespace temper::model

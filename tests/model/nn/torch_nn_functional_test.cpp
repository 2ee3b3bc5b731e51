// Fused kernels in networks written in C++: results, gradients and second
// derivatives beside LibTorch's operators, held against float64; and what no
// kernel takes.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "temper/libtorch/onednn.h"
#include "temper/model/nn/functional.h"

namespace temper::nn {
namespace {

namespace F = torch::nn::functional;

using Inputs = std::vector<at::Tensor>;
using Layer = std::function<at::Tensor(const Inputs&)>;

// The result, the inputs' gradients, and those of a function of the gradients.
std::vector<at::Tensor>
derivatives(const Layer& layer, const Inputs& from, at::ScalarType type) {
  Inputs in;
  for (const at::Tensor& one : from)
    in.push_back(one.detach().to(type).clone().requires_grad_(true));
  const at::Tensor y = layer(in);
  std::vector<at::Tensor> found{y.detach()};
  const at::Tensor weights = at::linspace(0.5, 2, y.numel(), y.options());
  const at::Tensor loss = (y.reshape(-1) * weights).sum();
  // Kernels' own gradients, then those that are differentiated again.
  for (const at::Tensor& one :
       torch::autograd::grad({loss}, in, {}, true, false, true))
    found.push_back(one);
  const auto first = torch::autograd::grad({loss}, in, {}, true, true, true);
  at::Tensor size = at::zeros({}, y.options());
  for (const at::Tensor& one : first)
    if (one.defined()) size = size + one.square().sum();
  for (const at::Tensor& one :
       torch::autograd::grad({size}, in, {}, false, false, true))
    found.push_back(one);
  return found;
}

double off(const at::Tensor& found, const at::Tensor& truth) {
  const double size = truth.norm().item<double>();
  return (found.to(at::kDouble) - truth).norm().item<double>() /
      (size > 0 ? size : 1);
}

// The name of the node of autograd that made it.
std::string made_by(const at::Tensor& tensor) {
  return tensor.grad_fn() == nullptr ? "" : tensor.grad_fn()->name();
}

// `layer` must be computed by a kernel in float32 and by LibTorch in float64.
void expect_exact(const Layer& layer, const Layer& by_torch, Inputs inputs) {
  Inputs wanting;
  for (const at::Tensor& one : inputs)
    wanting.push_back(one.detach().requires_grad_(true));
  EXPECT_EQ(made_by(layer(wanting)), "FusedBackward");
  const auto truth = derivatives(by_torch, inputs, at::kDouble);
  const auto usual = derivatives(by_torch, inputs, at::kFloat);
  const auto ours = derivatives(layer, inputs, at::kFloat);
  const auto wide = derivatives(layer, inputs, at::kDouble);
  ASSERT_EQ(ours.size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(ours[i].defined(), truth[i].defined());
    if (!truth[i].defined()) continue;
    EXPECT_LE(off(ours[i], truth[i]), 2 * off(usual[i], truth[i]) + 3e-6);
    EXPECT_LE(off(wide[i], truth[i]), 1e-12); // LibTorch computed it
  }
}

struct Norm {
  torch::nn::Conv2dOptions options;
  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d norm;
};

Norm norm_with(torch::nn::Conv2dOptions options, bool training) {
  options.bias(false);
  Norm made{
      options,
      torch::nn::Conv2d(options),
      torch::nn::BatchNorm2d(options.out_channels())};
  made.norm->train(training);
  made.norm->running_mean.normal_();
  made.norm->running_var.uniform_(0.5, 2);
  return made;
}

// The formula with the layer's parameters as inputs 1 to 3.
at::Tensor
norm_formula(const Norm& of, const Inputs& in, Activation act, bool training) {
  const auto& options = of.conv->options;
  // A variant of c10's, and since 2.0 of the standard library's.
  const auto& padding = *get_if<torch::ExpandingArray<2>>(&options.padding());
  const at::Tensor y = at::conv2d(
      in.at(0),
      in.at(1),
      {},
      *options.stride(),
      *padding,
      *options.dilation(),
      options.groups());
  const at::Tensor none;
  const auto type = in.at(0).scalar_type();
  at::Tensor normed = at::batch_norm(
      y,
      in.at(2),
      in.at(3),
      training ? none : of.norm->running_mean.to(type),
      training ? none : of.norm->running_var.to(type),
      training,
      0.1,
      1e-5,
      false);
  if (in.size() > 4) normed = normed + in.at(4);
  return act == Activation::kRelu ? at::relu(normed)
      : act == Activation::kSilu  ? at::silu(normed)
                                  : normed;
}

// The same layer with other tensors for its parameters.
at::Tensor with_parameters(const Norm& of, const Inputs& in, Activation act) {
  Norm other{
      of.options,
      torch::nn::Conv2d(of.options),
      torch::nn::BatchNorm2d(of.norm->options)};
  other.conv->weight = in.at(1);
  other.norm->train(of.norm->is_training());
  other.norm->weight = in.at(2);
  other.norm->bias = in.at(3);
  const auto type = in.at(0).scalar_type();
  other.norm->running_mean = of.norm->running_mean.to(type, false, true);
  other.norm->running_var = of.norm->running_var.to(type, false, true);
  return conv_bn_act(
      in.at(0),
      other.conv,
      other.norm,
      act,
      in.size() > 4 ? in.at(4) : at::Tensor());
}

class NnFunctional : public testing::Test {
 protected:
  void SetUp() override {
    libtorch::keep_onednn_from_tiles(); // as whoever trains with temper does
    torch::manual_seed(3);
  }
};

TEST_F(NnFunctional, ConvBnActIsExactWithItsDerivativesOfTwoOrders) {
  using Options = torch::nn::Conv2dOptions;
  for (const bool training : {true, false})
    for (const auto& [options, residual] :
         {std::pair{Options(16, 24, 1), false},
          {Options(16, 24, 3).padding(1), true},
          {Options(3, 16, 3).stride(2).padding(1), false},
          {Options(16, 16, 3).padding(1).groups(16), true}}) {
      const Norm of = norm_with(options, training);
      Inputs in{
          at::randn({4, options.in_channels(), 8, 8}),
          of.conv->weight,
          at::rand({options.out_channels()}) + 0.5,
          at::randn({options.out_channels()})};
      if (residual) in.push_back(at::randn({4, options.out_channels(), 8, 8}));
      const Activation act = residual ? Activation::kSilu : Activation::kRelu;
      expect_exact(
          [&](const Inputs& x) { return with_parameters(of, x, act); },
          [&](const Inputs& x) { return norm_formula(of, x, act, training); },
          in);
    }
}

TEST_F(NnFunctional, ResidualComputedFromTheInputGetsItsOwnGradientOnly) {
  const Norm of = norm_with(torch::nn::Conv2dOptions(8, 8, 3).padding(1), true);
  const Inputs in{
      at::randn({4, 8, 6, 6}),
      of.conv->weight,
      at::rand({8}) + 0.5,
      at::randn({8})};
  const auto beside = [](Inputs x) {
    x.push_back(x.front().tanh());
    return x;
  };
  expect_exact(
      [&](const Inputs& x) {
        return with_parameters(of, beside(x), Activation::kSilu);
      },
      [&](const Inputs& x) {
        return norm_formula(of, beside(x), Activation::kSilu, true);
      },
      in);
}

TEST_F(NnFunctional, LinearLayerNormAndAttentionAreExact) {
  expect_exact(
      [](const Inputs& x) {
        return linear_act(x[0], x[1], x[2], Activation::kGelu, x[3]);
      },
      [](const Inputs& x) {
        return at::gelu(at::linear(x[0], x[1], x[2])) + x[3];
      },
      {at::randn({5, 7, 12}),
       at::randn({20, 12}),
       at::randn({20}),
       at::randn({5, 7, 20})});
  expect_exact(
      [](const Inputs& x) {
        return nn::layer_norm(x[0], {24}, x[1], x[2], 1e-5);
      },
      [](const Inputs& x) {
        return at::layer_norm(x[0], {24}, x[1], x[2], 1e-5);
      },
      {at::randn({3, 9, 24}), at::randn({24}), at::randn({24})});
  for (const bool causal : {false, true})
    expect_exact(
        [=](const Inputs& x) {
          return attention(x[0], x[1], x[2], {causal, 0.3});
        },
        [=](const Inputs& x) {
          at::Tensor scores = at::matmul(x[0] * 0.3, x[1].transpose(-2, -1));
          if (causal)
            scores = scores.masked_fill(
                at::ones({9, 9}, at::kBool).triu(1), -INFINITY);
          return at::matmul(at::softmax(scores, -1), x[2]);
        },
        {at::randn({2, 3, 9, 16}),
         at::randn({2, 3, 9, 16}),
         at::randn({2, 3, 9, 16})});
}

TEST_F(NnFunctional, CrossEntropyIsExactForLabelsAndProbabilities) {
  const at::Tensor labels = at::randint(10, {17}, at::kLong);
  const at::Tensor shares = at::softmax(at::randn({17, 10}), 1);
  const at::Tensor weight = at::rand({10}) + 0.5;
  const auto sum = torch::nn::CrossEntropyLossOptions().reduction(torch::kSum);
  const auto smooth = torch::nn::CrossEntropyLossOptions().label_smoothing(0.1);
  for (const auto& base : {sum, smooth, torch::nn::CrossEntropyLossOptions()})
    for (const at::Tensor& targets : {labels, shares})
      for (const bool weighted : {false, true}) {
        const auto with = [&](const at::Tensor& x, const auto& loss) {
          auto options = base;
          if (weighted) options.weight(weight.to(x.scalar_type()));
          return loss(
              x,
              targets.is_floating_point() ? targets.to(x.scalar_type())
                                          : targets,
              options);
        };
        const Layer ours = [&](const Inputs& x) {
          return with(x[0], [](const auto& a, const auto& b, const auto& c) {
            return cross_entropy(a, b, c);
          });
        };
        const Layer stock = [&](const Inputs& x) {
          return with(x[0], [](const auto& a, const auto& b, const auto& c) {
            return F::cross_entropy(a, b, c);
          });
        };
        const at::Tensor scores = at::randn({17, 10});
        const auto truth = derivatives(stock, {scores}, at::kDouble);
        const auto found = derivatives(ours, {scores}, at::kFloat);
        for (std::size_t i = 0; i < truth.size(); ++i)
          EXPECT_LE(off(found[i], truth[i]), 2e-6) << i;
      }
  const at::Tensor scores = at::randn({17, 10}).requires_grad_(true);
  EXPECT_EQ(made_by(cross_entropy(scores, labels)), "FusedBackward");
}

TEST_F(NnFunctional, CrossEntropyWithoutAReductionIsLibTorchs) {
  const auto none =
      torch::nn::CrossEntropyLossOptions().reduction(torch::kNone);
  const at::Tensor scores = at::randn({5, 4});
  const at::Tensor labels = at::randint(4, {5}, at::kLong);
  EXPECT_TRUE(at::equal(
      cross_entropy(scores, labels, none),
      F::cross_entropy(scores, labels, none)));
}

// Kernels have no such convolutions, and LibTorch's modules have.
TEST_F(NnFunctional, UnusualConvolutionsAreLibTorchs) {
  using Options = torch::nn::Conv2dOptions;
  for (const Options& options :
       {Options(8, 12, 3).padding(2).dilation(2),
        Options(8, 12, 3).padding(1).groups(2),
        Options(8, 12, 3).padding(1).padding_mode(torch::kReflect),
        Options(8, 12, 3).padding(torch::kSame),
        Options(8, 12, 3).padding(1).bias(true)}) {
    torch::nn::Conv2d conv(options);
    torch::nn::BatchNorm2d norm(12);
    const auto plain =
        std::dynamic_pointer_cast<torch::nn::BatchNorm2dImpl>(norm->clone());
    const at::Tensor x = at::randn({3, 8, 9, 9});
    const at::Tensor found = conv_bn_act(x, conv, norm, Activation::kRelu);
    const at::Tensor expected = plain->forward(conv->forward(x)).relu();
    EXPECT_LT((found - expected).abs().max().item<double>(), 1e-5);
    EXPECT_EQ(norm->num_batches_tracked.item<int>(), 1);
    EXPECT_TRUE(at::allclose(norm->running_var, plain->running_var));
  }
}

TEST_F(NnFunctional, AutocastAndForwardDerivativesAreLibTorchs) {
  const at::Tensor x = at::randn({4, 8});
  const at::Tensor weight = at::randn({6, 8}).requires_grad_(true);
  EXPECT_EQ(made_by(linear_act(x, weight, {})), "FusedBackward");
  c10::impl::tls_set_dispatch_key_excluded(
      c10::DispatchKey::AutocastCPU, false);
  const at::Tensor half = linear_act(x, weight, {});
  c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, true);
  EXPECT_EQ(half.scalar_type(), at::kBFloat16);
}

// Batches of none, one row to normalise, tensors of another type: whatever
// LibTorch answers, an error included.
TEST_F(NnFunctional, OddCallsAreAnsweredByLibTorch) {
  Norm of = norm_with(torch::nn::Conv2dOptions(4, 6, 1), false);
  EXPECT_EQ(
      conv_bn_act(at::randn({0, 4, 5, 5}), of.conv, of.norm).sizes(),
      at::IntArrayRef({0, 6, 5, 5}));
  of.norm->train(true);
  EXPECT_THROW(
      conv_bn_act(at::randn({1, 4, 1, 1}), of.conv, of.norm), c10::Error);
  EXPECT_THROW(bn_act(at::randn({3, 6}), of.norm), c10::Error);
  EXPECT_EQ(
      attention(at::randn({5, 8}), at::randn({7, 8}), at::randn({7, 3}))
          .sizes(),
      at::IntArrayRef({5, 3}));
  EXPECT_EQ(
      nn::layer_norm(at::randn({2, 3, 4}), {3, 4}, {}, {}).sizes(),
      at::IntArrayRef({2, 3, 4}));
}

} // namespace
} // namespace temper::nn

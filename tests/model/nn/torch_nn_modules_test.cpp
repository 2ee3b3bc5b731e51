// temper::nn's modules beside torch::nn's: names, first weights, results,
// running statistics, copies.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "temper/libtorch/onednn.h"
#include "temper/model/nn/modules.h"

namespace temper::nn {
namespace {

using Names = std::vector<std::string>;

Names names_in(const torch::nn::Module& module) {
  Names names;
  for (const auto& item : module.named_parameters())
    names.push_back(item.key());
  for (const auto& item : module.named_buffers())
    names.push_back(item.key());
  return names;
}

void expect_same_tensors(
    const torch::nn::Module& a,
    const torch::nn::Module& b) {
  const auto of_b = b.named_parameters();
  ASSERT_EQ(names_in(a), names_in(b));
  for (const auto& item : a.named_parameters())
    EXPECT_TRUE(at::equal(item.value(), of_b[item.key()])) << item.key();
}

void copy_state(const torch::nn::Module& from, torch::nn::Module& to) {
  const torch::NoGradGuard no_grad;
  auto parameters = to.named_parameters();
  for (const auto& item : from.named_parameters())
    parameters[item.key()].copy_(item.value());
  auto buffers = to.named_buffers();
  for (const auto& item : from.named_buffers())
    buffers[item.key()].copy_(item.value());
}

torch::nn::Conv2dOptions
conv_options(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  return torch::nn::Conv2dOptions(in, out, kernel)
      .padding((kernel - 1) / 2)
      .bias(false);
}

torch::nn::Sequential plain_layer(const torch::nn::Conv2dOptions& options) {
  return torch::nn::Sequential(
      torch::nn::Conv2d(options),
      torch::nn::BatchNorm2d(options.out_channels()),
      torch::nn::ReLU6());
}

// torchvision's InvertedResidual of LibTorch's own modules.
struct PlainLayers : torch::nn::Module {
  PlainLayers(
      std::int64_t in,
      std::int64_t out,
      std::int64_t stride,
      std::int64_t expand) {
    const std::int64_t hidden = in * expand;
    if (expand != 1) layers.push_back(plain_layer(conv_options(in, hidden, 1)));
    layers.push_back(plain_layer(
        conv_options(hidden, hidden, 3).stride(stride).groups(hidden)));
    layers.push_back(torch::nn::Sequential(
        torch::nn::Conv2d(conv_options(hidden, out, 1)),
        torch::nn::BatchNorm2d(out)));
    int place = 0;
    for (std::size_t i = 0; i + 1 < layers.size(); ++i)
      register_module(std::to_string(place++), layers[i]);
    for (const auto& each : layers.back()->children())
      register_module(std::to_string(place++), each);
  }
  at::Tensor forward(at::Tensor x) {
    for (torch::nn::Sequential& layer : layers)
      x = layer->forward(x);
    return x;
  }
  std::vector<torch::nn::Sequential> layers;
};

struct PlainInvertedResidual : torch::nn::Module {
  PlainInvertedResidual(
      std::int64_t in,
      std::int64_t out,
      std::int64_t stride,
      std::int64_t expand)
      : conv(register_module(
            "conv",
            std::make_shared<PlainLayers>(in, out, stride, expand))),
        adds(stride == 1 && in == out) {}
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = conv->forward(x);
    return adds ? x + y : y;
  }
  std::shared_ptr<PlainLayers> conv;
  bool adds;
};

class NnModules : public testing::Test {
 protected:
  void SetUp() override {
    libtorch::keep_onednn_from_tiles(); // as whoever trains with temper does
  }
};

TEST_F(NnModules, BeginWithTheWeightsOfTorchNnUnderItsNames) {
  torch::manual_seed(7);
  const torch::nn::Linear linear(12, 5);
  torch::manual_seed(7);
  expect_same_tensors(*LinearAct(12, 5), *linear);
  expect_same_tensors(
      *LayerNorm(std::vector<std::int64_t>{8}),
      *torch::nn::LayerNorm(std::vector<std::int64_t>{8}));
  torch::manual_seed(8);
  const torch::nn::Sequential plain(
      torch::nn::Conv2d(conv_options(4, 6, 3)), torch::nn::BatchNorm2d(6));
  torch::manual_seed(8);
  expect_same_tensors(*ConvBnAct(conv_options(4, 6, 3).bias(true)), *plain);
  for (const int expand : {1, 4}) {
    torch::manual_seed(9);
    const PlainInvertedResidual block(8, 8, 1, expand);
    torch::manual_seed(9);
    const InvertedResidual ours(InvertedResidualOptions{
        .in_channels = 8, .out_channels = 8, .expand = double(expand)});
    expect_same_tensors(*ours, block);
  }
}

// Runs both a few times in training, then once in eval mode.
template <class Ours, class Plain>
void expect_same_training(Ours& ours, Plain& plain, const at::Tensor& sample) {
  copy_state(*plain, *ours);
  for (int step = 0; step < 3; ++step) {
    const at::Tensor x = at::randn_like(sample) + step;
    const at::Tensor a = ours->forward(x);
    const at::Tensor b = plain->forward(x);
    EXPECT_TRUE(at::allclose(a, b, 1e-4, 1e-4)) << step;
    const at::Tensor gradient = at::randn_like(b);
    a.backward(gradient);
    b.backward(gradient);
  }
  const auto expected = plain->named_parameters();
  for (const auto& item : ours->named_parameters())
    EXPECT_TRUE(at::allclose(
        item.value().grad(), expected[item.key()].grad(), 1e-2, 2e-3))
        << item.key();
  const auto buffers = plain->named_buffers();
  for (const auto& item : ours->named_buffers())
    EXPECT_TRUE(at::allclose(
        item.value().to(at::kFloat),
        buffers[item.key()].to(at::kFloat),
        1e-4,
        1e-5))
        << item.key();
  ours->eval();
  plain->eval();
  EXPECT_TRUE(
      at::allclose(ours->forward(sample), plain->forward(sample), 1e-4, 1e-4));
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(
      at::allclose(ours->forward(sample), plain->forward(sample), 1e-4, 1e-4));
}

TEST_F(NnModules, TrainAndEvaluateAsTorchNnDoes) {
  torch::manual_seed(2);
  torch::nn::Sequential plain(
      torch::nn::Conv2d(conv_options(6, 8, 3)),
      torch::nn::BatchNorm2d(8),
      torch::nn::ReLU());
  ConvBnAct ours(conv_options(6, 8, 3));
  expect_same_training(ours, plain, at::randn({4, 6, 9, 9}));
  for (const auto& [out, stride, expand] :
       {std::tuple{8, 1, 6}, {12, 2, 6}, {8, 1, 1}}) {
    auto block =
        std::make_shared<PlainInvertedResidual>(8, out, stride, expand);
    InvertedResidual fused(InvertedResidualOptions{
        .in_channels = 8,
        .out_channels = out,
        .stride = stride,
        .expand = double(expand)});
    expect_same_training(fused, block, at::randn({4, 8, 10, 10}));
  }
}

// Without a momentum, running statistics are the mean over all batches.
TEST_F(NnModules, CumulativeStatisticsMoveAsTorchNns) {
  torch::manual_seed(4);
  const auto options =
      torch::nn::BatchNormOptions(8).momentum(c10::nullopt).eps(1e-3);
  torch::nn::Sequential plain(
      torch::nn::Conv2d(conv_options(6, 8, 1)),
      torch::nn::BatchNorm2d(options),
      torch::nn::ReLU());
  ConvBnAct ours(conv_options(6, 8, 1), options, Activation::kRelu);
  expect_same_training(ours, plain, at::randn({4, 6, 5, 5}));
}

TEST_F(NnModules, BlocksAreOneNodeOfAutograd) {
  InvertedResidual block(
      InvertedResidualOptions{.in_channels = 8, .out_channels = 8});
  const at::Tensor y = block->forward(at::randn({2, 8, 6, 6}));
  EXPECT_EQ(y.grad_fn()->name(), "FusedBackward");
  for (const auto& edge : y.grad_fn()->next_edges())
    EXPECT_EQ(edge.function->name(), "torch::autograd::AccumulateGrad");
}

// What kernels do not take: float64, and a block whose depthwise convolution is
// none of theirs.
TEST_F(NnModules, ComputeInFloat64AndWithOddKernelsThroughLibTorch) {
  torch::manual_seed(5);
  auto plain = std::make_shared<PlainInvertedResidual>(8, 8, 1, 6);
  InvertedResidual ours(
      InvertedResidualOptions{.in_channels = 8, .out_channels = 8});
  plain->to(at::kDouble);
  ours->to(at::kDouble);
  expect_same_training(ours, plain, at::randn({4, 8, 10, 10}, at::kDouble));
  InvertedResidual odd(InvertedResidualOptions{
      .in_channels = 8, .out_channels = 8, .kernel = 7});
  const at::Tensor y = odd->forward(at::randn({2, 8, 9, 9}));
  y.sum().backward();
  EXPECT_TRUE(odd->conv->depthwise->conv->weight.grad().defined());
  EXPECT_EQ(odd->conv->norm->num_batches_tracked.item<int>(), 1);
}

TEST_F(NnModules, CopiesHaveTensorsOfTheirOwn) {
  InvertedResidual block(
      InvertedResidualOptions{.in_channels = 8, .out_channels = 8});
  const auto copy =
      std::dynamic_pointer_cast<InvertedResidualImpl>(block->clone());
  expect_same_tensors(*block, *copy);
  const at::Tensor x = at::randn({2, 8, 6, 6});
  copy->forward(x).sum().backward();
  for (const auto& item : copy->named_parameters())
    EXPECT_TRUE(item.value().grad().defined()) << item.key();
  for (const auto& item : block->named_parameters())
    EXPECT_FALSE(item.value().grad().defined()) << item.key();
  EXPECT_EQ(block->conv->norm->num_batches_tracked.item<int>(), 0);
}

TEST_F(NnModules, StandInASequential) {
  torch::nn::Sequential net(
      ConvBnAct(conv_options(3, 8, 3)),
      torch::nn::Flatten(),
      LinearAct(8 * 5 * 5, 16),
      LayerNorm(std::vector<std::int64_t>{16}));
  EXPECT_EQ(
      net->forward(at::randn({2, 3, 5, 5})).sizes(), at::IntArrayRef({2, 16}));
  Attention attend(AttentionOptions{true, 0.5});
  const at::Tensor x = at::randn({1, 2, 4, 8});
  EXPECT_EQ(attend(x, x, x).sizes(), x.sizes());
}

} // namespace
} // namespace temper::nn

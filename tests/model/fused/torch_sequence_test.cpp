// Linear layers, LayerNorm and attention as fused ops.
#include "temper/model/fused/layers.h"

#include <cmath>

#include "temper/base/text.h"
#include "tests/model/fused/against_float64.h"

namespace temper::model {
namespace {

at::Tensor activated(Activation act, const at::Tensor& x) {
  switch (act) {
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kRelu6:
      return at::hardtanh(x, 0, 6);
    case Activation::kHardswish:
      return at::hardswish(x);
    case Activation::kSilu:
      return at::silu(x);
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kNone:
      break;
  }
  return x;
}

Formula stock_linear(Activation act) {
  return [act](const OpTensors& in) {
    at::Tensor y = activated(act, at::linear(in[0], in[1], in[2]));
    return in[3].defined() ? y + in[3] : y;
  };
}

constexpr Activation kEveryActivation[] = {
    Activation::kNone,
    Activation::kRelu,
    Activation::kRelu6,
    Activation::kHardswish,
    Activation::kSilu,
    Activation::kGelu,
    Activation::kGeluTanh};

TEST(FusedLinear, IsAsExactAsLibTorchForEveryActivation) {
  at::manual_seed(1);
  for (const Activation act : kEveryActivation)
    for (const bool residual : {false, true}) {
      SCOPED_TRACE(static_cast<int>(act));
      expect_as_exact(
          make_linear(act),
          stock_linear(act),
          {normal({3, 70, 48}),
           normal({40, 48}, 0.3),
           normal({40}),
           residual ? normal({3, 70, 40}) : at::Tensor()});
    }
}

TEST(FusedLinear, TakesAnyNumberOfRowsAndColumns) {
  at::manual_seed(2);
  const std::int64_t shapes[][3] = {
      {1, 1, 1},
      {32, 256, 512},
      {32, 512, 10},
      {1, 700, 33},
      {7, 3, 5},
      {129, 17, 31},
      {300, 65, 129},
      {1030, 200, 13},
      {2100, 9, 70},
      {128, 192, 10},
      {32, 9000, 10},
      {5, 4099, 16},
      {3, 4096, 1},
      {517, 385, 96}};
  for (const auto& shape : shapes)
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(testing::PrintToString(shape));
      expect_as_exact(
          make_linear(Activation::kNone),
          stock_linear(Activation::kNone),
          {normal({shape[0], shape[1]}),
           normal({shape[2], shape[1]}, 0.3),
           bias ? normal({shape[2]}) : at::Tensor(),
           {}});
    }
}

TEST(FusedLinear, SplitsLargeWeightsWhereThereIsRoomForFewSums) {
  at::manual_seed(3);
  expect_as_exact(
      make_linear(Activation::kRelu),
      stock_linear(Activation::kRelu),
      {normal({200, 300}), normal({70, 300}, 0.1), normal({70}), {}});
}

TEST(FusedLinear, ReadsViewsAndTurnedWeights) {
  at::manual_seed(4);
  const at::Tensor wide = at::randn({140, 3, 96});
  const at::Tensor token = wide.select(1, 1); // rows far apart
  const at::Tensor turned = at::randn({96, 140}).t();
  for (const at::Tensor& x : {token, turned})
    expect_as_exact(
        make_linear(Activation::kNone),
        stock_linear(Activation::kNone),
        {x.detach().requires_grad_(),
         at::randn({96, 24}).t().requires_grad_(),
         normal({24}),
         {}});
}

TEST(FusedLinear, ComputesOnlyTheGradientsThatAreWanted) {
  at::manual_seed(5);
  for (int frozen = 0; frozen < 4; ++frozen) {
    OpTensors in{
        normal({150, 20}), normal({30, 20}), normal({30}), normal({150, 30})};
    for (int i = 0; i < 4; ++i)
      in[static_cast<std::size_t>(i)] =
          in[static_cast<std::size_t>(i)].detach().requires_grad_(i == frozen);
    expect_as_exact(
        make_linear(Activation::kGelu), stock_linear(Activation::kGelu), in);
  }
}

// More images than results, and fewer: the weight is turned, or the images.
TEST(FusedImageLinear, IsAsExactAsLibTorchHoweverImagesLie) {
  at::manual_seed(6);
  const Formula stock = [](const OpTensors& in) {
    const at::Tensor y = at::relu(at::linear(in[0].flatten(1), in[1], in[2]));
    return in[3].defined() ? y + in[3] : y;
  };
  const std::int64_t shapes[][5] = {
      {9, 32, 14, 14, 10},
      {3, 32, 14, 14, 10},
      {40, 19, 5, 7, 33},
      {1, 1, 6, 6, 2},
      {200, 7, 1, 3, 40},
      {8, 16, 40, 60, 3}};
  for (const auto& [images, channels, height, width, out] : shapes)
    for (const bool last : {true, false})
      for (const bool residual : {true, false}) {
        SCOPED_TRACE(cat(images, " ", channels, " ", out, " ", last));
        at::Tensor x = at::randn({images, channels, height, width});
        if (last) x = x.contiguous(at::MemoryFormat::ChannelsLast);
        const OpTensors in{
            x.requires_grad_(),
            normal({out, channels * height * width}, 0.1),
            normal({out}),
            residual ? normal({images, out}) : at::Tensor()};
        expect_as_exact(make_image_linear(Activation::kRelu), stock, in);
        expect_same_bits_on_threads(make_image_linear(Activation::kRelu), in);
      }
}

// What reads the image's gradient reads it as it reads the image.
TEST(FusedImageLinear, GradientsLieAsTheImagesDo) {
  for (const std::int64_t out : {3, 30}) {
    const at::Tensor x = at::randn({8, 6, 5, 5})
                             .contiguous(at::MemoryFormat::ChannelsLast)
                             .requires_grad_();
    const at::Tensor weight = normal({out, 150});
    const at::Tensor y =
        apply_fused(make_image_linear(Activation::kNone), {x, weight, {}, {}});
    const auto found = torch::autograd::grad({y.sum()}, {x, weight});
    EXPECT_TRUE(found[0].is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_TRUE(found[1].is_contiguous());
  }
}

TEST(FusedLinear, LeavesWhatIsNotFloat32ToLibTorch) {
  const OpPointer op = make_linear(Activation::kNone);
  const at::Tensor x = at::randn({4, 6});
  const at::Tensor w = at::randn({5, 6});
  EXPECT_TRUE(op->takes({x, w, {}, {}}));
  for (const auto type : {at::kDouble, at::kBFloat16, at::kHalf})
    EXPECT_FALSE(op->takes({x.to(type), w.to(type), {}, {}}));
  EXPECT_FALSE(op->takes({at::randn({0, 6}), w, {}, {}}));
  EXPECT_FALSE(op->takes({x, w, at::randn({1}), {}}));
  EXPECT_FALSE(op->takes({x, w, {}, at::randn({5})})); // would be broadcast
}

TEST(FusedLinear, HandsNotANumberOn) {
  for (const Activation act : kEveryActivation) {
    at::Tensor x = at::randn({200, 24});
    x[3][5] = NAN;
    const at::Tensor w = at::randn({40, 24}).requires_grad_();
    const at::Tensor y = apply_fused(make_linear(act), {x, w, {}, {}});
    EXPECT_TRUE(y[3].isnan().all().item<bool>()) << static_cast<int>(act);
    EXPECT_EQ(y.isnan().sum().item<int>(), 40);
    const auto g = torch::autograd::grad({y.sum()}, {w});
    EXPECT_TRUE(g[0].select(1, 5).isnan().all().item<bool>());
  }
}

TEST(FusedLinear, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const std::int64_t rows : {40, 3000})
    expect_same_bits_on_threads(
        make_linear(Activation::kGelu),
        {normal({rows, 130}), normal({150, 130}), normal({150}), {}});
}

Formula stock_layer_norm(double eps) {
  return [eps](const OpTensors& in) {
    return at::layer_norm(in[0], {in[0].size(-1)}, in[1], in[2], eps);
  };
}

TEST(FusedLayerNorm, IsAsExactAsLibTorch) {
  at::manual_seed(6);
  for (const std::int64_t columns : {1, 5, 16, 37, 128, 192, 768, 1280})
    for (const bool affine : {true, false}) {
      // The bias of one column has one number for a gradient, which cancels.
      if (affine && columns == 1) continue;
      SCOPED_TRACE(columns);
      expect_as_exact(
          make_layer_norm(1e-6),
          stock_layer_norm(1e-6),
          {(normal({3, 211, columns}) + 2).detach().requires_grad_(),
           affine ? normal({columns}) : at::Tensor(),
           affine ? normal({columns}) : at::Tensor()});
    }
  const at::Tensor far = at::randn({40, 5, 32}).select(1, 2);
  expect_as_exact(
      make_layer_norm(1e-5),
      stock_layer_norm(1e-5),
      {far.detach().requires_grad_(), normal({32}), normal({32})});
}

TEST(FusedLayerNorm, GivesTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_threads(
      make_layer_norm(1e-5), {normal({3000, 96}), normal({96}), normal({96})});
}

Formula stock_attention(const AttentionSpec& spec) {
  return [spec](const OpTensors& in) {
    const double scale =
        spec.scale.value_or(1 / std::sqrt(static_cast<double>(in[0].size(3))));
    at::Tensor scores = at::matmul(in[0], in[1].transpose(2, 3)) * scale;
    if (spec.causal)
      scores = scores.masked_fill(
          at::ones({in[0].size(2), in[1].size(2)}, at::kBool)
              .tril()
              .logical_not(),
          -INFINITY);
    return at::matmul(at::softmax(scores, -1), in[2]);
  };
}

TEST(FusedAttention, IsAsExactAsLibTorch) {
  at::manual_seed(7);
  const std::int64_t shapes[][3] = {// queries, keys, width
                                    {1, 1, 1},
                                    {65, 65, 64},
                                    {128, 128, 32},
                                    {17, 17, 24},
                                    {33, 33, 5},
                                    {300, 300, 16},
                                    {9, 40, 8},
                                    {40, 9, 8}};
  for (const auto& shape : shapes)
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(testing::PrintToString(shape) + (causal ? " causal" : ""));
      expect_as_exact(
          make_attention({.causal = causal, .scale = {}}),
          stock_attention({.causal = causal, .scale = {}}),
          {normal({2, 3, shape[0], shape[2]}),
           normal({2, 3, shape[1], shape[2]}),
           normal({2, 3, shape[1], shape[2]})});
    }
}

TEST(FusedAttention, ReadsPartsOfOneTensorAndAnyScale) {
  at::manual_seed(8);
  const at::Tensor qkv = at::randn({2, 30, 3, 4, 8}).permute({2, 0, 3, 1, 4});
  const AttentionSpec spec{.causal = true, .scale = 0.7};
  expect_as_exact(
      make_attention(spec),
      stock_attention(spec),
      {qkv[0].requires_grad_(),
       qkv[1].requires_grad_(),
       at::randn({2, 4, 11, 30}).transpose(2, 3).requires_grad_()});
}

TEST(FusedAttention, HandsNotANumberOn) {
  at::Tensor q = at::randn({1, 1, 20, 8});
  q[0][0][4][1] = NAN;
  const at::Tensor k = at::randn({1, 1, 20, 8}).requires_grad_();
  const at::Tensor v = at::randn({1, 1, 20, 8});
  const at::Tensor y = apply_fused(make_attention({}), {q, k, v});
  EXPECT_TRUE(y[0][0][4].isnan().all().item<bool>());
  EXPECT_FALSE(y[0][0][5].isnan().any().item<bool>());
  const auto g = torch::autograd::grad({y.sum()}, {k});
  EXPECT_TRUE(g[0].isnan().any().item<bool>());
}

TEST(FusedAttention, GivesTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_threads(
      make_attention({.causal = true, .scale = {}}),
      {normal({4, 3, 50, 16}), normal({4, 3, 50, 16}), normal({4, 3, 50, 16})});
}

} // namespace
} // namespace temper::model

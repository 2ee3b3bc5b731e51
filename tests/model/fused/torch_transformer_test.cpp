// A whole pre-norm transformer block as one fused op.
#include <cmath>

#include "temper/model/fused/layers.h"
#include "tests/model/fused/against_float64.h"

namespace temper::model {
namespace {

// The nodes the op stands for, as the zoo's graphs have them.
Formula stock_block(const TransformerBlockSpec& spec) {
  return [spec](const OpTensors& in) {
    const at::Tensor& x = in[0];
    const std::int64_t b = x.size(0);
    const std::int64_t t = x.size(1);
    const std::int64_t d = x.size(2);
    const auto norm = [&](const at::Tensor& from, std::size_t at, double eps) {
      return at::layer_norm(from, {d}, in[at], in[at + 1], eps);
    };
    at::Tensor y = at::linear(norm(x, 1, spec.eps1), in[3], in[4]);
    const auto parts = y.reshape({b, t, 3, spec.heads, d / spec.heads})
                           .permute({2, 0, 3, 1, 4})
                           .unbind(0);
    const double scale = spec.attention.scale.value_or(
        1 / std::sqrt(static_cast<double>(d / spec.heads)));
    at::Tensor scores = at::matmul(parts[0], parts[1].transpose(2, 3)) * scale;
    if (spec.attention.causal)
      scores = scores.masked_fill(
          at::ones({t, t}, at::kBool).tril().logical_not(), -INFINITY);
    y = at::matmul(at::softmax(scores, -1), parts[2]);
    y = y.transpose(1, 2).reshape({b, t, d});
    const at::Tensor middle = x + at::linear(y, in[5], in[6]);
    y = at::linear(norm(middle, 7, spec.eps2), in[9], in[10]);
    y = spec.act == Activation::kRelu       ? at::relu(y)
        : spec.act == Activation::kGeluTanh ? at::gelu(y, "tanh")
                                            : at::gelu(y);
    return middle + at::linear(y, in[11], in[12]);
  };
}

OpTensors transformer_inputs(
    std::int64_t batch,
    std::int64_t tokens,
    std::int64_t d,
    std::int64_t h,
    bool biases = true) {
  const auto bias = [&](std::int64_t size) {
    return biases ? normal({size}, 0.2) : at::Tensor();
  };
  const double in = 1 / std::sqrt(static_cast<double>(d));
  return {
      normal({batch, tokens, d}),
      (normal({d}, 0.2) + 1).detach().requires_grad_(),
      bias(d),
      normal({3 * d, d}, 1.5 * in),
      bias(3 * d),
      normal({d, d}, in),
      bias(d),
      (normal({d}, 0.2) + 1).detach().requires_grad_(),
      bias(d),
      normal({h, d}, in),
      bias(h),
      normal({d, h}, 1 / std::sqrt(static_cast<double>(h))),
      bias(d)};
}

TEST(FusedTransformerBlock, IsAsExactAsLibTorch) {
  at::manual_seed(11);
  struct Case {
    std::int64_t batch, tokens, d, h, heads;
    bool causal;
    Activation act;
  };
  const Case cases[] = {
      {2, 65, 192, 768, 3, false, Activation::kGelu},
      {3, 128, 128, 512, 4, true, Activation::kGeluTanh},
      {9, 65, 64, 256, 2, false, Activation::kGelu}, // several sums
      {1, 7, 20, 50, 4, true, Activation::kRelu},
      {2, 3, 6, 10, 2, false, Activation::kGelu},
      {1, 1, 8, 8, 1, true, Activation::kGelu},
      {1, 230, 33, 70, 3, true, Activation::kGelu}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.tokens);
    TransformerBlockSpec spec;
    spec.heads = c.heads;
    spec.attention.causal = c.causal;
    spec.act = c.act;
    spec.eps1 = 1e-6;
    expect_as_exact(
        make_transformer_block(spec),
        stock_block(spec),
        transformer_inputs(c.batch, c.tokens, c.d, c.h));
  }
}

TEST(FusedTransformerBlock, DoesWithoutBiasesAndWithoutSomeGradients) {
  at::manual_seed(12);
  TransformerBlockSpec spec;
  spec.heads = 2;
  spec.attention.scale = 0.5;
  const OpPointer op = make_transformer_block(spec);
  expect_as_exact(
      op, stock_block(spec), transformer_inputs(2, 9, 32, 64, false));
  for (const std::size_t trained : {0, 1, 4, 9, 12}) {
    OpTensors in = transformer_inputs(2, 9, 32, 64);
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = in[i].detach().requires_grad_(i == trained);
    expect_as_exact(op, stock_block(spec), in);
  }
  OpTensors plain = transformer_inputs(2, 9, 32, 64);
  plain[1] = plain[2] = plain[7] = plain[8] = at::Tensor();
  expect_as_exact(op, stock_block(spec), plain);
}

TEST(FusedTransformerBlock, ReadsTensorsOfAnyStrides) {
  at::manual_seed(13);
  TransformerBlockSpec spec;
  OpTensors in = transformer_inputs(2, 9, 32, 64);
  in[0] = at::randn({9, 2, 32}).transpose(0, 1).requires_grad_();
  in[9] = at::randn({32, 64}).t().requires_grad_();
  expect_as_exact(make_transformer_block(spec), stock_block(spec), in);
}

TEST(FusedTransformerBlock, LeavesTheRestToLibTorch) {
  TransformerBlockSpec spec;
  spec.heads = 4;
  const OpPointer op = make_transformer_block(spec);
  EXPECT_TRUE(op->takes(transformer_inputs(2, 3, 32, 64)));
  EXPECT_FALSE(
      op->takes(transformer_inputs(2, 3, 30, 64))); // heads do not divide
  OpTensors in = transformer_inputs(2, 3, 32, 64);
  for (at::Tensor& one : in)
    one = one.to(at::kDouble);
  EXPECT_FALSE(op->takes(in));
  EXPECT_FALSE(op->takes(transformer_inputs(2, 3, 1024, 4096))); // many weights
  EXPECT_FALSE(op->takes(transformer_inputs(0, 3, 32, 64)));
}

TEST(FusedTransformerBlock, GivesTheSameBitsOnAnyNumberOfThreads) {
  at::manual_seed(14);
  TransformerBlockSpec spec;
  spec.heads = 2;
  expect_same_bits_on_threads(
      make_transformer_block(spec), transformer_inputs(12, 65, 48, 96));
}

} // namespace
} // namespace temper::model

// MobileNet's inverted residuals as fused ops: results and gradients beside
// LibTorch's own operators, both held against float64.
#include "tests/model/fused/over_draws.h"

namespace temper::model {
namespace {

class FusedInvertedResidual : public OnTorchThreads {};

struct BlockCase {
  std::int64_t images, channels, side, hidden, outputs, kernel, stride;
  bool expands, residual;
};

InvertedResidualSpec
block_spec(const BlockCase& c, Activation act, Activation last, bool training) {
  const NormSpec norm{0.1, 1e-5, training};
  InvertedResidualSpec spec;
  if (c.expands) spec.expand = norm;
  spec.depthwise = {
      {c.kernel, c.kernel},
      {c.stride, c.stride},
      {(c.kernel - 1) / 2, (c.kernel - 1) / 2},
      {1, 1},
      c.hidden};
  spec.depthwise_norm = norm;
  spec.project_norm = norm;
  spec.act = act;
  spec.last_act = last;
  spec.residual = c.residual;
  return spec;
}

OpTensors residual_inputs(const BlockCase& c) {
  OpTensors inputs{wanting(at::randn({c.images, c.channels, c.side, c.side}))};
  const auto add = [&](at::IntArrayRef sizes) {
    inputs.push_back(wanting(at::randn(sizes) * 0.3));
    add_norm(inputs, sizes[0]);
  };
  if (c.expands) add({c.hidden, c.channels, 1, 1});
  add({c.hidden, 1, c.kernel, c.kernel});
  add({c.outputs, c.hidden, 1, 1});
  return inputs;
}

at::Tensor block_by_torch(
    const InvertedResidualSpec& spec,
    const OpTensors& in) {
  at::Tensor y = in[0];
  std::size_t at = 1;
  if (spec.expand) {
    y = act_by_torch(
        spec.act, norm_by_torch(*spec.expand, at::conv2d(y, in[1]), in, 2));
    at = 6;
  }
  y = act_by_torch(
      spec.act,
      norm_by_torch(
          spec.depthwise_norm,
          conv_by_torch(spec.depthwise, y, in[at]),
          in,
          at + 1));
  y = act_by_torch(
      spec.last_act,
      norm_by_torch(spec.project_norm, at::conv2d(y, in[at + 5]), in, at + 6));
  return spec.residual ? y + in[0] : y;
}

const BlockCase kBlocks[] = {
    {4, 16, 12, 96, 24, 3, 2, true, false},
    {4, 24, 8, 144, 24, 3, 1, true, true},
    {16, 64, 2, 384, 64, 3, 1, true, true},
    {32, 96, 2, 200, 40, 3, 2, true, false},
    {20, 32, 1, 64, 32, 5, 1, true, true},
    {2, 32, 14, 32, 16, 3, 1, false, false},
    {3, 20, 9, 20, 20, 5, 1, false, true}};

TEST_F(FusedInvertedResidual, IsAsExactAsLibTorch) {
  for (const BlockCase& c : kBlocks)
    for (const bool training : {true, false}) {
      SCOPED_TRACE(
          std::to_string(c.hidden) + (training ? " training" : " evaluation"));
      const InvertedResidualSpec spec =
          block_spec(c, Activation::kRelu6, Activation::kNone, training);
      compare(
          make_inverted_residual(spec),
          [&] { return residual_inputs(c); },
          [&](const OpTensors& in) { return block_by_torch(spec, in); },
          true);
    }
  for (const Activation act : kEvery) {
    SCOPED_TRACE(static_cast<int>(act));
    const InvertedResidualSpec spec = block_spec(kBlocks[1], act, act, true);
    compare(
        make_inverted_residual(spec),
        [] { return residual_inputs(kBlocks[1]); },
        [&](const OpTensors& in) { return block_by_torch(spec, in); });
  }
}

TEST_F(FusedInvertedResidual, TakesAnyStrides) {
  const InvertedResidualSpec spec =
      block_spec(kBlocks[1], Activation::kRelu6, Activation::kNone, true);
  const OpTensors inputs = residual_inputs(kBlocks[1]);
  OpTensors turned = inputs;
  turned[0] = wanting(inputs[0]
                          .detach()
                          .permute({0, 1, 3, 2})
                          .contiguous()
                          .permute({0, 1, 3, 2}));
  turned[1] =
      wanting(inputs[1].detach().transpose(0, 1).contiguous().transpose(0, 1));
  const OpPointer op = make_inverted_residual(spec);
  ASSERT_TRUE(op->takes(turned));
  const at::Tensor a = apply_fused(op, inputs);
  const at::Tensor b = apply_fused(op, turned);
  EXPECT_TRUE(at::equal(a, b));
  a.sum().backward();
  b.sum().expand_as(b.sum()).backward();
  EXPECT_TRUE(at::equal(inputs[1].grad(), turned[1].grad()));
  EXPECT_TRUE(at::allclose(inputs[0].grad(), turned[0].grad()));
}

TEST_F(FusedInvertedResidual, SameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (const BlockCase& c : kBlocks) {
    const InvertedResidualSpec spec =
        block_spec(c, Activation::kRelu6, Activation::kNone, true);
    const OpTensors inputs = residual_inputs(c);
    const OpPointer op = make_inverted_residual(spec);
    BlockOutcome first;
    for (const int threads : {1, 2}) {
      at::set_num_threads(threads);
      torch::manual_seed(1);
      const BlockOutcome now = outcome(
          [&](const OpTensors& in) { return apply_fused(op, in); },
          leaves(inputs, at::kFloat),
          at::ones({1}).expand_as(apply_fused(op, leaves(inputs, at::kFloat))));
      if (threads == 1) first = now;
      EXPECT_TRUE(at::equal(now.result, first.result));
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].requires_grad()) {
          EXPECT_TRUE(at::equal(now.gradients[i], first.gradients[i])) << i;
        }
    }
  }
  at::set_num_threads(before);
}

TEST_F(FusedInvertedResidual, WithoutGradientsTheResultIsTheSame) {
  for (const BlockCase& c : kBlocks) {
    const InvertedResidualSpec spec =
        block_spec(c, Activation::kRelu6, Activation::kNone, false);
    const OpTensors inputs = residual_inputs(c);
    const OpPointer op = make_inverted_residual(spec);
    const at::Tensor with = apply_fused(op, inputs);
    const at::NoGradGuard none;
    EXPECT_TRUE(at::equal(apply_fused(op, inputs), with.detach()));
  }
}

TEST_F(FusedInvertedResidual, DeclinesWhatTheKernelsDoNotCompute) {
  const InvertedResidualSpec spec =
      block_spec(kBlocks[0], Activation::kRelu6, Activation::kNone, true);
  const OpPointer op = make_inverted_residual(spec);
  const OpTensors inputs = residual_inputs(kBlocks[0]);
  EXPECT_TRUE(op->takes(inputs));
  for (const auto type : {at::kDouble, at::kBFloat16}) {
    OpTensors other = inputs;
    other[0] = inputs[0].detach().to(type);
    EXPECT_FALSE(op->takes(other));
  }
  OpTensors empty = inputs;
  empty[0] = at::empty({0, 16, 12, 12});
  EXPECT_FALSE(op->takes(empty));
  OpTensors wrong = inputs;
  wrong[0] = at::randn({4, 17, 12, 12});
  EXPECT_FALSE(op->takes(wrong));
}

} // namespace
} // namespace temper::model

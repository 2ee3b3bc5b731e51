// BatchNorm as a fused op, by itself and after a convolution: results and
// gradients beside LibTorch's own operators, both held against float64.
#include "tests/model/fused/over_draws.h"

namespace temper::model {
namespace {

class FusedNorm : public OnTorchThreads {};

TEST_F(FusedNorm, NormActIsAsExactAsLibTorch) {
  for (const bool training : {true, false})
    for (const Activation act : kEvery)
      for (const bool residual : {false, true}) {
        const NormSpec spec{0.1, 1e-5, training};
        const auto draw = [&] {
          OpTensors inputs{wanting(at::randn({3, 20, 7, 5}) * 2 + 1)};
          add_norm(inputs, 20);
          inputs.push_back(
              residual ? wanting(at::randn({3, 20, 7, 5})) : at::Tensor());
          return inputs;
        };
        compare(make_norm_act(spec, act), draw, [&](const OpTensors& in) {
          at::Tensor y = norm_by_torch(spec, in[0], in, 1);
          if (in[5].defined()) y = y + in[5];
          return act_by_torch(act, y);
        });
      }
}

TEST_F(FusedNorm, NormActTakesRowsAndAffineFreeNorms) {
  const NormSpec spec{0.3, 1e-3, true};
  const auto draw = [] {
    return OpTensors{wanting(at::randn({33, 19})), {}, {}, {}, {}, {}};
  };
  compare(
      make_norm_act(spec, Activation::kRelu), draw, [&](const OpTensors& in) {
        return at::relu(norm_by_torch(spec, in[0], in, 1));
      });
}

TEST_F(FusedNorm, NormActKeepsItsDigitsFarFromZero) {
  const NormSpec spec{0.1, 1e-5, true};
  const auto draw = [] {
    OpTensors inputs{wanting(at::randn({8, 16, 9, 9}) + 300)};
    add_norm(inputs, 16);
    inputs.push_back({});
    return inputs;
  };
  compare(
      make_norm_act(spec, Activation::kNone), draw, [&](const OpTensors& in) {
        return norm_by_torch(spec, in[0], in, 1);
      });
}

struct ConvCase {
  std::int64_t images, channels, height, width, outputs, kernel, stride, groups;
};

ConvSpec spec_of_case(const ConvCase& c) {
  return {
      {c.kernel, c.kernel},
      {c.stride, c.stride},
      {(c.kernel - 1) / 2, (c.kernel - 1) / 2},
      {1, 1},
      c.groups};
}

void compare_conv(
    const ConvCase& c,
    Activation act,
    bool training,
    bool residual,
    bool x_wants) {
  const ConvSpec conv = spec_of_case(c);
  const NormSpec spec{0.1, 1e-5, training};
  const auto draw = [&] {
    at::Tensor x = at::randn({c.images, c.channels, c.height, c.width});
    if (x_wants) x = wanting(x);
    OpTensors inputs{
        x,
        wanting(
            at::randn({c.outputs, c.channels / c.groups, c.kernel, c.kernel}))};
    add_norm(inputs, c.outputs);
    const at::NoGradGuard none;
    const at::Tensor like = conv_by_torch(conv, x, inputs[1]);
    inputs.push_back(residual ? wanting(at::randn_like(like)) : at::Tensor());
    return inputs;
  };
  compare(
      make_conv_norm_act(conv, spec, act),
      draw,
      [&](const OpTensors& in) {
        at::Tensor y =
            norm_by_torch(spec, conv_by_torch(conv, in[0], in[1]), in, 2);
        if (in[6].defined()) y = y + in[6];
        return act_by_torch(act, y);
      },
      true);
}

TEST_F(FusedNorm, ConvNormActIsAsExactAsLibTorch) {
  const ConvCase cases[] = {
      {2, 24, 9, 7, 40, 1, 1, 1}, // 1x1
      {4, 16, 33, 33, 96, 1, 1, 1},
      {40, 320, 1, 1, 128, 1, 1, 1},
      {3, 19, 8, 9, 21, 1, 2, 1}, // strided
      {2, 3, 33, 31, 32, 3, 2, 1}, // stems
      {1, 1, 12, 12, 8, 5, 1, 1},
      {2, 20, 9, 11, 20, 3, 1, 20}, // depthwise
      {3, 36, 10, 9, 36, 5, 2, 36},
      {9, 48, 1, 1, 48, 3, 1, 48},
      {2, 20, 9, 9, 21, 5, 1, 1}}; // gathered
  for (const ConvCase& c : cases) {
    SCOPED_TRACE(
        std::to_string(c.channels) + " -> " + std::to_string(c.outputs) + " k" +
        std::to_string(c.kernel) + " s" + std::to_string(c.stride));
    compare_conv(c, Activation::kRelu6, true, false, true);
    compare_conv(c, Activation::kRelu, false, true, true);
  }
  for (const Activation act : kEvery)
    compare_conv(cases[0], act, true, true, false);
}

// Rows, Winograd's algorithms, gathered rows, few pixels of many channels, and
// depthwise: whatever writes the result ends it as a pass of its own would.
TEST_F(FusedNorm, WithoutGradientsEvaluationHasTheSameBits) {
  const ConvCase cases[] = {
      {2, 24, 9, 7, 40, 1, 1, 1},
      {3, 19, 8, 9, 21, 1, 2, 1},
      {2, 3, 33, 31, 32, 3, 2, 1},
      {2, 32, 13, 11, 36, 3, 1, 1}, // Winograd's
      {2, 32, 12, 12, 32, 3, 2, 1},
      {2, 256, 3, 3, 130, 3, 1, 1},
      {2, 20, 9, 9, 21, 5, 1, 1}, // gathered
      {2, 64, 1, 1, 33, 3, 1, 1},
      {2, 20, 9, 11, 20, 3, 1, 20}}; // depthwise
  for (const kernels::Target target : kernels::runnable_targets()) {
    SCOPED_TRACE(kernels::name_of(target));
    kernels::choose_target(target);
    for (const ConvCase& c : cases)
      for (const Activation act : kEvery)
        for (const bool residual : {false, true}) {
          const ConvSpec conv = spec_of_case(c);
          OpTensors inputs{
              at::randn({c.images, c.channels, c.height, c.width}),
              wanting(at::randn(
                  {c.outputs, c.channels / c.groups, c.kernel, c.kernel}))};
          add_norm(inputs, c.outputs);
          const OpPointer op =
              make_conv_norm_act(conv, {0.1, 1e-5, false}, act);
          const at::Tensor like = conv_by_torch(conv, inputs[0], inputs[1]);
          inputs.push_back(
              residual ? at::randn_like(like).detach() : at::Tensor());
          ASSERT_TRUE(op->takes(inputs));
          const at::Tensor with = apply_fused(op, inputs).detach();
          const at::NoGradGuard none;
          EXPECT_TRUE(at::equal(apply_fused(op, inputs), with))
              << c.kernel << " " << c.channels << " to " << c.outputs << " act "
              << static_cast<int>(act) << (residual ? " residual" : "");
        }
  }
  kernels::choose_fastest_target();
}

TEST_F(FusedNorm, DeclinesWhatTheKernelsDoNotCompute) {
  const NormSpec norm;
  EXPECT_FALSE(make_norm_act(norm, Activation::kGelu)
                   ->takes({at::randn({2, 3, 4, 4}), {}, {}, {}, {}, {}}));
  EXPECT_FALSE(make_norm_act(norm, Activation::kNone)
                   ->takes({at::randn({1, 3}), {}, {}, {}, {}, {}}));
}

} // namespace
} // namespace temper::model

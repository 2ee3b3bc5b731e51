// BatchNorm and MobileNet's convolutions as fused ops: results and gradients
// beside LibTorch's own operators, both held against float64.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"
#include "temper/model/fused/fused_op.h"
#include "temper/model/fused/layers.h"

namespace temper::model {
namespace {

using at::Tensor;
using TensorList = FusedOp::Tensors;
using Stock = std::function<Tensor(TensorList&)>;

void use_torch_threads_in_test() {
  kernels::set_thread_runner(
      {[] { return at::get_num_threads(); },
       [](int workers, void (*body)(void*), void* context) {
         at::parallel_for(0, workers, 1, [&](std::int64_t, std::int64_t) {
           body(context);
         });
       }});
}

Tensor act_by_torch(Activation act, const Tensor& x) {
  switch (act) {
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kRelu6:
      return at::hardtanh(x, 0, 6);
    case Activation::kHardswish:
      return at::hardswish(x);
    case Activation::kSilu:
      return at::silu(x);
    default:
      return x;
  }
}

Tensor norm_by_torch(const NormSpec& spec, const Tensor& x, TensorList& in, std::size_t at) {
  return at::batch_norm(
      x,
      in[at],
      in[at + 1],
      in[at + 2],
      in[at + 3],
      spec.training,
      spec.momentum,
      spec.eps,
      false);
}

Tensor conv_by_torch(const ConvSpec& spec, const Tensor& x, const Tensor& w) {
  return at::conv2d(
      x,
      w,
      {},
      {spec.stride[0], spec.stride[1]},
      {spec.padding[0], spec.padding[1]},
      {spec.dilation[0], spec.dilation[1]},
      spec.groups);
}

// Copies that are leaves; running statistics want no gradient.
TensorList leaves(const TensorList& inputs, at::ScalarType type) {
  TensorList copies;
  for (const Tensor& one : inputs)
    copies.push_back(
        one.defined()
            ? one.detach().to(type, false, true).requires_grad_(one.requires_grad())
            : Tensor());
  return copies;
}

struct BlockOutcome {
  Tensor result;
  TensorList gradients;
  TensorList inputs; // after the call: buffers may have changed
};

BlockOutcome outcome(const Stock& compute, TensorList inputs, const Tensor& gradient) {
  BlockOutcome found;
  found.result = compute(inputs);
  found.result.backward(gradient.to(found.result.scalar_type()));
  for (const Tensor& one : inputs)
    found.gradients.push_back(one.defined() ? one.grad() : Tensor());
  found.inputs = inputs;
  return found;
}

// Relative to the truth, or to numbers of about one where the truth is zero.
double distance_to_truth(const Tensor& found, const Tensor& truth) {
  const double size = truth.norm().item<double>() +
      std::sqrt(static_cast<double>(truth.numel()));
  return (found.to(at::kDouble) - truth).norm().item<double>() / size;
}

// Errors of results and gradients over several draws of the inputs. A single
// draw says little: where a normalisation's gradient nearly cancels, roundings
// grow by chance, on either side.
struct Errors {
  std::map<std::string, double> ours, stock; // sums of logarithms
  int draws = 0;

  void add(
      const Tensor& found,
      const Tensor& by_torch,
      const Tensor& truth,
      const std::string& what) {
    ASSERT_TRUE(found.defined()) << what;
    ASSERT_EQ(found.sizes(), truth.sizes()) << what;
    ours[what] += std::log(distance_to_truth(found, truth) + 1e-8);
    stock[what] += std::log(distance_to_truth(by_torch, truth) + 1e-8);
  }

  // Twice as far from float64 as LibTorch's float32, and a few roundings.
  void check() const {
    for (const auto& [what, sum] : ours) {
      const double by_torch = std::exp(stock.at(what) / draws);
      EXPECT_LE(std::exp(sum / draws), 2 * by_torch + 2e-7)
          << what << ", LibTorch " << by_torch;
    }
  }
};

void add_errors(
    Errors& errors,
    const TensorList& inputs,
    const BlockOutcome& ours,
    const BlockOutcome& plain,
    const BlockOutcome& truth) {
  errors.add(ours.result, plain.result, truth.result, "result");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    const std::string name = "input " + std::to_string(i);
    if (inputs[i].requires_grad())
      errors.add(
          ours.gradients[i],
          plain.gradients[i],
          truth.gradients[i],
          "gradient of " + name);
    else // running statistics, or an x that wants none
      errors.add(
          ours.inputs[i].detach(),
          plain.inputs[i].detach(),
          truth.inputs[i].detach(),
          name);
  }
}

constexpr int kDraws = 5;

// `draw` makes inputs anew.
void compare(
    const OpPointer& op,
    const std::function<TensorList()>& draw,
    const Stock& stock,
    bool every_target = false) {
  std::vector<kernels::Target> targets{kernels::target()};
  if (every_target) targets = kernels::runnable_targets();
  std::vector<Errors> errors(targets.size());
  for (int i = 0; i < kDraws; ++i) {
    const TensorList inputs = draw();
    ASSERT_TRUE(op->takes(inputs));
    Tensor gradient;
    {
      TensorList probe = leaves(inputs, at::kDouble);
      const at::NoGradGuard none;
      gradient = at::randn_like(stock(probe)).to(at::kFloat);
    }
    const BlockOutcome truth =
        outcome(stock, leaves(inputs, at::kDouble), gradient);
    const BlockOutcome plain = outcome(stock, leaves(inputs, at::kFloat), gradient);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      kernels::choose_target(targets[t]);
      const BlockOutcome ours = outcome(
          [&](TensorList& in) { return apply_fused(op, in); },
          leaves(inputs, at::kFloat),
          gradient);
      if (ours.result.dim() == 4) {
        EXPECT_TRUE(
            ours.result.is_contiguous(at::MemoryFormat::ChannelsLast));
      }
      add_errors(errors[t], inputs, ours, plain, truth);
      ++errors[t].draws;
    }
  }
  kernels::choose_fastest_target();
  for (std::size_t t = 0; t < targets.size(); ++t) {
    SCOPED_TRACE(kernels::name_of(targets[t]));
    errors[t].check();
  }
}

Tensor wanting(const Tensor& tensor) {
  return tensor.detach().requires_grad_(true);
}

// Norm weight, bias, running mean and variance.
void add_norm(TensorList& inputs, std::int64_t channels) {
  inputs.push_back(wanting(at::rand({channels}) + 0.5));
  inputs.push_back(wanting(at::randn({channels})));
  inputs.push_back(at::randn({channels}));
  inputs.push_back(at::rand({channels}) + 0.5);
}

class FusedMobile : public ::testing::Test {
 protected:
  void SetUp() override {
    torch::manual_seed(getenv("SEED")?atoi(getenv("SEED")):5);
    use_torch_threads_in_test();
  }
  void TearDown() override {
    kernels::set_thread_runner({});
  }
};

const Activation kEvery[] = {
    Activation::kNone,
    Activation::kRelu,
    Activation::kRelu6,
    Activation::kHardswish,
    Activation::kSilu};

TEST_F(FusedMobile, NormActIsAsExactAsLibTorch) {
  for (const bool training : {true, false})
    for (const Activation act : kEvery)
      for (const bool residual : {false, true}) {
        const NormSpec spec{0.1, 1e-5, training};
        const auto draw = [&] {
          TensorList inputs{wanting(at::randn({3, 20, 7, 5}) * 2 + 1)};
          add_norm(inputs, 20);
          inputs.push_back(
              residual ? wanting(at::randn({3, 20, 7, 5})) : Tensor());
          return inputs;
        };
        compare(make_norm_act(spec, act), draw, [&](TensorList& in) {
          Tensor y = norm_by_torch(spec, in[0], in, 1);
          if (in[5].defined()) y = y + in[5];
          return act_by_torch(act, y);
        });
      }
}

TEST_F(FusedMobile, NormActTakesRowsAndAffineFreeNorms) {
  const NormSpec spec{0.3, 1e-3, true};
  const auto draw = [] {
    return TensorList{wanting(at::randn({33, 19})), {}, {}, {}, {}, {}};
  };
  compare(make_norm_act(spec, Activation::kRelu), draw, [&](TensorList& in) {
    return at::relu(norm_by_torch(spec, in[0], in, 1));
  });
}

TEST_F(FusedMobile, NormActKeepsItsDigitsFarFromZero) {
  const NormSpec spec{0.1, 1e-5, true};
  const auto draw = [] {
    TensorList inputs{wanting(at::randn({8, 16, 9, 9}) + 300)};
    add_norm(inputs, 16);
    inputs.push_back({});
    return inputs;
  };
  compare(make_norm_act(spec, Activation::kNone), draw, [&](TensorList& in) {
    return norm_by_torch(spec, in[0], in, 1);
  });
}

struct ConvCase {
  std::int64_t images, channels, height, width, outputs, kernel, stride, groups;
};

void compare_conv(
    const ConvCase& c,
    Activation act,
    bool training,
    bool residual,
    bool x_wants) {
  const ConvSpec conv{
      {c.kernel, c.kernel},
      {c.stride, c.stride},
      {(c.kernel - 1) / 2, (c.kernel - 1) / 2},
      {1, 1},
      c.groups};
  const NormSpec spec{0.1, 1e-5, training};
  const auto draw = [&] {
    Tensor x = at::randn({c.images, c.channels, c.height, c.width});
    if (x_wants) x = wanting(x);
    TensorList inputs{
        x,
        wanting(at::randn(
            {c.outputs, c.channels / c.groups, c.kernel, c.kernel}))};
    add_norm(inputs, c.outputs);
    const at::NoGradGuard none;
    const Tensor like = conv_by_torch(conv, x, inputs[1]);
    inputs.push_back(residual ? wanting(at::randn_like(like)) : Tensor());
    return inputs;
  };
  compare(
      make_conv_norm_act(conv, spec, act),
      draw,
      [&](TensorList& in) {
        Tensor y =
            norm_by_torch(spec, conv_by_torch(conv, in[0], in[1]), in, 2);
        if (in[6].defined()) y = y + in[6];
        return act_by_torch(act, y);
      },
      true);
}

TEST_F(FusedMobile, ConvNormActIsAsExactAsLibTorch) {
  const ConvCase cases[] = {
      {2, 24, 9, 7, 40, 1, 1, 1}, // 1x1
      {4, 16, 33, 33, 96, 1, 1, 1},
      {40, 320, 1, 1, 128, 1, 1, 1},
      {3, 19, 8, 9, 21, 1, 2, 1}, // strided
      {2, 3, 33, 31, 32, 3, 2, 1}, // stems
      {1, 1, 12, 12, 8, 5, 1, 1},
      {2, 20, 9, 11, 20, 3, 1, 20}, // depthwise
      {3, 36, 10, 9, 36, 5, 2, 36},
      {9, 48, 1, 1, 48, 3, 1, 48}};
  for (const ConvCase& c : cases) {
    SCOPED_TRACE(
        std::to_string(c.channels) + " -> " + std::to_string(c.outputs) +
        " k" + std::to_string(c.kernel) + " s" + std::to_string(c.stride));
    compare_conv(c, Activation::kRelu6, true, false, true);
    compare_conv(c, Activation::kRelu, false, true, true);
  }
  for (const Activation act : kEvery)
    compare_conv(cases[0], act, true, true, false);
}

struct BlockCase {
  std::int64_t images, channels, side, hidden, outputs, kernel, stride;
  bool expands, residual;
};

InvertedResidualSpec block_spec(
    const BlockCase& c,
    Activation act,
    Activation last,
    bool training) {
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

TensorList block_inputs(const BlockCase& c) {
  TensorList inputs{wanting(at::randn({c.images, c.channels, c.side, c.side}))};
  const auto add = [&](at::IntArrayRef sizes) {
    inputs.push_back(wanting(at::randn(sizes) * 0.3));
    add_norm(inputs, sizes[0]);
  };
  if (c.expands) add({c.hidden, c.channels, 1, 1});
  add({c.hidden, 1, c.kernel, c.kernel});
  add({c.outputs, c.hidden, 1, 1});
  return inputs;
}

Tensor block_by_torch(const InvertedResidualSpec& spec, TensorList& in) {
  Tensor y = in[0];
  std::size_t at = 1;
  if (spec.expand) {
    y = act_by_torch(
        spec.act,
        norm_by_torch(*spec.expand, at::conv2d(y, in[1]), in, 2));
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
      norm_by_torch(
          spec.project_norm, at::conv2d(y, in[at + 5]), in, at + 6));
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

TEST_F(FusedMobile, InvertedResidualIsAsExactAsLibTorch) {
  for (const BlockCase& c : kBlocks)
    for (const bool training : {true, false}) {
      SCOPED_TRACE(
          std::to_string(c.hidden) + (training ? " training" : " evaluation"));
      const InvertedResidualSpec spec = block_spec(
          c, Activation::kRelu6, Activation::kNone, training);
      compare(
          make_inverted_residual(spec),
          [&] { return block_inputs(c); },
          [&](TensorList& in) { return block_by_torch(spec, in); },
          true);
    }
  for (const Activation act : kEvery) {
    SCOPED_TRACE(static_cast<int>(act));
    const InvertedResidualSpec spec = block_spec(kBlocks[1], act, act, true);
    compare(
        make_inverted_residual(spec),
        [] { return block_inputs(kBlocks[1]); },
        [&](TensorList& in) { return block_by_torch(spec, in); });
  }
}

TEST_F(FusedMobile, TakesAnyStrides) {
  const InvertedResidualSpec spec =
      block_spec(kBlocks[1], Activation::kRelu6, Activation::kNone, true);
  const TensorList inputs = block_inputs(kBlocks[1]);
  TensorList turned = inputs;
  turned[0] = wanting(
      inputs[0].detach().permute({0, 1, 3, 2}).contiguous().permute(
          {0, 1, 3, 2}));
  turned[1] = wanting(
      inputs[1].detach().transpose(0, 1).contiguous().transpose(0, 1));
  const OpPointer op = make_inverted_residual(spec);
  ASSERT_TRUE(op->takes(turned));
  const Tensor a = apply_fused(op, inputs);
  const Tensor b = apply_fused(op, turned);
  EXPECT_TRUE(at::equal(a, b));
  a.sum().backward();
  b.sum().expand_as(b.sum()).backward();
  EXPECT_TRUE(at::equal(inputs[1].grad(), turned[1].grad()));
  EXPECT_TRUE(at::allclose(inputs[0].grad(), turned[0].grad()));
}

TEST_F(FusedMobile, SameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (const BlockCase& c : kBlocks) {
    const InvertedResidualSpec spec =
        block_spec(c, Activation::kRelu6, Activation::kNone, true);
    const TensorList inputs = block_inputs(c);
    const OpPointer op = make_inverted_residual(spec);
    BlockOutcome first;
    for (const int threads : {1, 2}) {
      at::set_num_threads(threads);
      torch::manual_seed(1);
      const BlockOutcome now = outcome(
          [&](TensorList& in) { return apply_fused(op, in); },
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

TEST_F(FusedMobile, WithoutGradientsTheResultIsTheSame) {
  for (const BlockCase& c : kBlocks) {
    const InvertedResidualSpec spec =
        block_spec(c, Activation::kRelu6, Activation::kNone, false);
    const TensorList inputs = block_inputs(c);
    const OpPointer op = make_inverted_residual(spec);
    const Tensor with = apply_fused(op, inputs);
    const at::NoGradGuard none;
    EXPECT_TRUE(at::equal(apply_fused(op, inputs), with.detach()));
  }
}

TEST_F(FusedMobile, DeclinesWhatTheKernelsDoNotCompute) {
  const InvertedResidualSpec spec =
      block_spec(kBlocks[0], Activation::kRelu6, Activation::kNone, true);
  const OpPointer op = make_inverted_residual(spec);
  const TensorList inputs = block_inputs(kBlocks[0]);
  EXPECT_TRUE(op->takes(inputs));
  for (const auto type : {at::kDouble, at::kBFloat16}) {
    TensorList other = inputs;
    other[0] = inputs[0].detach().to(type);
    EXPECT_FALSE(op->takes(other));
  }
  TensorList empty = inputs;
  empty[0] = at::empty({0, 16, 12, 12});
  EXPECT_FALSE(op->takes(empty));
  TensorList wrong = inputs;
  wrong[0] = at::randn({4, 17, 12, 12});
  EXPECT_FALSE(op->takes(wrong));
  const NormSpec norm;
  EXPECT_FALSE(
      make_norm_act(norm, Activation::kGelu)
          ->takes({at::randn({2, 3, 4, 4}), {}, {}, {}, {}, {}}));
  EXPECT_FALSE(
      make_norm_act(norm, Activation::kNone)
          ->takes({at::randn({1, 3}), {}, {}, {}, {}, {}}));
}

} // namespace
} // namespace temper::model

// Blocks of convolutions as fused ops, MobileNet's and ResNet's: results and
// gradients beside LibTorch's own operators, both held against float64.
#include "tests/model/fused/over_draws.h"

namespace temper::model {
namespace {

class FusedBlock : public OnTorchThreads {};

// A layer: outputs, kernel, stride, groups; padding keeps the plane.
struct LayerCase {
  std::int64_t outputs, kernel, stride;
  bool depthwise = false;
};

enum class Sum { kNone, kInput, kShortcut };

struct BlockCase {
  std::int64_t images, channels, side;
  std::vector<LayerCase> layers;
  Sum sum = Sum::kNone;
  LayerCase shortcut{};
};

ConvLayerSpec
layer_spec(const LayerCase& layer, const NormSpec& norm, Activation act) {
  ConvLayerSpec spec;
  spec.conv.kernel = {layer.kernel, layer.kernel};
  spec.conv.stride = {layer.stride, layer.stride};
  spec.conv.padding = {(layer.kernel - 1) / 2, (layer.kernel - 1) / 2};
  if (layer.depthwise) spec.conv.groups = layer.outputs;
  spec.norm = norm;
  spec.act = act;
  return spec;
}

ConvChainSpec
block_spec(const BlockCase& c, Activation act, Activation last, bool training) {
  const NormSpec norm{0.1, 1e-5, training};
  ConvChainSpec spec;
  for (const LayerCase& layer : c.layers)
    spec.layers.push_back(layer_spec(layer, norm, act));
  spec.layers.back().act = last;
  spec.adds_input = c.sum == Sum::kInput;
  if (c.sum == Sum::kShortcut)
    spec.shortcut = layer_spec(c.shortcut, norm, Activation::kNone);
  return spec;
}

OpTensors block_inputs(const BlockCase& c) {
  OpTensors inputs{wanting(at::randn({c.images, c.channels, c.side, c.side}))};
  const auto add = [&](const LayerCase& layer, std::int64_t channels) {
    inputs.push_back(wanting(
        at::randn(
            {layer.outputs,
             layer.depthwise ? 1 : channels,
             layer.kernel,
             layer.kernel}) *
        0.3));
    add_norm(inputs, layer.outputs);
  };
  std::int64_t channels = c.channels;
  for (const LayerCase& layer : c.layers) {
    add(layer, channels);
    channels = layer.outputs;
  }
  if (c.sum == Sum::kShortcut) add(c.shortcut, c.channels);
  return inputs;
}

at::Tensor layer_by_torch(
    const ConvLayerSpec& layer,
    const at::Tensor& x,
    const OpTensors& in,
    std::size_t at) {
  return norm_by_torch(
      layer.norm, conv_by_torch(layer.conv, x, in[at]), in, at + 1);
}

at::Tensor block_by_torch(const ConvChainSpec& spec, const OpTensors& in) {
  at::Tensor y = in[0];
  std::size_t at = 1;
  for (std::size_t i = 0; i < spec.layers.size(); ++i, at += 5) {
    y = layer_by_torch(spec.layers[i], y, in, at);
    if (i + 1 < spec.layers.size()) y = act_by_torch(spec.layers[i].act, y);
  }
  if (spec.adds_input) y = y + in[0];
  if (spec.shortcut) y = y + layer_by_torch(*spec.shortcut, in[0], in, at);
  return act_by_torch(spec.layers.back().act, y);
}

const BlockCase kInverted[] = {
    {4, 16, 12, {{96, 1, 1}, {96, 3, 2, true}, {24, 1, 1}}},
    {4, 24, 8, {{144, 1, 1}, {144, 3, 1, true}, {24, 1, 1}}, Sum::kInput},
    {16, 64, 2, {{384, 1, 1}, {384, 3, 1, true}, {64, 1, 1}}, Sum::kInput},
    {32, 96, 2, {{200, 1, 1}, {200, 3, 2, true}, {40, 1, 1}}},
    {20, 32, 1, {{64, 1, 1}, {64, 5, 1, true}, {32, 1, 1}}, Sum::kInput},
    {2, 32, 14, {{32, 3, 1, true}, {16, 1, 1}}},
    {3, 20, 9, {{20, 5, 1, true}, {20, 1, 1}}, Sum::kInput}};

// Basic and bottleneck blocks: by Winograd's tiles of all kinds, by gathered
// rows, and with strides where either paper has them.
const BlockCase kResidual[] = {
    {4, 32, 12, {{32, 3, 1}, {32, 3, 1}}, Sum::kInput},
    {4, 32, 12, {{48, 3, 2}, {48, 3, 1}}, Sum::kShortcut, {48, 1, 2}},
    {3, 20, 7, {{20, 3, 1}, {20, 3, 1}}, Sum::kInput},
    {16, 64, 2, {{96, 3, 2}, {96, 3, 1}}, Sum::kShortcut, {96, 1, 2}},
    {4, 64, 8, {{16, 1, 1}, {16, 3, 1}, {64, 1, 1}}, Sum::kInput},
    {4,
     64,
     8,
     {{24, 1, 1}, {24, 3, 2}, {96, 1, 1}},
     Sum::kShortcut,
     {96, 1, 2}},
    {4,
     48,
     8,
     {{24, 1, 2}, {24, 3, 1}, {40, 1, 1}},
     Sum::kShortcut,
     {40, 1, 2}},
    {4,
     32,
     8,
     {{16, 1, 1}, {16, 3, 1}, {64, 1, 1}},
     Sum::kShortcut,
     {64, 1, 1}},
    {4, 24, 10, {{24, 3, 1}, {24, 5, 1}}, Sum::kShortcut, {24, 3, 1}},
    {6, 4, 6, {{20, 3, 1}, {4, 3, 1}}, Sum::kInput}};

std::vector<BlockCase> all_blocks() {
  std::vector<BlockCase> all(std::begin(kInverted), std::end(kInverted));
  all.insert(all.end(), std::begin(kResidual), std::end(kResidual));
  return all;
}

std::string text_of(const BlockCase& c) {
  std::string text = std::to_string(c.channels);
  for (const LayerCase& layer : c.layers)
    text += "->" + std::to_string(layer.outputs);
  return text + " at " + std::to_string(c.side);
}

// The activation at a block's end: MobileNet's has none.
Activation usual_end(const BlockCase& c) {
  return c.layers[c.layers.size() - 2].depthwise ? Activation::kNone
                                                 : Activation::kRelu;
}

// How far it may be from float64.
Allowed allowed_for(const BlockCase& c) {
  for (const LayerCase& layer : c.layers)
    if (layer.kernel == 3 && !layer.depthwise) return kByWinograd;
  return {};
}

TEST_F(FusedBlock, IsAsExactAsLibTorch) {
  for (const BlockCase& c : all_blocks())
    for (const bool training : {true, false}) {
      SCOPED_TRACE(text_of(c) + (training ? " training" : " evaluation"));
      const ConvChainSpec spec =
          block_spec(c, Activation::kRelu, usual_end(c), training);
      compare(
          make_conv_chain(spec),
          [&] { return block_inputs(c); },
          [&](const OpTensors& in) { return block_by_torch(spec, in); },
          true,
          allowed_for(c));
    }
}

TEST_F(FusedBlock, HasAnyActivation) {
  for (const Activation act : kEvery)
    for (const BlockCase& c : {kInverted[1], kResidual[0], kResidual[5]}) {
      SCOPED_TRACE(
          text_of(c) + " act " + std::to_string(static_cast<int>(act)));
      const ConvChainSpec spec = block_spec(c, act, act, true);
      compare(
          make_conv_chain(spec),
          [&] { return block_inputs(c); },
          [&](const OpTensors& in) { return block_by_torch(spec, in); },
          false,
          allowed_for(c));
    }
}

TEST_F(FusedBlock, TakesAnyStrides) {
  for (const BlockCase& c : {kInverted[1], kResidual[1], kResidual[4]}) {
    SCOPED_TRACE(text_of(c));
    const ConvChainSpec spec =
        block_spec(c, Activation::kRelu6, usual_end(c), true);
    const OpTensors inputs = block_inputs(c);
    OpTensors turned = inputs;
    turned[0] = wanting(inputs[0]
                            .detach()
                            .permute({0, 1, 3, 2})
                            .contiguous()
                            .permute({0, 1, 3, 2}));
    turned[1] = wanting(
        inputs[1].detach().transpose(0, 1).contiguous().transpose(0, 1));
    const OpPointer op = make_conv_chain(spec);
    ASSERT_TRUE(op->takes(turned));
    const at::Tensor a = apply_fused(op, inputs);
    const at::Tensor b = apply_fused(op, turned);
    EXPECT_TRUE(at::equal(a, b));
    a.sum().backward();
    b.sum().expand_as(b.sum()).backward();
    EXPECT_TRUE(at::equal(inputs[1].grad(), turned[1].grad()));
    EXPECT_TRUE(at::allclose(inputs[0].grad(), turned[0].grad()));
  }
}

BlockOutcome outcome_of(const OpPointer& op, const OpTensors& inputs) {
  OpTensors own = leaves(inputs, at::kFloat);
  at::manual_seed(1);
  const at::Tensor result = apply_fused(op, own);
  result.backward(at::randn_like(result));
  BlockOutcome found{result.detach(), {}, own};
  for (const at::Tensor& one : own)
    found.gradients.push_back(one.grad());
  return found;
}

TEST_F(FusedBlock, HasTheSameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (const BlockCase& c : all_blocks()) {
    SCOPED_TRACE(text_of(c));
    const OpTensors inputs = block_inputs(c);
    const OpPointer op =
        make_conv_chain(block_spec(c, Activation::kRelu6, usual_end(c), true));
    at::set_num_threads(1);
    const BlockOutcome alone = outcome_of(op, inputs);
    for (const int threads : {2, 3}) {
      at::set_num_threads(threads);
      const BlockOutcome now = outcome_of(op, inputs);
      EXPECT_TRUE(at::equal(now.result, alone.result));
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].requires_grad()) {
          EXPECT_TRUE(at::equal(now.gradients[i], alone.gradients[i])) << i;
        } else {
          EXPECT_TRUE(at::equal(now.inputs[i], alone.inputs[i])) << i;
        }
    }
  }
  at::set_num_threads(before);
}

// Frozen parts: what is wanted is the same to the bit, whatever else is.
TEST_F(FusedBlock, GivesAnySubsetOfGradients) {
  for (const BlockCase& c : all_blocks()) {
    const OpTensors inputs = block_inputs(c);
    const OpPointer op =
        make_conv_chain(block_spec(c, Activation::kRelu, usual_end(c), true));
    const BlockOutcome whole = outcome_of(op, inputs);
    for (int draw = 0; draw < 12; ++draw) {
      OpTensors some = leaves(inputs, at::kFloat);
      bool any = false;
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (!inputs[i].requires_grad()) continue;
        const std::size_t bit =
            (i * 7 + static_cast<std::size_t>(draw) * 5) % 12;
        // One input alone, all from one on, or every third.
        const bool wanted = draw < 4 ? i % 4 == static_cast<std::size_t>(draw)
            : draw < 8 ? i >= 5 * static_cast<std::size_t>(draw - 4) + 1
                       : bit < 4;
        some[i].requires_grad_(wanted);
        any = any || wanted;
      }
      if (!any) continue;
      SCOPED_TRACE(text_of(c) + " draw " + std::to_string(draw));
      const BlockOutcome part = outcome_of(op, some);
      EXPECT_TRUE(at::equal(part.result, whole.result));
      for (std::size_t i = 0; i < some.size(); ++i)
        if (some[i].requires_grad()) {
          EXPECT_TRUE(at::equal(part.gradients[i], whole.gradients[i])) << i;
        } else {
          EXPECT_FALSE(part.gradients[i].defined()) << i;
        }
    }
  }
}

// A gradient that autograd handed over is read again by others.
TEST_F(FusedBlock, LeavesTheGradientItIsGiven) {
  for (const BlockCase& c : all_blocks())
    for (const Activation last : {Activation::kNone, Activation::kRelu}) {
      SCOPED_TRACE(text_of(c));
      const OpPointer op =
          make_conv_chain(block_spec(c, Activation::kRelu, last, true));
      const OpTensors inputs = leaves(block_inputs(c), at::kFloat);
      const at::Tensor result = apply_fused(op, inputs);
      const at::Tensor given =
          at::randn_like(result).contiguous(at::MemoryFormat::ChannelsLast);
      const at::Tensor kept = given.clone();
      result.backward(given);
      EXPECT_TRUE(at::equal(given, kept));
    }
}

TEST_F(FusedBlock, WithoutGradientsTheResultIsTheSame) {
  for (const BlockCase& c : all_blocks()) {
    const OpPointer op =
        make_conv_chain(block_spec(c, Activation::kRelu6, usual_end(c), false));
    const OpTensors inputs = block_inputs(c);
    const at::Tensor with = apply_fused(op, inputs);
    const at::NoGradGuard none;
    EXPECT_TRUE(at::equal(apply_fused(op, inputs), with.detach()));
  }
}

TEST_F(FusedBlock, DeclinesWhatTheKernelsDoNotCompute) {
  for (const BlockCase& c : {kInverted[0], kResidual[1]}) {
    const OpPointer op =
        make_conv_chain(block_spec(c, Activation::kRelu6, usual_end(c), true));
    const OpTensors inputs = block_inputs(c);
    EXPECT_TRUE(op->takes(inputs));
    for (const auto type : {at::kDouble, at::kBFloat16}) {
      OpTensors other = inputs;
      other[0] = inputs[0].detach().to(type);
      EXPECT_FALSE(op->takes(other));
    }
    OpTensors empty = inputs;
    empty[0] = at::empty({0, c.channels, 12, 12});
    EXPECT_FALSE(op->takes(empty));
    OpTensors wrong = inputs;
    wrong[0] = at::randn({4, c.channels + 1, 12, 12});
    EXPECT_FALSE(op->takes(wrong));
    for (std::size_t weight = 1; weight < inputs.size(); weight += 5) {
      OpTensors other = inputs;
      other[weight] = inputs[weight].detach().to(at::kDouble);
      EXPECT_FALSE(op->takes(other)) << weight;
    }
  }
  // What is added has other sizes: one pixel more or less.
  const BlockCase uneven{
      2, 8, 7, {{16, 3, 2}, {16, 3, 1}}, Sum::kShortcut, {16, 1, 1}};
  EXPECT_FALSE(
      make_conv_chain(
          block_spec(uneven, Activation::kRelu, Activation::kRelu, true))
          ->takes(block_inputs(uneven)));
}

} // namespace
} // namespace temper::model

// Which sizes fused kernels take: what a graph's shapes say, held against what
// the ops answer when they are given the tensors.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "temper/base/random/philox.h"
#include "temper/base/text.h"
#include "temper/graph/fuse/fused_takes.h"
#include "temper/model/fused/make_fused.h"

namespace temper::model {
namespace {

using graph::Fusion;
using graph::FusionKind;
using graph::Ints;

// Draws groups whose sizes fit each other mostly, and their tensors.
class DrawnGroup {
 public:
  explicit DrawnGroup(std::uint64_t seed) : random_(seed, 1, 0) {}

  Fusion fusion;
  graph::Inferred known;
  FusedOp::Tensors tensors;

  std::int64_t pick(std::initializer_list<std::int64_t> among) {
    const auto at = static_cast<std::size_t>(
        random_.uniform(0, static_cast<double>(among.size()) - 1e-9));
    return among.begin()[at];
  }
  bool chance(double part) {
    return random_.uniform(0, 1) < part;
  }

  void add(const Ints& sizes) {
    const std::string name = cat("value", tensors.size());
    fusion.inputs.push_back(name);
    known.tensors[name] = {graph::DType::kFloat32, sizes};
    tensors.push_back(at::zeros(sizes));
  }
  void add_none() {
    fusion.inputs.emplace_back();
    tensors.emplace_back();
  }
  void add_norm(std::int64_t channels) {
    for (int i = 0; i < 4; ++i)
      add({channels});
    fusion.norms.push_back({0.1, 1e-5, chance(0.7)});
  }
  Ints image() {
    return {
        pick({0, 1, 1, 2, 3}),
        pick({1, 3, 4, 5, 8, 16, 20}),
        pick({1, 1, 2, 3, 6, 9}),
        pick({1, 1, 2, 3, 6, 9})};
  }
  graph::FusedConvolution convolution(std::int64_t groups) {
    graph::FusedConvolution made;
    const std::int64_t kernel = pick({1, 1, 3, 3, 5, 7, 9, 17});
    made.kernel = {kernel, chance(0.9) ? kernel : pick({1, 3})};
    const std::int64_t stride = pick({1, 1, 2, 3});
    made.stride = {stride, chance(0.9) ? stride : 1};
    const std::int64_t padding =
        chance(0.7) ? (kernel - 1) / 2 : pick({0, 1, 3});
    made.padding = {padding, chance(0.9) ? padding : 0};
    if (chance(0.1)) made.dilation = {2, 2};
    made.groups = groups;
    return made;
  }
  Ints filters(const graph::FusedConvolution& of, std::int64_t channels) {
    const std::int64_t outputs =
        of.groups > 1 && chance(0.8) ? of.groups : pick({1, 4, 8, 12});
    return {
        outputs,
        chance(0.95) ? channels / of.groups : channels + 1,
        of.kernel[0],
        of.kernel[1]};
  }
  graph::FusedActivation activation() {
    return static_cast<graph::FusedActivation>(
        pick({0, 1, 1, 2, 2, 3, 4, 5, 6}));
  }

  void draw_convolution(FusionKind kind) {
    fusion.kind = kind;
    const Ints x = image();
    const bool depthwise = chance(0.4);
    auto of = convolution(depthwise ? x[1] : 1);
    const bool pooled = kind == FusionKind::kConvActPool && chance(0.5);
    if (pooled) { // few others fit
      const std::int64_t padding = pick({0, 1});
      of = {{3, 3}, {1, 1}, {padding, padding}, {1, 1}, 1};
    }
    const Ints weight = filters(of, x[1]);
    fusion.convolutions = {of};
    fusion.act = pooled ? graph::FusedActivation::kRelu : activation();
    fusion.pool = pick({2, 2, 2, 3});
    add(x);
    add(weight);
    if (kind != FusionKind::kConvNormAct) {
      if (chance(0.5))
        add({weight[0]});
      else
        add_none();
      return;
    }
    add_norm(weight[0]);
    if (chance(0.5))
      add_none();
    else
      add(chance(0.8) ? possible(graph::convolved(of, x, weight[0])) : x);
  }

  // An image that is smaller than its filter has no result.
  static Ints possible(Ints sizes) {
    for (std::int64_t& size : sizes)
      size = std::max<std::int64_t>(size, 0);
    return sizes;
  }

  void draw_norm() {
    fusion.kind = FusionKind::kNormAct;
    fusion.act = activation();
    const Ints x = image();
    add(x);
    add_norm(x[1]);
    if (chance(0.5))
      add_none();
    else
      add(chance(0.8) ? x : image());
  }

  void draw_block() {
    fusion.kind = FusionKind::kInvertedResidual;
    fusion.act = activation();
    fusion.last_act =
        chance(0.8) ? graph::FusedActivation::kNone : activation();
    const Ints x = image();
    const std::int64_t hidden = chance(0.5) ? x[1] : 12;
    const std::int64_t outputs = chance(0.5) ? x[1] : 7;
    add(x);
    const auto layer = [&](const graph::FusedConvolution& of, Ints weight) {
      fusion.convolutions.push_back(of);
      add(weight);
      add_norm(weight[0]);
    };
    if (hidden != x[1] || chance(0.3)) layer({}, {hidden, x[1], 1, 1});
    const auto middle = convolution(hidden);
    layer(middle, {hidden, 1, middle.kernel[0], middle.kernel[1]});
    layer({}, {outputs, hidden, 1, 1});
    fusion.residual = chance(0.5);
  }

  // Two or three layers, and what is added to the last.
  void draw_residual_block() {
    fusion.kind = FusionKind::kResidualBlock;
    fusion.act = chance(0.7) ? graph::FusedActivation::kRelu : activation();
    fusion.last_act =
        chance(0.7) ? graph::FusedActivation::kRelu : activation();
    const Ints x = image();
    add(x);
    const auto layer = [&](const graph::FusedConvolution& of, Ints weight) {
      fusion.convolutions.push_back(of);
      add(weight);
      add_norm(weight[0]);
    };
    const auto usual = [&](std::int64_t stride) {
      const std::int64_t kernel = pick({1, 3, 3});
      const std::int64_t padding = chance(0.95) ? (kernel - 1) / 2 : 1;
      return graph::FusedConvolution{
          {kernel, kernel}, {stride, stride}, {padding, padding}, {1, 1}, 1};
    };
    const std::int64_t stride = pick({1, 1, 2});
    fusion.shortcut = stride > 1 || chance(0.3);
    fusion.residual = !fusion.shortcut;
    const std::int64_t layers = pick({2, 3});
    const std::int64_t outputs =
        fusion.shortcut && chance(0.5) ? pick({4, 24}) : x[1];
    const std::int64_t strided = pick({0, 1});
    std::int64_t channels = x[1];
    for (std::int64_t i = 0; i < layers; ++i) {
      auto of = usual(i == strided ? stride : 1);
      if (chance(0.05)) of = convolution(1);
      const std::int64_t made = i + 1 == layers ? outputs : pick({3, 8, 12});
      layer(
          of,
          {made,
           chance(0.98) ? channels : channels + 1,
           of.kernel[0],
           of.kernel[1]});
      channels = made;
    }
    if (!fusion.shortcut) return;
    graph::FusedConvolution of;
    of.stride = {stride, chance(0.95) ? stride : 1};
    layer(of, {outputs, x[1], 1, 1});
  }

  void draw_linear() {
    fusion.kind = FusionKind::kLinear;
    const std::int64_t in = pick({1, 3, 8});
    const std::int64_t out = pick({1, 5, 8});
    Ints x{pick({0, 1, 4}), in};
    if (chance(0.5)) x.insert(x.begin(), 3);
    Ints made = x;
    made.back() = out;
    add(x);
    add({out, chance(0.9) ? in : in + 1});
    if (chance(0.5))
      add({out});
    else
      add_none();
    if (chance(0.5))
      add_none();
    else
      add(chance(0.8) ? made : Ints{out});
  }

  void draw_image_linear() {
    fusion.kind = FusionKind::kImageLinear;
    const std::int64_t out = pick({1, 5, 8});
    const Ints x{pick({0, 1, 4}), 3, pick({1, 2}), pick({1, 5})};
    add(chance(0.9) ? x : Ints{x[0], x[1], x[2] * x[3]});
    const std::int64_t in = x[1] * x[2] * x[3];
    add({out, chance(0.9) ? in : in + 1});
    if (chance(0.5))
      add({out});
    else
      add_none();
    if (chance(0.5))
      add_none();
    else
      add(chance(0.8) ? Ints{x[0], out} : Ints{out});
  }

  void draw_attention() {
    fusion.kind = FusionKind::kAttention;
    const Ints q{pick({0, 1, 2}), pick({1, 3}), pick({1, 5}), pick({4, 8})};
    add(q);
    Ints k = q;
    if (chance(0.3)) k[2] = 7;
    if (chance(0.2)) k[3] = 6;
    if (chance(0.1)) k[1] = 2;
    add(k);
    if (chance(0.3)) k[3] = 5;
    if (chance(0.1)) k[2] = 9;
    add(k);
  }

 private:
  RandomStream random_;
};

bool op_takes(const DrawnGroup& group) {
  const OpPointer op = make_fused(group.fusion);
  return op != nullptr && op->takes(group.tensors);
}

class FusedTakes : public testing::TestWithParam<FusionKind> {};

TEST_P(FusedTakes, SaysOfShapesWhatTheOpSaysOfTensors) {
  int taken = 0;
  constexpr int kDraws = 3000;
  for (int seed = 0; seed < kDraws; ++seed) {
    DrawnGroup group(static_cast<std::uint64_t>(seed));
    switch (GetParam()) {
      case FusionKind::kNormAct:
        group.draw_norm();
        break;
      case FusionKind::kInvertedResidual:
        group.draw_block();
        break;
      case FusionKind::kResidualBlock:
        group.draw_residual_block();
        break;
      case FusionKind::kLinear:
        group.draw_linear();
        break;
      case FusionKind::kImageLinear:
        group.draw_image_linear();
        break;
      case FusionKind::kAttention:
        group.draw_attention();
        break;
      default:
        group.draw_convolution(GetParam());
    }
    const bool takes = op_takes(group);
    std::string sizes;
    for (const at::Tensor& each : group.tensors)
      if (each.defined()) sizes += cat(c10::str(each.sizes()), " ");
    ASSERT_EQ(graph::fused_takes(group.fusion, group.known), takes)
        << "draw " << seed << ": " << sizes;
    taken += takes ? 1 : 0;
  }
  // Both answers are met.
  EXPECT_GT(taken, kDraws / 50);
  EXPECT_LT(taken, kDraws - kDraws / 50);
}

INSTANTIATE_TEST_SUITE_P(
    OfEachKind,
    FusedTakes,
    testing::Values(
        FusionKind::kConvolution,
        FusionKind::kConvNormAct,
        FusionKind::kNormAct,
        FusionKind::kInvertedResidual,
        FusionKind::kResidualBlock,
        FusionKind::kConvActPool,
        FusionKind::kLinear,
        FusionKind::kImageLinear,
        FusionKind::kAttention));

} // namespace
} // namespace temper::model

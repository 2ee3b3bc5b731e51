#include "temper/graph/fuse/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "temper/model/zoo/zoo.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

Graph zoo(const model::ZooOptions& options) {
  return model::blueprint(options).graph;
}

std::size_t count_of(const Fusions& found, FusionKind kind) {
  return static_cast<std::size_t>(std::count_if(
      found.groups.begin(), found.groups.end(), [&](const Fusion& each) {
        return each.kind == kind;
      }));
}

const Fusion& first_of(const Fusions& found, FusionKind kind) {
  return *std::find_if(
      found.groups.begin(), found.groups.end(), [&](const Fusion& each) {
        return each.kind == kind;
      });
}

// What holds of all fusions, whatever the graph.
void expect_sound(const Graph& graph, const Fusions& found) {
  std::set<std::size_t> taken;
  for (const Fusion& group : found.groups) {
    ASSERT_FALSE(group.nodes.empty());
    EXPECT_TRUE(std::is_sorted(group.nodes.begin(), group.nodes.end()));
    for (const std::size_t node : group.nodes)
      EXPECT_TRUE(taken.insert(node).second) << "node " << node << " twice";
    EXPECT_EQ(
        values_made(graph.nodes[group.nodes.back()]).front(), group.output);
  }
}

TEST(FindFusions, MobileNetIsSeventeenBlocksAStemAndAHead) {
  const Graph graph = zoo({.name = "mobilenet_v2"});
  const Fusions found = find_fusions(graph);
  expect_sound(graph, found);
  EXPECT_EQ(count_of(found, FusionKind::kInvertedResidual), 17U);
  EXPECT_EQ(count_of(found, FusionKind::kConvNormAct), 2U);
  EXPECT_EQ(count_of(found, FusionKind::kLinear), 1U);
  EXPECT_EQ(
      found.report,
      "52 of 52 convolutions, 52 of 52 BatchNorm, 1 of 1 linear, in 17 "
      "inverted residuals");
  const Fusion& first = first_of(found, FusionKind::kInvertedResidual);
  EXPECT_EQ(first.convolutions.size(), 2U) << "the first block expands nothing";
  EXPECT_EQ(first.inputs.size(), 11U);
  EXPECT_EQ(first.act, FusedActivation::kRelu6);
  EXPECT_EQ(first.last_act, FusedActivation::kNone);
  int residuals = 0;
  for (const Fusion& group : found.groups)
    residuals += group.kind == FusionKind::kInvertedResidual && group.residual;
  EXPECT_EQ(residuals, 10);
}

TEST(FindFusions, EvalModeHasTheSameBlocksByRunningStatistics) {
  const Program program = model::build({.name = "mobilenet_v2", .width = 0.25});
  const Graph graph = switch_mode(program, false).program.graph;
  const Fusions found = find_fusions(graph);
  expect_sound(graph, found);
  EXPECT_EQ(count_of(found, FusionKind::kInvertedResidual), 17U);
  for (const Fusion& group : found.groups)
    for (const FusedNorm& norm : group.norms)
      EXPECT_FALSE(norm.training);
}

TEST(FindFusions, ResidualSumsGoToTheLayerBeforeThem) {
  const Graph graph = zoo({.name = "resnet18"});
  const Fusions found = find_fusions(graph);
  expect_sound(graph, found);
  EXPECT_EQ(count_of(found, FusionKind::kConvNormAct), 20U);
  int sums = 0;
  for (const Fusion& group : found.groups)
    sums += group.kind == FusionKind::kConvNormAct && !group.inputs[6].empty();
  EXPECT_EQ(sums, 8);
  const Fusion& stem = first_of(found, FusionKind::kConvNormAct);
  EXPECT_EQ(stem.convolutions[0].kernel, (std::array<std::int64_t, 2>{7, 7}));
  EXPECT_EQ(stem.convolutions[0].stride, (std::array<std::int64_t, 2>{2, 2}));
  EXPECT_EQ(stem.convolutions[0].padding, (std::array<std::int64_t, 2>{3, 3}));
  EXPECT_EQ(stem.act, FusedActivation::kRelu);
}

TEST(FindFusions, AConvolutionWithItsPoolIsOneGroup) {
  const Fusions found = find_fusions(zoo({.name = "cnn"}));
  EXPECT_EQ(count_of(found, FusionKind::kConvActPool), 1U);
  EXPECT_EQ(first_of(found, FusionKind::kConvActPool).pool, 2);
  EXPECT_EQ(count_of(found, FusionKind::kLinear), 1U);
}

TEST(FindFusions, TransformersAreLinearNormAndAttention) {
  const Graph graph = zoo({.name = "vit_tiny"});
  const Fusions found = find_fusions(graph);
  expect_sound(graph, found);
  EXPECT_EQ(count_of(found, FusionKind::kAttention), 12U);
  EXPECT_EQ(count_of(found, FusionKind::kLayerNorm), 25U);
  EXPECT_EQ(count_of(found, FusionKind::kLinear), 49U);
  EXPECT_FALSE(first_of(found, FusionKind::kAttention).causal);
  const Graph gpt = zoo({.name = "gpt_tiny"});
  EXPECT_TRUE(first_of(find_fusions(gpt), FusionKind::kAttention).causal);
}

TEST(FindFusions, DropoutInAttentionIsLeftToLibTorch) {
  const Graph graph = zoo({.name = "gpt_tiny", .dropout = 0.1});
  EXPECT_EQ(count_of(find_fusions(graph), FusionKind::kAttention), 0U);
}

// conv, norm, relu of one image, with whatever is to be tried in between.
struct Chain {
  Builder b{"test"};
  Value x = b.input("x", DType::kFloat32, {8, 6, 6});
  Value conv =
      b.conv2d("c", x, {.out = 8, .kernel = 3, .padding = 1, .bias = false});
  Value norm = b.batch_norm("n", conv);

  Fusions end(const Value& result) {
    graph = b.finish(result).graph;
    const Fusions found = find_fusions(graph);
    expect_sound(graph, found);
    return found;
  }
  Graph graph;
};

TEST(FindFusions, AValueThatTwoReadEndsTheGroup) {
  Chain chain;
  const Value relu = chain.b.relu("r", chain.norm);
  const Fusions found =
      chain.end(chain.b.add("", relu, chain.b.relu("r2", chain.norm)));
  const Fusion& group = first_of(found, FusionKind::kConvNormAct);
  EXPECT_EQ(group.output, chain.norm.name);
  EXPECT_EQ(group.act, FusedActivation::kNone);
}

TEST(FindFusions, AConvolutionThatTwoReadIsNotMergedWithItsNorm) {
  Chain chain;
  const Fusions found = chain.end(chain.b.add("", chain.norm, chain.conv));
  EXPECT_EQ(count_of(found, FusionKind::kConvNormAct), 0U);
  EXPECT_EQ(count_of(found, FusionKind::kNormAct), 1U);
  EXPECT_EQ(count_of(found, FusionKind::kConvolution), 1U);
}

TEST(FindFusions, NobodyWritesToWhatAGroupWaitsToRead) {
  Chain chain;
  // The input is changed in place after the convolution has read it: the group
  // would read the changed one.
  const Value changed = chain.b.relu_("in_place", chain.x);
  const Value relu = chain.b.relu("r", chain.norm);
  const Fusions found = chain.end(chain.b.add("", relu, changed));
  for (const Fusion& group : found.groups) {
    const bool waits = group.nodes.front() != group.nodes.back();
    const bool reads_x =
        std::find(group.inputs.begin(), group.inputs.end(), chain.x.name) !=
        group.inputs.end();
    EXPECT_FALSE(waits && reads_x);
  }
}

TEST(FindFusions, ASumIsNotAlsoTheOtherBranchs) {
  Chain chain;
  const Value other = chain.b.batch_norm(
      "n2",
      chain.b.conv2d("c2", chain.x, {.out = 8, .kernel = 1, .bias = false}));
  const Fusions found =
      chain.end(chain.b.relu("r", chain.b.add("", chain.norm, other)));
  EXPECT_EQ(count_of(found, FusionKind::kConvNormAct), 2U);
  int sums = 0;
  for (const Fusion& group : found.groups)
    sums += !group.inputs[6].empty();
  EXPECT_EQ(sums, 1);
}

TEST(FindFusions, GroupsDoNotCrossSegmentsThatAreComputedAgain) {
  Program program = model::build({.name = "mobilenet_v2", .width = 0.25});
  const Graph marked =
      mark_recompute(program, {"features.3.conv.0"}).program.graph;
  const Fusions found = find_fusions(marked);
  expect_sound(marked, found);
  for (const Fusion& group : found.groups)
    for (const std::size_t node : group.nodes)
      EXPECT_EQ(
          marked.nodes[node].recompute_segment,
          marked.nodes[group.nodes.front()].recompute_segment);
  EXPECT_EQ(count_of(found, FusionKind::kInvertedResidual), 16U);
}

} // namespace
} // namespace temper::graph

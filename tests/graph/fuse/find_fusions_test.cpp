#include "temper/graph/fuse/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "temper/base/text.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"
#include "tests/graph/pt2/pt2_files.h"
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
      "52 of 52 convolutions, 17 of 17 depthwise, 52 of 52 BatchNorm, 1 of 1 "
      "linear fused, in 17 inverted residuals");
  EXPECT_TRUE(found.left.empty());
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
  EXPECT_EQ(count_of(found, FusionKind::kConvNormAct), 1U);
  int sums = 0;
  for (const Fusion& group : found.groups)
    for (const Fusion& part : group.parts)
      sums += part.kind == FusionKind::kConvNormAct && !part.inputs[6].empty();
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
}

TEST(FindFusions, ALinearLayerTakesInTheRowsMadeOfImages) {
  const Graph graph = zoo({.name = "cnn"});
  const Fusions found = find_fusions(graph);
  expect_sound(graph, found);
  const Fusion& layer = first_of(found, FusionKind::kImageLinear);
  EXPECT_EQ(layer.inputs[0], first_of(found, FusionKind::kConvActPool).output);
  ASSERT_EQ(layer.parts.size(), 1U);
  EXPECT_EQ(layer.parts[0].kind, FusionKind::kLinear);
  EXPECT_EQ(layer.parts[0].nodes, std::vector{layer.nodes.back()});
  // What is dropped in between is LibTorch's, and so are the rows.
  const Fusions dropping = find_fusions(zoo({.name = "cnn", .dropout = 0.5}));
  EXPECT_EQ(count_of(dropping, FusionKind::kImageLinear), 0U);
  EXPECT_EQ(count_of(dropping, FusionKind::kLinear), 1U);
}

TEST(FindFusions, AMeanOverThePlaneIsAGroup) {
  for (const char* name : {"mobilenet_v2", "resnet18"}) {
    const Fusions found = find_fusions(zoo({.name = name}));
    ASSERT_EQ(count_of(found, FusionKind::kMeanPool), 1U) << name;
    EXPECT_TRUE(first_of(found, FusionKind::kMeanPool).keeps_plane);
  }
}

TEST(FindFusions, TransformersAreBlocks) {
  const Graph graph = zoo({.name = "vit_tiny"});
  const Fusions found = find_fusions(graph);
  expect_sound(graph, found);
  EXPECT_EQ(count_of(found, FusionKind::kTransformerBlock), 12U);
  EXPECT_EQ(count_of(found, FusionKind::kAttention), 0U);
  EXPECT_EQ(count_of(found, FusionKind::kLayerNorm), 1U);
  EXPECT_EQ(count_of(found, FusionKind::kLinear), 1U);
  EXPECT_EQ(
      found.report,
      "1 of 1 convolutions, 49 of 49 linear, 25 of 25 LayerNorm, 12 of 12 "
      "attention fused, in 12 transformer blocks");
  const Fusion& block = first_of(found, FusionKind::kTransformerBlock);
  EXPECT_EQ(block.inputs.size(), 13U);
  EXPECT_EQ(block.heads, 3);
  EXPECT_EQ(block.eps, 1e-6);
  EXPECT_EQ(block.second_eps, 1e-6);
  EXPECT_EQ(block.act, FusedActivation::kGelu);
  EXPECT_FALSE(block.causal);
  EXPECT_EQ(block.parts.size(), 7U);
  const Graph gpt = zoo({.name = "gpt_tiny"});
  const Fusions causal = find_fusions(gpt);
  expect_sound(gpt, causal);
  EXPECT_EQ(count_of(causal, FusionKind::kTransformerBlock), 4U);
  EXPECT_TRUE(first_of(causal, FusionKind::kTransformerBlock).causal);
}

TEST(FindFusions, AnExportedBlockIsFoundThroughItsChunksAndViews) {
  const Graph graph = read_pt2(pt2_fixture("attention")).graph;
  const Fusions found = find_fusions(graph);
  expect_sound(graph, found);
  ASSERT_EQ(count_of(found, FusionKind::kTransformerBlock), 1U);
  const Fusion& block = first_of(found, FusionKind::kTransformerBlock);
  EXPECT_EQ(block.heads, 2);
  EXPECT_TRUE(block.causal);
  EXPECT_EQ(
      block.inputs,
      (std::vector<std::string>{
          "add",
          "p_norm1_weight",
          "p_norm1_bias",
          "p_qkv_weight",
          "p_qkv_bias",
          "p_out_weight",
          "p_out_bias",
          "p_norm2_weight",
          "p_norm2_bias",
          "p_up_weight",
          "p_up_bias",
          "p_down_weight",
          "p_down_bias"}));
}

// A block of 5 tokens with 2 heads of 4 features, as it should be or not.
struct Block {
  enum class Fault {
    kNone,
    kKeysFirst,
    kHeadsOutermost,
    kOtherResidual,
    kMiddleIsRead,
    kDropout
  };
  explicit Block(Fault fault) {
    Value x = b.input("x", DType::kFloat32, {5, 8});
    Value y = b.linear("qkv", b.layer_norm("n1", x, 1e-5), {.out = 24});
    const bool outermost = fault == Fault::kHeadsOutermost;
    y = b.reshape("", y, outermost ? Ints{5, 2, 3, 4} : Ints{5, 3, 2, 4});
    y = b.permute("", y, outermost ? Ints{3, 0, 2, 1, 4} : Ints{2, 0, 3, 1, 4});
    const std::vector<Value> parts = b.unbind("", y);
    const std::size_t first = fault == Fault::kKeysFirst ? 1 : 0;
    y = b.attention("", parts[first], parts[1 - first], parts[2]);
    y = b.reshape("", b.transpose("", y, 1, 2), {5, 8});
    const Value proj = b.linear("proj", y, {.out = 8});
    const Value middle =
        b.add("", fault == Fault::kOtherResidual ? y : x, proj);
    y = b.linear("fc1", b.layer_norm("n2", middle, 1e-6), {.out = 16});
    y = b.linear("fc2", b.relu("act", y), {.out = 8});
    if (fault == Fault::kDropout) y = b.dropout("drop", y, 0.1);
    y = b.add("", middle, y);
    if (fault == Fault::kMiddleIsRead) y = b.add("", y, middle);
    graph = b.finish(y).graph;
  }
  Builder b{"test"};
  Graph graph;
};

TEST(FindFusions, WhatIsNotQuiteATransformerBlockStaysItsLayers) {
  using Fault = Block::Fault;
  for (const Fault fault :
       {Fault::kNone,
        Fault::kKeysFirst,
        Fault::kHeadsOutermost,
        Fault::kOtherResidual,
        Fault::kMiddleIsRead,
        Fault::kDropout}) {
    SCOPED_TRACE(static_cast<int>(fault));
    const Block block(fault);
    const Fusions found = find_fusions(block.graph);
    expect_sound(block.graph, found);
    const std::size_t whole = fault == Fault::kNone ? 1 : 0;
    EXPECT_EQ(count_of(found, FusionKind::kTransformerBlock), whole);
    EXPECT_EQ(count_of(found, FusionKind::kAttention), 1 - whole);
    EXPECT_EQ(count_of(found, FusionKind::kLinear), 4 * (1 - whole));
  }
}

TEST(FindFusions, ADropoutThatDropsNothingIsPartOfItsLayer) {
  const Program program =
      model::build({.name = "gpt_tiny", .dropout = 0.1, .context = 16});
  const Graph graph = switch_mode(program, false).program.graph;
  const Fusions found = find_fusions(graph);
  expect_sound(graph, found);
  EXPECT_EQ(count_of(found, FusionKind::kTransformerBlock), 4U);
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

// The first node of the operator.
Node& first_node_of(Graph& graph, const std::string& op) {
  return *std::find_if(
      graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
        return node.op.find(op) != std::string::npos;
      });
}

// Whatever keeps a convolution from the kernels does not keep its BatchNorm.
TEST(FindFusions, WhatTheKernelsDoNotTakeIsLeftAndNamed) {
  const auto left = [](const Conv2d& layer, bool dilated) {
    Builder b{"test"};
    const Value x = b.input("x", DType::kFloat32, {8, 12, 12});
    const Value y = b.relu("r", b.batch_norm("n", b.conv2d("c", x, layer)));
    Graph graph = b.finish(y).graph;
    if (dilated) {
      Node& conv = first_node_of(graph, "conv2d");
      for (NamedArgument& each : conv.inputs)
        if (each.name == "padding") each.value = Ints{2, 2};
      conv.inputs.push_back({"dilation", Ints{2, 2}});
    }
    const Fusions found = find_fusions(graph);
    expect_sound(graph, found);
    EXPECT_EQ(count_of(found, FusionKind::kNormAct), 1U);
    EXPECT_EQ(count_of(found, FusionKind::kConvNormAct), 0U);
    return found.report;
  };
  EXPECT_EQ(
      left({.out = 8, .kernel = 3, .padding = 1, .bias = false}, true),
      "0 of 1 convolutions, 1 of 1 BatchNorm fused; 1 left to LibTorch: "
      "dilation");
  EXPECT_EQ(
      left(
          {.out = 8, .kernel = 3, .padding = 1, .groups = 4, .bias = false},
          false),
      "0 of 1 convolutions, 1 of 1 BatchNorm fused; 1 left to LibTorch: "
      "groups");
  EXPECT_EQ(
      left(
          {.out = 8, .kernel = 7, .padding = 3, .groups = 8, .bias = false},
          false),
      "0 of 1 convolutions, 0 of 1 depthwise, 1 of 1 BatchNorm fused; 1 left "
      "to LibTorch: depthwise 7x7");
}

TEST(FindFusions, ReasonsAreCountedTheMostFrequentFirst) {
  Builder b{"test"};
  Value x = b.input("x", DType::kFloat32, {8, 12, 12});
  for (const std::int64_t groups : {1, 2, 8, 4})
    x = b.conv2d(
        cat("c", groups),
        x,
        {.out = 8, .kernel = 7, .padding = 3, .groups = groups});
  EXPECT_EQ(
      find_fusions(b.finish(x).graph).report,
      "1 of 4 convolutions, 0 of 1 depthwise fused; 3 left to LibTorch: groups "
      "(2), depthwise 7x7 (1)");
}

TEST(FindFusions, AnActivationThatFollowsNoNormStaysApart) {
  Chain chain;
  const Fusions found = chain.end(chain.b.gelu("g", chain.norm));
  const Fusion& group = first_of(found, FusionKind::kConvNormAct);
  EXPECT_EQ(group.output, chain.norm.name);
  EXPECT_EQ(group.act, FusedActivation::kNone);
}

// The kernel takes few channels and cells of 2 x 2; else the convolution goes
// to the kernels alone.
TEST(FindFusions, APoolThatTheKernelHasNotIsNoReasonToLeaveTheConvolution) {
  for (const bool many : {true, false}) {
    Builder b{"test"};
    const std::int64_t channels = many ? 64 : 8;
    const Value x = b.input("x", DType::kFloat32, {channels, 12, 12});
    const Value y =
        b.relu("r", b.conv2d("c", x, {.out = 8, .kernel = 3, .padding = 1}));
    const Pool pool{.kernel = many ? 2 : 3, .stride = 2};
    const Graph graph = b.finish(b.max_pool2d("p", y, pool)).graph;
    const Fusions found = find_fusions(graph);
    EXPECT_EQ(count_of(found, FusionKind::kConvActPool), 0U);
    EXPECT_EQ(count_of(found, FusionKind::kConvolution), 1U);
  }
}

TEST(FindFusions, NormsThatStayAloneLeaveTheirConvolutionsToTheKernels) {
  FusionOptions options;
  options.norms_stay_alone = true;
  const Graph graph = zoo({.name = "resnet18"});
  const Fusions found = find_fusions(graph, options);
  expect_sound(graph, found);
  EXPECT_EQ(count_of(found, FusionKind::kConvolution), 20U);
  EXPECT_EQ(found.alone.size(), 20U);
  const Graph still =
      switch_mode(model::build({.name = "resnet18", .width = 0.25}), false)
          .program.graph;
  const Fusions evaluated = find_fusions(still, options);
  EXPECT_EQ(count_of(evaluated, FusionKind::kResidualBlock), 8U);
  EXPECT_EQ(count_of(found, FusionKind::kResidualBlock), 0U);
  EXPECT_TRUE(evaluated.alone.empty());
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

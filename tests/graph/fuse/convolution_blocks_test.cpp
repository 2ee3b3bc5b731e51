// Blocks of convolutions in graphs: which layers are one group, and which stay
// by themselves.
#include <gtest/gtest.h>

#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/build/builder.h"
#include "temper/graph/fuse/fusion.h"
#include "temper/graph/pass/passes.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"
#include "tests/graph/pt2/pt2_files.h"

namespace temper::graph {
namespace {

std::vector<Fusion> residual_blocks(const Fusions& found) {
  std::vector<Fusion> blocks;
  for (const Fusion& group : found.groups)
    if (group.kind == FusionKind::kResidualBlock) blocks.push_back(group);
  return blocks;
}

Graph in_training(const Blueprint& made) {
  Program program;
  program.graph = made.graph;
  return switch_mode(program, true).program.graph;
}

TEST(ConvolutionBlocks, ResNetsAreBlocksBehindAStem) {
  struct Expected {
    const char* name;
    std::size_t blocks, shortcuts, layers;
  };
  for (const Expected& each :
       {Expected{"resnet18", 8, 3, 2},
        Expected{"resnet34", 16, 3, 2},
        Expected{"resnet50", 16, 4, 3}}) {
    SCOPED_TRACE(each.name);
    const Graph graph = model::blueprint({.name = each.name}).graph;
    const Fusions found = find_fusions(graph);
    const std::vector<Fusion> blocks = residual_blocks(found);
    ASSERT_EQ(blocks.size(), each.blocks);
    std::size_t shortcuts = 0;
    for (const Fusion& block : blocks) {
      EXPECT_EQ(block.shortcut, !block.residual);
      const std::size_t layers = each.layers + (block.shortcut ? 1 : 0);
      shortcuts += block.shortcut ? 1 : 0;
      EXPECT_EQ(block.convolutions.size(), layers);
      EXPECT_EQ(block.norms.size(), layers);
      EXPECT_EQ(block.parts.size(), layers);
      EXPECT_EQ(block.inputs.size(), 1 + 5 * layers);
      EXPECT_EQ(block.act, FusedActivation::kRelu);
      EXPECT_EQ(block.last_act, FusedActivation::kRelu);
      EXPECT_TRUE(std::is_sorted(block.nodes.begin(), block.nodes.end()));
    }
    EXPECT_EQ(shortcuts, each.shortcuts);
    // Each reads what the one before it made.
    for (std::size_t i = 1; i < blocks.size(); ++i)
      EXPECT_EQ(blocks[i].inputs.front(), blocks[i - 1].output);
    EXPECT_NE(
        found.report.find(cat(", in ", each.blocks, " residual blocks")),
        std::string::npos)
        << found.report;
  }
}

TEST(ConvolutionBlocks, TheStridesOfABottleneckAreInTheirPlaces) {
  const Fusions found =
      find_fusions(model::blueprint({.name = "resnet50"}).graph);
  const std::vector<Fusion> blocks = residual_blocks(found);
  const Fusion& second_stage = blocks.at(3);
  ASSERT_TRUE(second_stage.shortcut);
  const std::array<std::int64_t, 2> one{1, 1};
  const std::array<std::int64_t, 2> two{2, 2};
  EXPECT_EQ(second_stage.convolutions[0].stride, one);
  EXPECT_EQ(second_stage.convolutions[1].stride, two);
  EXPECT_EQ(second_stage.convolutions[1].padding, one);
  EXPECT_EQ(second_stage.convolutions[2].stride, one);
  EXPECT_EQ(second_stage.convolutions[3].stride, two);
}

TEST(ConvolutionBlocks, OfAnExportedFileAreTheSame) {
  const auto file = shared_pt2() / "tiny_resnet.pt2";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const Graph graph = read_pt2(file).graph;
  const Fusions found = find_fusions(graph);
  EXPECT_FALSE(residual_blocks(found).empty()) << found.report;
}

TEST(ConvolutionBlocks, EvalModeAndFrozenNormsHaveThemToo) {
  const Program program = model::build({.name = "resnet18", .width = 0.25});
  const Graph graph = switch_mode(program, false).program.graph;
  const std::vector<Fusion> blocks = residual_blocks(find_fusions(graph));
  EXPECT_EQ(blocks.size(), 8U);
  for (const Fusion& block : blocks)
    for (const FusedNorm& norm : block.norms)
      EXPECT_FALSE(norm.training);
}

TEST(ConvolutionBlocks, StayPartsWhereTheirNormsStayAlone) {
  const Graph graph = model::blueprint({.name = "resnet18"}).graph;
  FusionOptions options;
  options.norms_stay_alone = true;
  EXPECT_TRUE(residual_blocks(find_fusions(graph, options)).empty());
}

// A basic block in several hands.
struct Drawn {
  bool shortcut = false;
  bool shortcut_first = false; // its nodes stand ahead of the others
  bool shortcut_acts = false;
  bool read_inside = false; // somebody else reads what lies in between
  bool adds_another = false; // and not x
  bool turned = false; // shortcut + y
};

Graph drawn_block(const Drawn& how) {
  Builder b("test");
  const Value image = b.input("x", DType::kFloat32, {8, 6, 6});
  const Value x = b.relu("", image);
  const auto layer =
      [&](const std::string& name, const Value& of, std::int64_t kernel) {
        return b.batch_norm(
            cat(name, "_norm"),
            b.conv2d(
                name,
                of,
                {.out = 8,
                 .kernel = kernel,
                 .padding = kernel / 2,
                 .bias = false}));
      };
  const auto beside = [&] {
    if (!how.shortcut) return how.adds_another ? image : x;
    const Value y = layer("short", x, 1);
    return how.shortcut_acts ? b.relu("", y) : y;
  };
  Value other = x;
  if (how.shortcut_first) other = beside();
  const Value inner = b.relu("", layer("a", x, 3));
  const Value y = layer("b", inner, 3);
  if (!how.shortcut_first) other = beside();
  Value sum = how.turned ? b.add("", other, y) : b.add("", y, other);
  sum = b.relu("", sum);
  return in_training(b.finish(how.read_inside ? b.add("", sum, inner) : sum));
}

TEST(ConvolutionBlocks, AreFoundInWhateverOrderTheirNodesStand) {
  for (const bool shortcut : {false, true})
    for (const bool first : {false, true})
      for (const bool turned : {false, true}) {
        SCOPED_TRACE(cat(shortcut, first, turned));
        const Graph graph = drawn_block(
            {.shortcut = shortcut, .shortcut_first = first, .turned = turned});
        const auto blocks = residual_blocks(find_fusions(graph));
        ASSERT_EQ(blocks.size(), 1U);
        EXPECT_EQ(blocks[0].shortcut, shortcut);
        EXPECT_EQ(blocks[0].residual, !shortcut);
        // The shortcut's convolution is the last, wherever it stands.
        const std::array<std::int64_t, 2> one{1, 1};
        EXPECT_EQ(blocks[0].convolutions.back().kernel == one, shortcut);
        EXPECT_NE(blocks[0].convolutions[0].kernel, one);
        EXPECT_EQ(blocks[0].last_act, FusedActivation::kRelu);
      }
}

TEST(ConvolutionBlocks, AreNoneWhereTheRestOfTheNetworkLooksInside) {
  for (const Drawn& how :
       {Drawn{.read_inside = true},
        Drawn{.adds_another = true},
        Drawn{.shortcut = true, .shortcut_acts = true}})
    EXPECT_TRUE(residual_blocks(find_fusions(drawn_block(how))).empty());
}

} // namespace
} // namespace temper::graph

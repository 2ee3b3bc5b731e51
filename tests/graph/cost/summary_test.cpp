#include "temper/graph/cost/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "temper/base/text.h"
#include "temper/graph/build/builder.h"
#include "temper/model/zoo/zoo.h"

namespace temper::graph {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// stem, two blocks of two layers, a head.
Graph network() {
  Builder b("a test");
  Value x = b.input("x", DType::kFloat32, {3, 8, 8});
  x = b.relu("stem.act", b.conv2d("stem.conv", x, {.out = 4, .kernel = 3}));
  for (const char* block : {"blocks.0", "blocks.1"}) {
    const Value y = b.conv2d(
        cat(block, ".conv"), x, {.out = 4, .kernel = 1, .bias = false});
    x = b.add(block, x, b.relu(cat(block, ".act"), y));
  }
  return b.finish(b.linear("head", b.flatten("", x, 1), {.out = 5})).graph;
}

Summary summary_of(std::int64_t batch) {
  const Graph graph = network();
  return summarize("net.pt2", graph, bind_batch(graph, batch));
}

std::vector<std::string> paths(const std::vector<ModuleRow>& rows) {
  std::vector<std::string> list;
  for (const auto& row : rows)
    list.push_back(row.path);
  return list;
}

TEST(Summary, ModulesAreGroupedToTheDepthThatIsAskedFor) {
  const Summary summary = summary_of(2);
  EXPECT_THAT(
      paths(by_module(summary, 1)), ElementsAre("stem", "blocks", "", "head"));
  EXPECT_THAT(
      paths(by_module(summary, 2)),
      ElementsAre("stem.conv", "stem.act", "blocks.0", "blocks.1", "", "head"));
  EXPECT_EQ(readable_depth(summary), 3);
}

TEST(Summary, RowsAddUpToTheTotalsAtEveryDepth) {
  const Summary summary = summary_of(2);
  EXPECT_EQ(summary.parameters, 3 * 4 * 9 + 4 + 2 * 16 + 144 * 5 + 5);
  EXPECT_EQ(summary.trainable, summary.parameters);
  EXPECT_EQ(summary.parameter_bytes, 4 * summary.parameters);
  for (int depth = 1; depth < 4; ++depth) {
    std::int64_t parameters = 0;
    std::int64_t made = 0;
    std::int64_t saved = 0;
    Cost cost;
    for (const auto& row : by_module(summary, depth)) {
      parameters += row.parameters;
      made += row.made_bytes;
      saved += row.saved_bytes;
      cost += row.cost;
    }
    EXPECT_EQ(parameters, summary.parameters);
    EXPECT_EQ(made, summary.activation_bytes);
    EXPECT_EQ(saved, summary.saved_bytes);
    EXPECT_EQ(cost.macs, summary.cost.macs);
  }
}

TEST(Summary, ARowSaysWhatTheModuleIs) {
  const auto rows = by_module(summary_of(2), 2);
  EXPECT_THAT(rows[2].ops, ElementsAre("conv2d", "relu", "add"));
  EXPECT_EQ(rows[2].output.sizes, (Ints{2, 4, 6, 6}));
  EXPECT_EQ(rows[2].parameters, 16);
  EXPECT_EQ(rows[2].cost.macs, 2 * 36 * 16);
  EXPECT_THAT(rows[4].ops, ElementsAre("flatten"));
}

TEST(Summary, WorkIsToldPerSampleAndMemoryPerBatch) {
  const std::string one = to_text(summary_of(1), {});
  const std::string many = to_text(summary_of(64), {});
  EXPECT_THAT(one, HasSubstr("5.76 k MACs a sample"));
  EXPECT_THAT(many, HasSubstr("5.76 k MACs a sample"));
  EXPECT_THAT(many, HasSubstr("batch 64"));
  EXPECT_THAT(many, HasSubstr("[64, 4, 6, 6]"));
}

TEST(Summary, TheTextFitsEveryTerminal) {
  const Summary summary = summary_of(32);
  for (const int width : {40, 60, 80, 100, 120})
    for (const bool nodes : {false, true})
      for (const auto& line : split(to_text(summary, {width, 3, nodes}), '\n'))
        EXPECT_LE(line.size(), static_cast<std::size_t>(width)) << line;
}

TEST(Summary, FrozenParametersAreCountedApart) {
  Graph graph = network();
  for (auto& input : graph.inputs)
    if (input.target == "stem.conv.weight") input.trainable = false;
  const Summary summary = summarize("net", graph, bind_batch(graph, 2));
  EXPECT_EQ(summary.trainable, summary.parameters - 108);
  EXPECT_THAT(to_text(summary, {}), HasSubstr("761 of them trainable"));
}

TEST(Summary, NodesAreListedWithTheUsersLines) {
  Graph graph = network();
  graph.nodes[0].source = "net.py:27";
  const Summary summary = summarize("net", graph, bind_batch(graph, 2));
  const std::string text = to_text(summary, {120, 0, true});
  EXPECT_THAT(text, HasSubstr("net.py:27"));
  EXPECT_THAT(text, HasSubstr("blocks.1.act"));
  EXPECT_THAT(to_text(summary, {}), Not(HasSubstr("net.py")));
}

TEST(Summary, JsonHoldsEveryFigure) {
  const Summary summary = summary_of(2);
  const json all = json::parse(to_json(summary, {100, 2, true}));
  EXPECT_EQ(all["parameters"], summary.parameters);
  EXPECT_EQ(all["macs"], summary.cost.macs);
  EXPECT_EQ(all["train_peak"]["bytes"], summary.train_peak.bytes);
  EXPECT_EQ(all["modules"].size(), 6U);
  EXPECT_EQ(all["modules"][0]["path"], "stem.conv");
  EXPECT_EQ(all["nodes"].size(), summary.nodes.size());
  EXPECT_EQ(all["inputs"][0]["sizes"], json({2, 3, 8, 8}));
  EXPECT_FALSE(json::parse(to_json(summary, {})).contains("nodes"));
}

// torchvision's own counts; timm's for the ViT.
TEST(Summary, ZooModelsHaveAsManyParametersAsTheOriginals) {
  const auto count = [](const std::string& name) {
    model::ZooOptions options;
    options.name = name;
    const Graph graph = model::build(options).graph;
    return summarize(name, graph, bind_batch(graph, 1)).parameters;
  };
  EXPECT_EQ(count("mobilenet_v2"), 3504872);
  EXPECT_EQ(count("resnet18"), 11689512);
  EXPECT_EQ(count("resnet50"), 25557032);
}

} // namespace
} // namespace temper::graph

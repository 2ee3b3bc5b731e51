#include "temper/graph/cost/liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/build/builder.h"
#include "temper/graph/cost/saved.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"
#include "tests/graph/make_node.h"
#include "tests/graph/pt2/pt2_files.h"
#include "tests/paths.h"

namespace temper::graph {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr std::int64_t kFloat = 4;

Liveness of(const Graph& graph, std::int64_t batch) {
  const Symbols symbols = bind_batch(graph, batch);
  return liveness(graph, infer(graph, symbols), symbols);
}

// x -> linear a -> relu -> linear b -> out, all of width 10.
Graph two_layers() {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {10});
  x = b.linear("a", x, {.out = 10});
  x = b.relu("", x);
  x = b.linear("b", x, {.out = 10});
  return b.finish(x).graph;
}

TEST(Liveness, ValuesDieAfterTheirLastReader) {
  const Graph graph = two_layers();
  const Liveness life = of(graph, 6);
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_THAT(life.dies_after[0], ElementsAre());
  EXPECT_THAT(life.dies_after[1], ElementsAre("linear"));
  EXPECT_THAT(life.dies_after[2], ElementsAre("relu"));
}

TEST(Liveness, ThePeaksAreThoseCountedByHand) {
  const std::int64_t value = 6 * 10 * kFloat;
  const Liveness life = of(two_layers(), 6);
  EXPECT_EQ(life.input_bytes, value);
  EXPECT_EQ(life.activation_bytes, 3 * value);
  // The input, what a node reads and what it makes.
  EXPECT_EQ(life.eval.bytes, 3 * value);
  // relu's result is kept, by itself and by the second layer; the input is the
  // caller's.
  EXPECT_EQ(life.total_saved_bytes, value);
  EXPECT_THAT(life.saved_bytes, ElementsAre(0, value, 0));
  // At the second layer's backward: input, relu, result, two gradients, and
  // those of weight and bias.
  EXPECT_EQ(life.train.bytes, 5 * value + (100 + 10) * kFloat);
  EXPECT_TRUE(life.train.backward);
  EXPECT_EQ(life.train.node, 2U);
}

// The convolution's result for the slopes, the mean's for the last layer.
TEST(Liveness, SlopesOfAPreluKeepWhatTheyAreMultipliedWith) {
  const Liveness life = of(read_pt2(pt2_fixture("per_channel")).graph, 4);
  EXPECT_EQ(life.total_saved_bytes, (4 * 4 * 6 * 6 + 4 * 4) * kFloat);
}

TEST(Liveness, WhatIsFrozenNeedsNoBackward) {
  Graph graph = two_layers();
  for (auto& input : graph.inputs)
    if (input.kind == InputKind::kParameter) input.trainable = false;
  const Liveness life = of(graph, 6);
  EXPECT_EQ(life.total_saved_bytes, 0);
  EXPECT_EQ(life.train.bytes, life.eval.bytes);
}

TEST(Liveness, ViewsMakeNothingAndKeepTheirBaseAlive) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {4, 5});
  x = b.relu("", x);
  const Value flat = b.flatten("", x, 1);
  const Graph graph = b.finish(b.relu("", flat)).graph;
  const Liveness life = of(graph, 2);
  EXPECT_THAT(life.made_bytes, ElementsAre(160, 0, 160));
  EXPECT_THAT(life.dies_after[0], ElementsAre());
  EXPECT_THAT(life.dies_after[1], ElementsAre());
  EXPECT_THAT(life.dies_after[2], UnorderedElementsAre("relu", "flatten"));
}

TEST(Liveness, SegmentsComputedAgainKeepWhatTheyRead) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {64});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      x = b.gelu("", b.linear(cat("l", 4 * i + j), x, {.out = 64}));
  Graph graph = b.finish(x).graph;
  const Liveness plain = of(graph, 100);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    graph.nodes[i].recompute_segment = static_cast<int>(i / 8);
  const Liveness again = of(graph, 100);
  const std::int64_t value = 100 * 64 * kFloat;
  EXPECT_EQ(plain.total_saved_bytes, 31 * value); // all but the last
  EXPECT_EQ(again.total_saved_bytes, 3 * value); // between four segments
  EXPECT_LT(again.train.bytes, plain.train.bytes / 2);
  EXPECT_GT(again.train.bytes, 3 * value + 8 * value);
}

TEST(Liveness, AbsurdSizesGetASentence) {
  Graph graph = two_layers();
  EXPECT_THROW(of(graph, std::int64_t{1} << 55), Error);
}

// What PyTorch 1.13 saved and allocated, by reference/saved_tensors.py.
TEST(Liveness, ForecastsWhatPyTorchSavedAndHeld) {
  std::ifstream file(tests::fixtures() / "saved/expected.json");
  const json cases = json::parse(file)["cases"];
  ASSERT_EQ(cases.size(), 14U);
  for (const auto& row : cases) {
    model::ZooOptions options;
    options.name = row["name"];
    const std::string name = row["name"];
    if (name == "mobilenet_v2" || name == "vit_tiny" || name == "gpt_tiny")
      options.dropout = 0;
    const auto number = [&](const char* key) {
      return row.contains(key) ? std::optional(row[key].get<std::int64_t>())
                               : std::nullopt;
    };
    options.classes = number("classes");
    options.image_size = number("image_size");
    options.channels = number("channels");
    options.context = number("context");
    options.vocabulary = number("vocabulary");
    if (row.contains("widths")) options.widths = row["widths"].get<Ints>();
    const Liveness life = of(model::build(options).graph, row["batch"]);
    const auto off = [](std::int64_t forecast, const json& real) {
      return static_cast<double>(forecast) / real.get<double>() - 1;
    };
    const double saved = off(life.total_saved_bytes, row["saved_bytes"]);
    const double peak =
        off(life.train.bytes - life.input_bytes, row["peak_bytes"]);
    const auto percent = [](double part) { return decimals(100 * part, 2); };
    RecordProperty(
        cat(name, "_", row["batch"].get<int>()),
        cat("saved ", percent(saved), " %, peak ", percent(peak), " %"));
    EXPECT_LE(std::abs(saved), 0.001) << row << " " << life.total_saved_bytes;
    // Rather too much than too little.
    EXPECT_GE(peak, -0.01) << row << " " << life.train.bytes;
    EXPECT_LE(peak, 0.12) << row << " " << life.train.bytes;
  }
}

} // namespace
} // namespace temper::graph

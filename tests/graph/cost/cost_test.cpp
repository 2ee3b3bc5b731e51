#include "temper/graph/cost/cost.h"

#include <gtest/gtest.h>

#include "temper/graph/build/builder.h"
#include "temper/model/zoo/zoo.h"
#include "tests/graph/make_node.h"

namespace temper::graph {
namespace {

Cost total(const Graph& graph, std::int64_t batch) {
  const Symbols symbols = bind_batch(graph, batch);
  Cost sum;
  for (const auto& each : costs(graph, infer(graph, symbols), symbols))
    sum += each;
  return sum;
}

Cost of_zoo(const std::string& name, std::int64_t batch) {
  model::ZooOptions options;
  options.name = name;
  return total(model::build(options).graph, batch);
}

// Convolutions and linear layers, without biases, at 224 x 224: the papers say
// 0.30, 1.8 and 4.1 billion.
TEST(Cost, MultiplyAddsAreThoseOfTheLiterature) {
  EXPECT_EQ(of_zoo("mobilenet_v2", 3).macs, 3 * 300774272);
  EXPECT_EQ(of_zoo("resnet18", 1).macs, 1814073344);
  EXPECT_EQ(of_zoo("resnet50", 1).macs, 4089184256);
}

TEST(Cost, TheBackwardPassIsAboutTwiceTheForwardPass) {
  const Cost cost = of_zoo("resnet18", 1);
  const double ratio = static_cast<double>(cost.backward_flops) /
      static_cast<double>(cost.flops);
  EXPECT_GT(ratio, 1.9); // the first convolution wants no gradient of its input
  EXPECT_LT(ratio, 2.0);
}

TEST(Cost, AttentionCountsBothProducts) {
  Inferred known;
  Graph graph;
  for (const char* name : {"q", "k", "v"}) {
    graph.inputs.push_back({InputKind::kUser, name, name});
    graph.tensors[name].sizes = {2, 3, 5, 8};
  }
  graph.nodes = {make_node(
      "aten.scaled_dot_product_attention.default",
      {{"query", TensorName{"q"}},
       {"key", TensorName{"k"}},
       {"value", TensorName{"v"}}},
      {TensorName{"y"}})};
  EXPECT_EQ(total(graph, 2).macs, 2 * (2 * 3 * 5 * 5 * 8));
}

TEST(Cost, AViewMovesNothing) {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {4, 5});
  const Cost cost = total(b.finish(b.flatten("", x, 1)).graph, 2);
  EXPECT_EQ(cost.bytes_read, 0);
  EXPECT_EQ(cost.bytes_written, 0);
  EXPECT_EQ(cost.flops, 0);
}

TEST(Cost, EachInputIsReadOnceAndEachResultWritten) {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {10});
  const Cost cost = total(b.finish(b.linear("fc", x, {.out = 3})).graph, 2);
  EXPECT_EQ(cost.bytes_read, 4 * (2 * 10 + 3 * 10 + 3));
  EXPECT_EQ(cost.bytes_written, 4 * 2 * 3);
  EXPECT_EQ(cost.macs, 2 * 10 * 3);
  EXPECT_EQ(cost.flops, 2 * cost.macs);
}

} // namespace
} // namespace temper::graph

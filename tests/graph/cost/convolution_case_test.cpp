#include "temper/graph/cost/convolution_case.h"

#include <gtest/gtest.h>

#include "temper/graph/build/builder.h"
#include "temper/graph/cost/liveness.h"

namespace temper::graph {
namespace {

// A first layer whose results are large, and a last one with large filters.
Graph two_convolutions() {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {3, 64, 64});
  x = b.conv2d("first", x, {.out = 4, .kernel = 3, .padding = 1});
  x = b.relu("", x);
  x = b.conv2d(
      "last", x, {.out = 64, .kernel = 15, .stride = 2, .bias = false});
  return b.finish(x).graph;
}

std::vector<ConvolutionCase>
asked_for(const Graph& graph, std::int64_t answer, Peak& peak) {
  std::vector<ConvolutionCase> asked;
  const Symbols symbols = bind_batch(graph, 2);
  LivenessOptions options;
  options.threads = 3;
  options.convolution_bytes = [&](const ConvolutionCase& one) {
    asked.push_back(one);
    return answer;
  };
  peak = liveness(graph, infer(graph, symbols), symbols, options).train;
  return asked;
}

TEST(ConvolutionCase, HasTheNumbersOfItsNode) {
  const Graph graph = two_convolutions();
  Peak peak;
  const auto asked = asked_for(graph, 0, peak);
  ASSERT_FALSE(asked.empty());
  const ConvolutionCase& last = asked.front(); // the backward pass begins there
  EXPECT_EQ(last.input, (Ints{2, 4, 64, 64}));
  EXPECT_EQ(last.weight, (Ints{64, 4, 15, 15}));
  EXPECT_EQ(last.stride, (Ints{2, 2}));
  EXPECT_EQ(last.padding, (Ints{0, 0}));
  EXPECT_EQ(last.threads, 3);
  EXPECT_TRUE(last.of_input);
  EXPECT_FALSE(last.of_bias);
  EXPECT_FALSE(last.transposed);
}

TEST(ConvolutionCase, WhatItTakesIsPartOfThePeak) {
  const Graph graph = two_convolutions();
  Peak without;
  asked_for(graph, 0, without);
  constexpr std::int64_t kMuch = std::int64_t{1} << 24;
  Peak with;
  asked_for(graph, kMuch, with);
  EXPECT_EQ(with.bytes, without.bytes + kMuch);
  EXPECT_EQ(with.node, graph.nodes.size() - 1);
}

// Measuring costs time: a small layer beside a high peak is left alone.
TEST(ConvolutionCase, IsAskedForOnlyWhereItMayRaiseThePeak) {
  const Graph graph = two_convolutions();
  Peak peak;
  constexpr std::int64_t kMuch = std::int64_t{1} << 24;
  EXPECT_EQ(asked_for(graph, kMuch, peak).size(), 1U);
  EXPECT_EQ(asked_for(graph, 0, peak).size(), 2U);
}

TEST(ConvolutionCase, IsNoOtherNodeAndNoOtherPaddingThanItCanSay) {
  Graph graph = two_convolutions();
  const Symbols symbols = bind_batch(graph, 2);
  const Inferred known = infer(graph, symbols);
  EXPECT_TRUE(convolution_case(graph.nodes[0], known));
  EXPECT_FALSE(convolution_case(graph.nodes[1], known)); // relu
  Node even = graph.nodes[0];
  for (auto& input : even.inputs)
    if (input.name == "padding") input.value = std::string("same");
  const auto same = convolution_case(even, known);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->padding, (Ints{1, 1}));
  even = graph.nodes[2];
  even.inputs.push_back({"dilation", std::vector<std::int64_t>{1, 1}});
  EXPECT_TRUE(convolution_case(even, known));
}

} // namespace
} // namespace temper::graph

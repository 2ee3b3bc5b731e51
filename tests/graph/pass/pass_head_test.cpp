#include <gmock/gmock.h>

#include <cmath>

#include "temper/graph/infer/infer.h"
#include "temper/graph/pass/resize.h"
#include "tests/graph/evaluate.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::HasSubstr;

Passed
headed(const Program& program, std::int64_t classes, std::uint64_t seed = 1) {
  return checked(
      [&](const Program& p) { return replace_head(p, classes, seed); },
      program);
}

// Every declared shape is what the operators give.
void expect_shapes_follow(const Graph& graph, std::int64_t batch) {
  const Symbols symbols = bind_batch(graph, batch);
  Graph undeclared = graph;
  const Inferred known = infer_by_rules(graph, symbols);
  for (const auto& [value, inferred] : known.tensors) {
    std::vector<std::int64_t> declared;
    for (const Size& size : graph.meta(value).sizes)
      declared.push_back(evaluate(size, symbols));
    EXPECT_EQ(declared, inferred.sizes) << value;
  }
}

std::string output_of(const Graph& graph) {
  return std::get<TensorName>(graph.outputs.back().value).name;
}

TEST(PassHead, TheLastLayerGetsFreshRows) {
  const Program program = freeze(residual_net(), {"*"}).program;
  const Passed passed = headed(program, 7);
  const Graph& graph = passed.program.graph;
  EXPECT_EQ(passed.report, "replaced the head fc (6 to 7 classes, was 5)");
  EXPECT_EQ(
      passed.program.weights.at("fc.weight").sizes,
      (std::vector<std::int64_t>{7, 6}));
  EXPECT_EQ(
      passed.program.weights.at("fc.bias").sizes,
      (std::vector<std::int64_t>{7}));
  EXPECT_EQ(graph.meta("linear").sizes[1], Size(7));
  EXPECT_EQ(graph.meta("linear").strides, (Sizes{7, 1}));
  EXPECT_TRUE(graph.find_target("fc.weight")->trainable);
  EXPECT_FALSE(graph.find_target("stem.0.weight")->trainable);
  expect_shapes_follow(graph, 3);
}

TEST(PassHead, FreshWeightsAreUniformUpToOneOverTheRootOfTheInputs) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {100});
  const Program program =
      with_weights(b.finish(b.linear("fc", x, {.out = 2})).graph);
  const Program fresh = headed(program, 50).program;
  const std::vector<double> values = elements_of(fresh.weights.at("fc.weight"));
  double low = 1;
  double high = -1;
  double square = 0;
  for (const double value : values) {
    low = std::fmin(low, value);
    high = std::fmax(high, value);
    square += value * value / static_cast<double>(values.size());
  }
  EXPECT_GE(low, -0.1);
  EXPECT_LE(high, 0.1);
  EXPECT_NEAR(std::sqrt(square), 0.1 / std::sqrt(3), 0.002);
  for (const double value : elements_of(fresh.weights.at("fc.bias")))
    EXPECT_LE(std::fabs(value), 0.1);
}

TEST(PassHead, TheSeedDecides) {
  const Program program = residual_net();
  EXPECT_TRUE(
      same(headed(program, 7, 3).program, headed(program, 7, 3).program));
  EXPECT_FALSE(
      same(headed(program, 7, 3).program, headed(program, 7, 4).program));
  EXPECT_FALSE(
      same_weights(headed(program, 5).program.weights, program.weights))
      << "fresh even for as many classes as before";
}

TEST(PassHead, APointwiseConvolutionIsAHeadToo) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {3, 6, 6});
  x = b.relu("features.1", b.conv2d("features.0", x, {.out = 4, .kernel = 3}));
  x = b.dropout("classifier.0", x, 0.5);
  x = b.relu_("classifier.2", b.conv2d("classifier.1", x, {.out = 10}));
  x = b.flatten("", b.average_pool2d("classifier.3", x), 1);
  const Passed passed = headed(with_weights(b.finish(x).graph), 3);
  const Graph& graph = passed.program.graph;
  EXPECT_EQ(
      passed.report, "replaced the head classifier.1 (4 to 3 classes, was 10)");
  EXPECT_EQ(
      passed.program.weights.at("classifier.1.weight").sizes,
      (std::vector<std::int64_t>{3, 4, 1, 1}));
  EXPECT_EQ(graph.meta(output_of(graph)).sizes[1], Size(3));
  expect_shapes_follow(graph, 2);
}

TEST(PassHead, AWiderConvolutionIsNone) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {3, 6, 6});
  x = b.conv2d("conv", x, {.out = 10, .kernel = 6});
  const Program program = with_weights(b.finish(b.flatten("", x, 1)).graph);
  EXPECT_THAT(
      refusal_of([&] { replace_head(program, 3, 1); }),
      HasSubstr("neither linear nor a 1x1 convolution"));
}

TEST(PassHead, ShapesFollowThroughTransposesAndViews) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {5, 4});
  x = b.transpose("", b.linear("h", x, {.out = 5, .bias = false}), 1, 2);
  const Program program = with_weights(b.finish(x).graph);
  const Graph graph = headed(program, 9).program.graph;
  const TensorMeta& meta = graph.meta(output_of(graph));
  EXPECT_EQ(meta.sizes[1], Size(9));
  EXPECT_EQ(meta.sizes[2], Size(5)) << "the length is no class";
  EXPECT_EQ(meta.strides, (Sizes{45, 1, 9}));
  expect_shapes_follow(graph, 3);

  Builder flat("test");
  Value y = flat.input("x", DType::kFloat32, {5, 4});
  y = flat.reshape("", flat.linear("h", y, {.out = 6}), {2, 15});
  const Graph viewed = flat.finish(y).graph;
  EXPECT_THAT(
      refusal_of([&] { replace_head(with_weights(viewed), 7, 1); }),
      HasSubstr("reshape"));

  Builder whole("test");
  Value z = whole.input("x", DType::kFloat32, {5, 4});
  z = whole.reshape("", whole.linear("h", z, {.out = 6}), {30});
  const Graph merged =
      headed(with_weights(whole.finish(z).graph), 7).program.graph;
  EXPECT_EQ(merged.meta(output_of(merged)).sizes[1], Size(35));
  expect_shapes_follow(merged, 3);
}

TEST(PassHead, ATiedHeadIsRefused) {
  Builder b("test");
  const Value table = b.parameter("embed.weight", {7, 4}, uniform(1));
  Value x = b.input("x", DType::kInt64, {5});
  x = b.embedding("embed", x, table);
  const Program program =
      with_weights(b.finish(b.tied_linear("head", x, table)).graph);
  EXPECT_THAT(
      refusal_of([&] { replace_head(program, 3, 1); }),
      HasSubstr("embed.weight is tied: embedding (embedding) in embed reads "
                "it too"));
}

TEST(PassHead, WeightsThatShareTheirBytesAreTied) {
  Program program = residual_net();
  program.weights["fc.bias"] = tensor_of(DType::kFloat32, {5}, {1, 2, 3, 4, 5});
  Input copy = *program.graph.find_target("fc.bias");
  copy.value = "p_copy";
  copy.target = "copy";
  program.graph.inputs.insert(program.graph.inputs.begin(), copy);
  program.graph.tensors["p_copy"] = program.graph.meta("p_fc_bias");
  program.weights["copy"] = program.weights["fc.bias"];
  EXPECT_THAT(
      refusal_of([&] { replace_head(program, 3, 1); }),
      HasSubstr("fc.bias is tied with copy"));
}

TEST(PassHead, WhereWaysMeetThereIsNoHead) {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {4});
  const Value y =
      b.add("", b.linear("a", x, {.out = 3}), b.linear("b", x, {.out = 3}));
  const Program program = with_weights(b.finish(y).graph);
  EXPECT_THAT(
      refusal_of([&] { replace_head(program, 5, 1); }),
      HasSubstr("the last layer before add"));
}

TEST(PassHead, WhatTemperCannotFollowIsNamed) {
  Program program = residual_net();
  Node node = simple_node(
      "aten.cumsum.default",
      {{"self", TensorName{"linear"}}, {"dim", std::int64_t{1}}},
      "sums",
      "tail");
  program.graph.tensors["sums"] = program.graph.meta("linear");
  program.graph.nodes.push_back(node);
  program.graph.outputs.back().value = TensorName{"sums"};
  EXPECT_THAT(
      refusal_of([&] { replace_head(program, 7, 1); }),
      HasSubstr("sums (cumsum) in tail"));
}

TEST(PassHead, NumbersOfClassesThatMakeNoSenseAreRefused) {
  EXPECT_THROW(replace_head(residual_net(), 0, 1), Error);
  EXPECT_THROW(replace_head(residual_net(), -3, 1), Error);
  EXPECT_THROW(replace_head(residual_net(), 1'000'000'000'000, 1), Error);
}

TEST(PassHead, SizesScaleWithTheirSymbols) {
  const Size size = linear_size("s77", 4, 10, 0);
  EXPECT_EQ(scaled(size, 5, 7), linear_size("s77", 4, 14, 0));
  EXPECT_EQ(scaled(Size(10), 5, 7), Size(14));
  EXPECT_EQ(scaled(Size(11), 5, 7), std::nullopt);
  EXPECT_EQ(scaled(linear_size("s77", 5, 1, 0), 5, 7), std::nullopt)
      << "a multiple for the example only";
}

} // namespace
} // namespace temper::graph

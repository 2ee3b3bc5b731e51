#include <gmock/gmock.h>

#include "temper/graph/ir/op_name.h"
#include "tests/graph/evaluate.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::HasSubstr;

Passed folded(const Program& program) {
  return checked(fold_batch_norm, program);
}

Program eval_of(const Graph& graph) {
  return switch_mode(with_weights(graph), false).program;
}

// The two agree on an input, up to float32's rounding of the new weights.
double difference(const Program& a, const Program& b, const Array& x) {
  return furthest(Evaluation(a, x).output(), Evaluation(b, x).output());
}

TEST(PassFold, AWholeNetworkGivesTheSameNumbers) {
  const Program program = switch_mode(residual_net(), false).program;
  const Passed passed = folded(program);
  EXPECT_TRUE(nodes_of(passed.program.graph, "batch_norm").empty());
  EXPECT_EQ(
      passed.report,
      "folded 4 of 4 BatchNorms into the layer before, 20 tensors gone");
  EXPECT_LT(
      difference(program, passed.program, random_input({2, 3, 6, 6})), 1e-5);
  for (const auto& [name, tensor] : passed.program.weights)
    EXPECT_EQ(name.find("running"), std::string::npos) << name;
}

TEST(PassFold, ALayerWithoutBiasGetsOneBesideItsWeight) {
  const Program program = switch_mode(residual_net(), false).program;
  ASSERT_EQ(program.graph.find_target("stem.0.bias"), nullptr);
  const Graph graph = folded(program).program.graph;
  const Input* bias = graph.find_target("stem.0.bias");
  ASSERT_NE(bias, nullptr);
  EXPECT_EQ(bias->value, "p_stem_0_bias");
  EXPECT_EQ(graph.inputs[0].target, "stem.0.weight");
  EXPECT_EQ(graph.inputs[1].target, "stem.0.bias");
  EXPECT_EQ(graph.meta(bias->value).sizes, (Sizes{4}));
}

TEST(PassFold, WhatSomebodyElseReadsIsNotFolded) {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {2, 4, 4});
  const Value y = b.conv2d("conv", x, {.out = 3, .kernel = 3});
  const Value z = b.batch_norm("bn", y);
  const Program program = eval_of(b.finish(b.add("", y, z)).graph);
  const Passed passed = folded(program);
  EXPECT_TRUE(same(program, passed.program));
  EXPECT_THAT(passed.report, HasSubstr("folded 0 of 1 BatchNorm"));
}

TEST(PassFold, ASharedWeightIsNotFolded) {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {2, 4, 4});
  const Value y = b.batch_norm(
      "bn", b.conv2d("conv", x, {.out = 2, .kernel = 3, .padding = 1}));
  Graph graph = b.finish(y).graph;
  Node again = *nodes_of(graph, "conv2d").front();
  again.outputs = {TensorName{"again"}};
  again.inputs[0].value = TensorName{y.name};
  graph.tensors["again"] = graph.tensors.at(y.name);
  graph.nodes.push_back(again);
  graph.outputs.back().value = TensorName{"again"};
  const Program program = eval_of(graph);
  EXPECT_TRUE(same(program, folded(program).program));
}

TEST(PassFold, LinearLayersOfRowsFoldAndOfSequencesDoNot) {
  Builder rows("test");
  Value x = rows.input("x", DType::kFloat32, {5});
  x = rows.batch_norm("bn", rows.linear("fc", x, {.out = 4}));
  const Program program = eval_of(rows.finish(x).graph);
  const Passed passed = folded(program);
  EXPECT_THAT(passed.report, HasSubstr("folded 1 of 1"));
  EXPECT_LT(difference(program, passed.program, random_input({3, 5})), 1e-5);

  Builder sequence("test");
  Value y = sequence.input("x", DType::kFloat32, {4, 5});
  y = sequence.batch_norm("bn", sequence.linear("fc", y, {.out = 4}));
  EXPECT_THAT(
      folded(eval_of(sequence.finish(y).graph)).report,
      HasSubstr("folded 0 of 1"));
}

TEST(PassFold, NormsWithoutWeightsAndWithAnotherEpsilonFold) {
  Program program = switch_mode(residual_net(), false).program;
  for (Node& node : program.graph.nodes)
    for (NamedArgument& argument : node.inputs) {
      if (op_name(node.op).name != "batch_norm") continue;
      if (argument.name == "weight" || argument.name == "bias")
        argument.value = None{};
      if (argument.name == "eps") argument.value = 0.5;
    }
  const Passed passed = folded(program);
  EXPECT_THAT(passed.report, HasSubstr("folded 4 of 4"));
  EXPECT_LT(
      difference(program, passed.program, random_input({2, 3, 6, 6})), 1e-5);
  // Weights that nothing read before are not the pass's to remove.
  EXPECT_NE(passed.program.graph.find_target("stem.1.weight"), nullptr);
}

TEST(PassFold, TransposedConvolutionsAreLeftAlone) {
  Program program = switch_mode(residual_net(), false).program;
  for (Node& node : program.graph.nodes)
    if (op_name(node.op).name == "conv2d") {
      node.op = "aten.convolution.default";
      node.inputs.push_back({"transposed", true});
    }
  EXPECT_TRUE(same(program, folded(program).program));
}

TEST(PassFold, TrainingGraphsAreLeftAloneWithAReason) {
  const Program program = residual_net();
  const Passed passed = folded(program);
  EXPECT_TRUE(same(program, passed.program));
  EXPECT_EQ(
      passed.report,
      "folded 0 of 4 BatchNorms into the layer before; 4 run in training "
      "mode, which cannot be folded");
}

} // namespace
} // namespace temper::graph

#include <gmock/gmock.h>

#include "temper/graph/ir/op_name.h"
#include "tests/graph/evaluate.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::HasSubstr;

Passed frozen(
    const Program& program,
    const std::vector<std::string>& patterns) {
  return checked(
      [&](const Program& p) { return freeze(p, patterns); }, program);
}
Passed still(const Program& program, const std::vector<std::string>& patterns) {
  return checked(
      [&](const Program& p) { return freeze_statistics(p, patterns); },
      program);
}

std::vector<std::string> trainable(const Graph& graph) {
  std::vector<std::string> names;
  for (const Input* input : graph.inputs_of(InputKind::kParameter))
    if (input->trainable) names.push_back(input->target);
  return names;
}

TEST(PassFreeze, WhatMatchesKeepsItsValue) {
  const Passed passed = frozen(residual_net(), {"stem.*", "layer1.*"});
  const Graph& graph = passed.program.graph;
  EXPECT_THAT(trainable(graph), ::testing::ElementsAre("fc.weight", "fc.bias"));
  EXPECT_FALSE(
      graph.meta(graph.find_target("stem.0.weight")->value).requires_grad);
  // 4*27 + 8, 6*36 + 12, 6*9 + 6 + 12, 24 + 12; and 35 of fc.
  EXPECT_EQ(
      passed.report,
      "froze 13 of 15 parameters (452 of 487 values); the statistics of 4 "
      "frozen BatchNorms still move");
}

TEST(PassFreeze, FrozenStaysFrozen) {
  const Program once = frozen(residual_net(), {"stem.*"}).program;
  const Program twice = frozen(once, {"fc.*"}).program;
  EXPECT_EQ(trainable(twice.graph).size(), 10U);
}

TEST(PassFreeze, APatternThatHitsNothingNamesTheNearest) {
  const Program program = residual_net();
  EXPECT_THAT(
      refusal_of([&] { freeze(program, {"layer2.*"}); }),
      HasSubstr("no parameter matches it. Did you mean 'layer1.*'?"));
  EXPECT_THAT(
      refusal_of([&] { freeze(program, {"fc.wieght"}); }),
      HasSubstr("Did you mean 'fc.weight'?"));
  EXPECT_THAT(
      refusal_of([&] {
        freeze(program, {"fc.*", "entirely_else"});
      }),
      HasSubstr("Names look like stem.0.weight"));
}

TEST(PassFreeze, BuffersAreNoParameters) {
  EXPECT_THAT(
      refusal_of([] { freeze(residual_net(), {"*.running_mean"}); }),
      HasSubstr("no parameter matches"));
}

TEST(PassFreeze, StatisticsStopOnlyWhereAsked) {
  const Passed passed = still(residual_net(), {"stem.*"});
  EXPECT_EQ(
      passed.report,
      "1 of 4 BatchNorms now use and keep their running "
      "statistics");
  const auto norms = nodes_of(passed.program.graph, "batch_norm");
  EXPECT_FALSE(uses_batch_statistics(*norms[0]));
  EXPECT_TRUE(uses_batch_statistics(*norms[1]));
  // Three counters and the residual.
  EXPECT_EQ(nodes_of(passed.program.graph, "add_").size(), 4U);
}

TEST(PassFreeze, StoppedStatisticsDoNotMove) {
  Program program = still(residual_net(), {"layer1.0.bn1*"}).program;
  std::erase_if(program.graph.nodes, [](const Node& node) {
    return op_name(node.op).name == "dropout";
  });
  for (Node& node : program.graph.nodes)
    if (op_name(node.op).name == "linear")
      node.inputs.front().value = TensorName{"flatten"};
  const Evaluation run(program, random_input({2, 3, 6, 6}));
  const auto moved = [&](const std::string& name) {
    return furthest(run.state(name), elements_of(program.weights.at(name))) >
        1e-6;
  };
  EXPECT_TRUE(moved("stem.1.running_mean"));
  EXPECT_FALSE(moved("layer1.0.bn1.running_mean"));
  EXPECT_FALSE(moved("layer1.0.bn1.running_var"));
  EXPECT_TRUE(moved("layer1.0.bn2.running_var"));
}

} // namespace
} // namespace temper::graph

#include <gmock/gmock.h>

#include "tests/graph/evaluate.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::ElementsAre;

Passed cleaned(const Program& program) {
  return checked(remove_dead, program);
}

std::vector<std::string> made_in_order(const Graph& graph) {
  std::vector<std::string> made;
  for (const Node& node : graph.nodes)
    for (const std::string& value : values_made(node))
      made.push_back(value);
  return made;
}

Node plus(const std::string& a, const std::string& b, const std::string& made) {
  return simple_node(
      "aten.add.Tensor",
      {{"self", TensorName{a}}, {"other", TensorName{b}}},
      made);
}
Node in_place(const std::string& a, const std::string& made) {
  return simple_node("aten.relu_.default", {{"self", TensorName{a}}}, made);
}
Node copied(const std::string& a, const std::string& made) {
  return simple_node("aten.clone.default", {{"self", TensorName{a}}}, made);
}

TEST(PassDead, ALivingGraphStaysAsItIs) {
  const Program program = residual_net();
  const Passed passed = cleaned(program);
  EXPECT_TRUE(same(program, passed.program));
  EXPECT_EQ(passed.report, "no dead nodes");
}

TEST(PassDead, WhatNobodyReadsGoesWithTheWeightsOnlyItRead) {
  const Program program = by_hand(
      {plus("x", "w", "a"), plus("a", "v", "b"), plus("x", "w", "y")},
      "y",
      {{InputKind::kParameter, "w", "w.real"},
       {InputKind::kParameter, "v", "v.real"},
       {InputKind::kBuffer, "u", "u.never_read"}});
  const Passed passed = cleaned(program);
  EXPECT_THAT(made_in_order(passed.program.graph), ElementsAre("y"));
  EXPECT_EQ(passed.program.weights.count("v.real"), 0U);
  EXPECT_EQ(passed.program.weights.count("w.real"), 1U);
  EXPECT_EQ(passed.program.weights.count("u.never_read"), 1U)
      << "part of the state dict, dead nodes or not";
  EXPECT_EQ(passed.program.graph.tensors.count("a"), 0U);
  EXPECT_EQ(
      passed.report, "removed 2 dead nodes of 3, and 1 weight only they read");
}

TEST(PassDead, UserInputsStay) {
  const Program program = by_hand(
      {copied("x", "a"), plus("w", "w", "y")},
      "y",
      {{InputKind::kParameter, "w", "w.real"}});
  const Graph graph = cleaned(program).program.graph;
  EXPECT_THAT(made_in_order(graph), ElementsAre("y"));
  EXPECT_EQ(graph.inputs_of(InputKind::kUser).size(), 1U);
}

TEST(PassDead, WritingIntoWhatIsReadLaterIsLife) {
  // relu_'s own result is read by nobody, what it wrote into is.
  const Program program =
      by_hand({copied("x", "a"), in_place("a", "b"), copied("a", "y")}, "y");
  EXPECT_TRUE(same(program, cleaned(program).program));
}

TEST(PassDead, WritingThroughAViewIsLife) {
  const Program program = by_hand(
      {copied("x", "a"),
       simple_node("aten.view.default", {{"self", TensorName{"a"}}}, "v"),
       in_place("v", "w"),
       copied("a", "y")},
      "y");
  EXPECT_TRUE(same(program, cleaned(program).program));
}

TEST(PassDead, WritingAfterTheLastReadIsNot) {
  const Program program =
      by_hand({copied("x", "a"), copied("a", "y"), in_place("a", "b")}, "y");
  EXPECT_THAT(
      made_in_order(cleaned(program).program.graph), ElementsAre("a", "y"));
}

TEST(PassDead, AViewThatNobodyReadsIsDeadThoughItsMemoryLives) {
  const Program program = by_hand(
      {copied("x", "a"),
       simple_node("aten.view.default", {{"self", TensorName{"a"}}}, "v"),
       copied("a", "y")},
      "y");
  EXPECT_THAT(
      made_in_order(cleaned(program).program.graph), ElementsAre("a", "y"));
}

TEST(PassDead, ChangesOfBuffersAreRead) {
  Program program = by_hand(
      {simple_node(
           "aten.add_.Tensor",
           {{"self", TensorName{"n"}}, {"other", std::int64_t{1}}},
           "add_"),
       plus("m", "x", "next"),
       copied("x", "y")},
      "y",
      {{InputKind::kBuffer, "n", "count"}, {InputKind::kBuffer, "m", "mean"}});
  program.graph.outputs.push_back(
      {OutputKind::kBufferMutation, TensorName{"next"}, "mean"});
  EXPECT_TRUE(same(program, cleaned(program).program));
}

TEST(PassDead, WhatIsLeftGivesTheSameNumbers) {
  Program program = switch_mode(residual_net(), false).program;
  Node extra = simple_node(
      "aten.relu.default", {{"self", TensorName{"flatten"}}}, "extra");
  program.graph.tensors["extra"] = program.graph.meta("flatten");
  program.graph.nodes.push_back(extra);
  const Passed passed = cleaned(program);
  const Array x = random_input({2, 3, 6, 6});
  EXPECT_EQ(
      Evaluation(program, x).output(), Evaluation(passed.program, x).output());
  EXPECT_EQ(passed.program.graph.nodes.size() + 1, program.graph.nodes.size());
}

} // namespace
} // namespace temper::graph

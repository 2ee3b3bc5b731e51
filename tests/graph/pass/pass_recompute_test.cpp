#include <gmock/gmock.h>

#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Passed marked(
    const Program& program,
    const std::vector<std::string>& patterns) {
  return checked(
      [&](const Program& p) { return mark_recompute(p, patterns); }, program);
}

std::vector<int> segments(const Passed& passed) {
  std::vector<int> marks;
  for (const Node& node : passed.program.graph.nodes)
    marks.push_back(node.recompute_segment);
  return marks;
}

Node step(
    const std::string& op,
    const std::string& from,
    const std::string& made,
    const std::string& module) {
  return simple_node(
      "aten." + op + ".default", {{"self", TensorName{from}}}, made, module);
}

TEST(PassRecompute, OneModuleIsOneSegment) {
  const Passed passed = marked(
      by_hand(
          {step("relu", "x", "a", "stem"),
           step("relu", "a", "b", "layer1.0.conv"),
           step("relu", "b", "c", "layer1.0"),
           step("relu", "c", "d", "layer1.1.conv"),
           step("relu", "d", "y", "fc")},
          "y"),
      {"layer*.*"});
  EXPECT_THAT(segments(passed), ElementsAre(-1, 0, 0, 1, -1));
  EXPECT_EQ(
      passed.report, "marked 3 of 5 nodes in 2 segments to be computed again");
}

TEST(PassRecompute, AWholeNetworkSplitsByItsOutermostModules) {
  const Program program = residual_net();
  const Passed passed = marked(program, {"layer*"});
  int first = -1;
  for (const Node& node : passed.program.graph.nodes)
    if (node.module.rfind("layer1", 0) == 0) {
      EXPECT_EQ(node.recompute_segment, 0) << node.op;
      ++first;
    } else {
      EXPECT_EQ(node.recompute_segment, -1) << node.op;
    }
  EXPECT_GT(first, 10) << "counters and statistics are no hindrance";
}

TEST(PassRecompute, AModuleThatIsCalledTwiceHasTwoSegments) {
  const Passed passed = marked(
      by_hand(
          {step("relu", "x", "a", "block"),
           step("relu", "a", "b", ""),
           step("relu", "b", "y", "block")},
          "y"),
      {"block"});
  EXPECT_THAT(segments(passed), ElementsAre(0, -1, 1));
}

TEST(PassRecompute, WritingOverWhatCameBeforeEndsTheSegment) {
  const Passed passed = marked(
      by_hand(
          {step("relu", "x", "a", "stem"),
           step("relu", "x", "b", "block"),
           step("relu_", "a", "c", "block"),
           step("relu", "c", "y", "block")},
          "y"),
      {"block"});
  EXPECT_THAT(segments(passed), ElementsAre(-1, 0, -1, 1));
  EXPECT_THAT(
      passed.report,
      HasSubstr("left out 1 node around in-place changes, the first c (relu) "
                "in block"));
}

TEST(PassRecompute, WritingOverItsOwnValuesDoesNot) {
  const Passed passed = marked(
      by_hand(
          {step("relu", "x", "a", "block"), step("relu_", "a", "y", "block")},
          "y"),
      {"block"});
  EXPECT_THAT(segments(passed), ElementsAre(0, 0));
}

// When the segment is computed again, `a` is no longer what it was.
TEST(PassRecompute, ReadingWhatIsWrittenOverLaterIsLeftOut) {
  const Passed passed = marked(
      by_hand(
          {step("clone", "x", "a", "stem"),
           step("sigmoid", "a", "b", "block"),
           step("relu", "b", "c", "block"),
           step("relu_", "a", "d", ""),
           simple_node(
               "aten.add.Tensor",
               {{"self", TensorName{"c"}}, {"other", TensorName{"d"}}},
               "y")},
          "y"),
      {"block"});
  EXPECT_THAT(segments(passed), ElementsAre(-1, -1, 0, -1, -1));
}

TEST(PassRecompute, ABufferThatIsMovedAndReadIsLeftOut) {
  const Program program = by_hand(
      {simple_node(
           "aten.add_.Tensor",
           {{"self", TensorName{"m"}}, {"other", TensorName{"x"}}},
           "moved",
           "block"),
       simple_node(
           "aten.sub.Tensor",
           {{"self", TensorName{"x"}}, {"other", TensorName{"m"}}},
           "y",
           "block")},
      "y",
      {{InputKind::kBuffer, "m", "block.mean"}});
  EXPECT_THAT(segments(marked(program, {"block"})), ElementsAre(0, -1));
}

TEST(PassRecompute, NumbersBetweenDoNotEndASegment) {
  Program program = by_hand(
      {step("relu", "x", "a", "block"), step("relu", "a", "y", "block")}, "y");
  Node size;
  size.op = "aten.sym_size.int";
  size.inputs = {{"self", TensorName{"x"}}, {"dim", std::int64_t{0}}};
  size.outputs = {NumberName{"n"}};
  program.graph.numbers["n"] = 2;
  program.graph.nodes.insert(program.graph.nodes.begin() + 1, size);
  EXPECT_THAT(segments(marked(program, {"block"})), ElementsAre(0, 0, 0));
}

TEST(PassRecompute, MarkingAgainReplacesTheMarks) {
  const Program program = residual_net();
  const Program once = marked(program, {"*"}).program;
  EXPECT_TRUE(same(
      marked(once, {"layer1"}).program, marked(program, {"layer1"}).program));
}

TEST(PassRecompute, APatternThatHitsNothingNamesTheNearest) {
  EXPECT_THAT(
      refusal_of([] { mark_recompute(residual_net(), {"layer7"}); }),
      HasSubstr("no module matches it. Did you mean 'layer1'?"));
}

} // namespace
} // namespace temper::graph

#include <gmock/gmock.h>

#include "temper/graph/ir/node_arguments.h"
#include "tests/graph/evaluate.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::HasSubstr;

Split split_checked(const Program& program, const std::string& value) {
  const Program before = deep_copy(program);
  Split split = split_at(program, value);
  EXPECT_TRUE(same(before, program)) << "the pass changed its argument";
  EXPECT_NO_THROW(validate(split.prefix));
  EXPECT_NO_THROW(validate(split.rest));
  EXPECT_EQ(split.report.find('\n'), std::string::npos);
  return split;
}

// The whole, and one part after the other.
void expect_same_run(const Program& program, const std::string& value) {
  const Split split = split_checked(program, value);
  const Array x = random_input({2, 3, 6, 6});
  const Evaluation whole(program, x);
  const Evaluation first(split.prefix, x);
  const Array middle = first.at(value);
  const std::vector<double> kept = middle.values();
  const Evaluation second(split.rest, middle);
  EXPECT_EQ(second.output(), whole.output()) << value;
  EXPECT_EQ(middle.values(), kept) << "the rest wrote over its input";
  for (const Input* buffer : program.graph.inputs_of(InputKind::kBuffer)) {
    const bool in_prefix =
        split.prefix.graph.find_target(buffer->target) != nullptr;
    const bool in_rest =
        split.rest.graph.find_target(buffer->target) != nullptr;
    EXPECT_NE(in_prefix, in_rest) << buffer->target;
    EXPECT_EQ(
        (in_prefix ? first : second).state(buffer->target),
        whole.state(buffer->target));
  }
}

// Dropout, which the evaluator does not draw, in eval; BatchNorms train.
Program without_dropout() {
  Program program = residual_net();
  for (Node& node : program.graph.nodes)
    for (NamedArgument& argument : node.inputs)
      if (argument.name == "train") argument.value = false;
  return program;
}

TEST(PassSplit, TheTwoPartsGiveWhatTheWholeGives) {
  expect_same_run(without_dropout(), "relu_");
  expect_same_run(without_dropout(), "flatten");
  expect_same_run(without_dropout(), "adaptive_avg_pool2d");
  expect_same_run(switch_mode(residual_net(), false).program, "relu_");
}

TEST(PassSplit, CountersGoWithTheirNorms) {
  const Split split = split_checked(residual_net(), "relu_");
  EXPECT_EQ(nodes_of(split.prefix.graph, "add_").size(), 1U);
  EXPECT_EQ(nodes_of(split.rest.graph, "add_").size(), 4U);
  EXPECT_EQ(split.report, "split at relu_: 4 nodes before it, 16 after");
}

TEST(PassSplit, NothingIsLostNorDoubled) {
  const Program program = switch_mode(residual_net(), false).program;
  const Split split = split_checked(program, "relu_");
  EXPECT_EQ(
      split.prefix.weights.size() + split.rest.weights.size(),
      program.weights.size());
  // Nobody reads it in eval mode; it goes with its module.
  EXPECT_EQ(split.prefix.weights.count("stem.1.num_batches_tracked"), 1U);
}

TEST(PassSplit, InsideABlockASkipConnectionForbidsIt) {
  EXPECT_THAT(
      refusal_of([] { split_at(residual_net(), "conv2d_2"); }),
      HasSubstr("conv2d_3 (conv2d) in layer1.0.downsample.0 also reads "
                "relu_"));
}

TEST(PassSplit, AValueThatIsWrittenOverLaterForbidsIt) {
  EXPECT_THAT(
      refusal_of([] { split_at(residual_net(), "batch_norm"); }),
      HasSubstr("relu_ (relu) in stem.2 changes it in place"));
}

TEST(PassSplit, AnUnknownValueNamesTheNearest) {
  EXPECT_THAT(
      refusal_of([] { split_at(residual_net(), "flaten"); }),
      HasSubstr("no node makes such a value. Did you mean 'flatten'?"));
  EXPECT_THAT(
      refusal_of([] { split_at(residual_net(), "x"); }),
      HasSubstr("no node makes such a value"));
}

TEST(PassSplit, TheBatchSizeIsReadOffTheValue) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {4, 6});
  x = b.linear("first", x, {.out = 6});
  x = b.reshape("", x, {6, 4});
  x = b.linear("second", x, {.out = 2});
  x = b.reshape("", x, {12});
  const Program program = with_weights(b.finish(x).graph);
  ASSERT_EQ(nodes_of(program.graph, "sym_size").size(), 1U);
  const Split split = split_checked(program, "linear");
  const auto sizes = nodes_of(split.rest.graph, "sym_size");
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(NodeArguments(*sizes[0]).tensor_name("self"), "linear");
  EXPECT_EQ(split.rest.graph.numbers, program.graph.numbers);
  // Later, both parts need it.
  const Split later = split_checked(program, "linear_1");
  EXPECT_EQ(nodes_of(later.prefix.graph, "sym_size").size(), 1U);
  EXPECT_EQ(nodes_of(later.rest.graph, "sym_size").size(), 1U);
}

TEST(PassSplit, WhoWroteIntoWhatTheValueReadsComesBeforeIt) {
  const Program program = by_hand(
      {simple_node(
           "aten.mul.Tensor", {{"self", TensorName{"x"}}, {"other", 3.0}}, "a"),
       simple_node("aten.relu_.default", {{"self", TensorName{"a"}}}, "unread"),
       simple_node(
           "aten.mul.Tensor", {{"self", TensorName{"a"}}, {"other", 2.0}}, "v"),
       simple_node("aten.relu.default", {{"self", TensorName{"v"}}}, "y")},
      "y");
  const Split split = split_checked(program, "v");
  EXPECT_EQ(nodes_of(split.prefix.graph, "relu_").size(), 1U);
  EXPECT_EQ(split.rest.graph.nodes.size(), 1U);
  const Array x = random_input({2, 3});
  const Array middle = Evaluation(split.prefix, x).at("v");
  EXPECT_EQ(middle.values(), Evaluation(program, x).at("v").values());
}

TEST(PassSplit, ABufferOfBothSidesForbidsIt) {
  const auto count = [](const std::string& made) {
    return simple_node(
        "aten.add_.Tensor",
        {{"self", TensorName{"n"}}, {"other", std::int64_t{1}}},
        made);
  };
  const Program program = by_hand(
      {count("a"),
       simple_node("aten.relu.default", {{"self", TensorName{"x"}}}, "v"),
       count("b"),
       simple_node("aten.relu.default", {{"self", TensorName{"v"}}}, "y")},
      "y",
      {{InputKind::kBuffer, "n", "bn.count"}});
  EXPECT_THAT(
      refusal_of([&] { split_at(program, "v"); }),
      HasSubstr("bn.count is changed on one side and read on both"));
}

std::string frontier(
    const Program& program,
    const std::vector<std::string>& patterns) {
  return frozen_frontier(freeze(program, patterns).program.graph);
}

TEST(PassSplit, TheFrontierIsWhereTheFrozenPartEnds) {
  const Program eval = switch_mode(residual_net(), false).program;
  EXPECT_EQ(frontier(eval, {"stem.*"}), "relu_");
  EXPECT_EQ(frontier(eval, {"stem.*", "layer1.*"}), "dropout");
  EXPECT_EQ(frontier(eval, {"*"}), "linear");
  EXPECT_EQ(frontier(eval, {"fc.*"}), "") << "the stem learns";
  EXPECT_EQ(frontier(eval, {"stem.*", "layer1.0.conv1.*"}), "relu_")
      << "no cut inside the block";
}

TEST(PassSplit, BatchStatisticsAndRandomnessEndTheFrozenPart) {
  const Program train = residual_net();
  EXPECT_EQ(frontier(train, {"*"}), "conv2d");
  const Program still = freeze_statistics(train, {"*"}).program;
  EXPECT_EQ(frontier(still, {"*"}), "flatten") << "dropout draws";
  EXPECT_EQ(
      frontier(freeze_statistics(train, {"stem.*"}).program, {"*"}), "relu_");
}

TEST(PassSplit, BatchStatisticsThatAreNotKeptEndItToo) {
  const Program program = by_hand(
      {simple_node("aten.relu.default", {{"self", TensorName{"x"}}}, "a"),
       simple_node(
           "aten.batch_norm.default",
           {{"input", TensorName{"a"}}, {"training", true}},
           "b")},
      "b");
  EXPECT_EQ(frozen_frontier(program.graph), "a");
}

TEST(PassSplit, TheFrontierCanBeSplitAt) {
  const Program program =
      freeze(switch_mode(residual_net(), false).program, {"stem.*"}).program;
  const Split split = split_checked(program, frozen_frontier(program.graph));
  for (const Input* input : split.prefix.graph.inputs_of(InputKind::kParameter))
    EXPECT_FALSE(input->trainable) << input->target;
}

} // namespace
} // namespace temper::graph

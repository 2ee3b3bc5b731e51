#include "temper/graph/op/effects.h"

#include <gmock/gmock.h>

#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Node on_x(const std::string& op, std::vector<NamedArgument> more = {}) {
  more.insert(more.begin(), {"self", TensorName{"x"}});
  return simple_node(op, std::move(more), "y");
}

TEST(Effects, AnUnderscoreAtTheEndWrites) {
  EXPECT_THAT(values_written(on_x("aten.relu_.default")), ElementsAre("x"));
  EXPECT_THAT(values_written(on_x("aten.relu.default")), IsEmpty());
  EXPECT_THAT(values_written(on_x("aten.__and__.Tensor")), IsEmpty());
  EXPECT_THAT(values_written(on_x("aten.__iand__.Tensor")), ElementsAre("x"));
  EXPECT_THAT(
      values_written(on_x("aten.add.out", {{"out", TensorName{"z"}}})),
      ElementsAre("z"));
}

TEST(Effects, BatchNormMovesItsStatisticsInTrainingOnly) {
  Node norm = on_x(
      "aten.batch_norm.default",
      {{"running_mean", TensorName{"m"}},
       {"running_var", TensorName{"v"}},
       {"training", true}});
  EXPECT_THAT(values_written(norm), ElementsAre("m", "v"));
  EXPECT_TRUE(uses_batch_statistics(norm));
  norm.inputs.back().value = false;
  EXPECT_THAT(values_written(norm), IsEmpty());
  norm.inputs.back().value = true;
  norm.op = "aten._native_batch_norm_legit_functional.default";
  EXPECT_THAT(values_written(norm), IsEmpty()) << "it gives new ones";
}

TEST(Effects, DropoutIsRandomOnlyWhereItDrops) {
  const auto dropout = [](double p, bool train) {
    return on_x("aten.dropout.default", {{"p", p}, {"train", train}});
  };
  EXPECT_TRUE(draws_randomness(dropout(0.5, true)));
  EXPECT_FALSE(draws_randomness(dropout(0.0, true)));
  EXPECT_FALSE(draws_randomness(dropout(0.5, false)));
  EXPECT_TRUE(draws_randomness(on_x("aten.bernoulli_.float", {{"p", 0.9}})));
  EXPECT_TRUE(draws_randomness(
      on_x("aten.scaled_dot_product_attention.default", {{"dropout_p", 0.1}})));
  EXPECT_FALSE(
      draws_randomness(on_x("aten.scaled_dot_product_attention.default")));
  EXPECT_FALSE(draws_randomness(
      on_x("aten.lstm.input", {{"dropout", 0.0}, {"train", true}})));
}

TEST(Effects, ViewsAndInPlaceResultsShareMemory) {
  const Program program = by_hand(
      {simple_node("aten.relu.default", {{"self", TensorName{"x"}}}, "a"),
       simple_node("aten.view.default", {{"self", TensorName{"a"}}}, "b"),
       simple_node("aten.relu_.default", {{"self", TensorName{"b"}}}, "c"),
       simple_node("aten.clone.default", {{"self", TensorName{"c"}}}, "d"),
       simple_node(
           "aten.dropout.default",
           {{"input", TensorName{"d"}}, {"p", 0.5}, {"train", false}},
           "e")},
      "e");
  const AliasMap memory(program.graph);
  EXPECT_EQ(memory.owner("c"), "a");
  EXPECT_EQ(memory.owner("a"), "a");
  EXPECT_EQ(memory.owner("d"), "d");
  EXPECT_EQ(memory.owner("e"), "d") << "idle dropout hands its input on";
}

// Through a view, by a mutation that is an output, and by who knows whom.
TEST(Effects, BuffersThatAPassChangesAreKnownByTheirRealNames) {
  Program program = by_hand(
      {simple_node("aten.view.default", {{"self", TensorName{"n"}}}, "a"),
       simple_node("aten.add_.Tensor", {{"self", TensorName{"a"}}}, "b"),
       simple_node("aten.relu.default", {{"self", TensorName{"m"}}}, "next"),
       simple_node("mine.op.default", {{"self", TensorName{"f"}}}, "c"),
       simple_node("aten.relu.default", {{"self", TensorName{"r"}}}, "y")},
      "y",
      {{InputKind::kBuffer, "n", "count"},
       {InputKind::kBuffer, "m", "mean"},
       {InputKind::kBuffer, "f", "foreign"},
       {InputKind::kBuffer, "r", "read"}});
  program.graph.outputs.push_back(
      {OutputKind::kBufferMutation, TensorName{"next"}, "mean"});
  EXPECT_THAT(
      buffers_written(program.graph), ElementsAre("count", "foreign", "mean"));
}

} // namespace
} // namespace temper::graph

#include <gmock/gmock.h>

#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/pass/edit.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::HasSubstr;

Passed to_eval(const Program& program) {
  return checked(
      [](const Program& p) { return switch_mode(p, false); }, program);
}
Passed to_training(const Program& program) {
  return checked(
      [](const Program& p) { return switch_mode(p, true); }, program);
}

TEST(PassMode, EvalTurnsNormsAndDropoutAndDropsCounters) {
  const Program program = residual_net();
  ASSERT_EQ(nodes_of(program.graph, "batch_norm").size(), 4U);
  const Passed passed = to_eval(program);
  for (const Node* node : nodes_of(passed.program.graph, "batch_norm"))
    EXPECT_FALSE(NodeArguments(*node).flag("training", true));
  for (const Node* node : nodes_of(passed.program.graph, "dropout"))
    EXPECT_FALSE(NodeArguments(*node).flag("train", true));
  // The residual's add_ stays.
  EXPECT_EQ(nodes_of(passed.program.graph, "add_").size(), 1U);
  EXPECT_NE(
      passed.program.graph.find_target("stem.1.num_batches_tracked"), nullptr);
  EXPECT_EQ(
      passed.report,
      "switched to eval: 4 BatchNorms, 1 dropout, 4 batch counters removed");
}

// Equal but for what an exporter notes about its own files.
TEST(PassMode, ThereAndBackIsTheSameGraph) {
  const Program program = residual_net();
  const Program back = to_training(to_eval(program).program).program;
  EXPECT_EQ(hash_of(back.graph), hash_of(program.graph));
  EXPECT_EQ(back.graph.tensors, program.graph.tensors);
  ASSERT_EQ(back.graph.nodes.size(), program.graph.nodes.size());
  for (std::size_t i = 0; i < back.graph.nodes.size(); ++i) {
    EXPECT_EQ(back.graph.nodes[i].inputs, program.graph.nodes[i].inputs);
    EXPECT_EQ(back.graph.nodes[i].outputs, program.graph.nodes[i].outputs);
  }
}

TEST(PassMode, TwiceIsOnce) {
  const Program program = residual_net();
  const Program eval = to_eval(program).program;
  EXPECT_TRUE(same(eval, to_eval(eval).program));
  EXPECT_TRUE(same(program, to_training(program).program));
  EXPECT_EQ(to_eval(eval).report, "nothing differs in eval mode");
}

TEST(PassMode, ANormWithoutRunningStatisticsHasOneMode) {
  const Program program = by_hand(
      {simple_node(
          "aten.batch_norm.default",
          {{"input", TensorName{"x"}},
           {"running_mean", None{}},
           {"running_var", None{}},
           {"training", true}},
          "y")},
      "y");
  EXPECT_TRUE(same(program, to_eval(program).program));
}

TEST(PassMode, RecurrentLayersAndRreluKnowTheirMode) {
  const Program program = by_hand(
      {simple_node(
           "aten.rrelu.default",
           {{"self", TensorName{"x"}},
            {"lower", 0.1},
            {"upper", 0.3},
            {"training", true}},
           "a"),
       simple_node(
           "aten.gru.input",
           {{"input", TensorName{"a"}}, {"dropout", 0.3}, {"train", true}},
           "b"),
       simple_node(
           "aten.dropout_.default",
           {{"self", TensorName{"b"}}, {"p", 0.3}, {"train", true}},
           "c")},
      "c");
  const Passed eval = to_eval(program);
  for (const Node& node : eval.program.graph.nodes)
    EXPECT_FALSE(draws_randomness(node)) << node.op;
  EXPECT_EQ(eval.program.graph.nodes[0].find("training"), nullptr)
      << "an export leaves defaults out";
  EXPECT_TRUE(same(program, to_training(eval.program).program));
}

TEST(PassMode, AttentionLosesItsDropoutAndSaysSo) {
  const Program program = by_hand(
      {simple_node(
           "aten.scaled_dot_product_attention.default",
           {{"query", TensorName{"x"}}, {"dropout_p", 0.25}},
           "a"),
       simple_node(
           "aten.dropout.default",
           {{"input", TensorName{"a"}}, {"p", 0.3}, {"train", true}},
           "b")},
      "b");
  const Passed eval = to_eval(program);
  EXPECT_EQ(NodeArguments(eval.program.graph.nodes[0]).real("dropout_p", 1), 0);
  EXPECT_THAT(
      eval.report, HasSubstr("1 attention dropout (cannot be switched back)"));
  EXPECT_THAT(
      to_training(eval.program).report,
      HasSubstr("1 attention without dropout, whose probability an eval "
                "export does not keep"));
}

TEST(PassMode, StochasticDepthKeepsEverySampleInEval) {
  const Program program = by_hand(
      {simple_node("aten.empty.memory_format", {{"size", Ints{2, 3}}}, "e"),
       simple_node(
           "aten.bernoulli_.float",
           {{"self", TensorName{"e"}}, {"p", 0.9}},
           "n"),
       simple_node(
           "aten.div_.Tensor",
           {{"self", TensorName{"n"}}, {"other", 0.9}},
           "d"),
       simple_node(
           "aten.mul.Tensor",
           {{"self", TensorName{"x"}}, {"other", TensorName{"n"}}},
           "y")},
      "y");
  const Passed eval = to_eval(program);
  const Node& fill = eval.program.graph.nodes[1];
  EXPECT_EQ(fill.op, "aten.fill_.Scalar");
  EXPECT_EQ(NodeArguments(fill).real("value", 0), 1);
  EXPECT_EQ(fill.find("p"), nullptr);
  EXPECT_EQ(NodeArguments(eval.program.graph.nodes[2]).real("other", 0), 1);
  EXPECT_THAT(eval.report, HasSubstr("1 stochastic depth"));
}

// Noise that is no stochastic depth was asked for in both modes.
TEST(PassMode, OtherNoiseStays) {
  const Program program = by_hand(
      {simple_node("aten.clone.default", {{"self", TensorName{"x"}}}, "e"),
       simple_node(
           "aten.bernoulli_.float",
           {{"self", TensorName{"e"}}, {"p", 0.9}},
           "n")},
      "n");
  EXPECT_TRUE(same(program, to_eval(program).program));
}

TEST(PassMode, TheFusedEncoderOfAnEvalExportCannotTrain) {
  const Program program = by_hand(
      {simple_node(
          "aten._transformer_encoder_layer_fwd.default",
          {{"src", TensorName{"x"}}},
          "y",
          "encoder.layers.0")},
      "y");
  const std::string said = refusal_of([&] { switch_mode(program, true); });
  EXPECT_THAT(said, HasSubstr("encoder.layers.0"));
  EXPECT_THAT(said, HasSubstr("model.train()"));
  EXPECT_NO_THROW(switch_mode(program, false));
}

// What run_decompositions() leaves: three results, and no flag.
TEST(PassMode, TheFormWithoutTrainingBecomesOneWith) {
  Node norm = simple_node(
      "aten._native_batch_norm_legit_no_training.default",
      {{"input", TensorName{"x"}},
       {"weight", None{}},
       {"bias", None{}},
       {"running_mean", TensorName{"b_bn_running_mean"}},
       {"running_var", TensorName{"b_bn_running_var"}},
       {"momentum", 0.1},
       {"eps", 1e-5}},
      "y");
  norm.outputs.emplace_back(TensorName{"saved_mean"});
  norm.outputs.emplace_back(TensorName{"saved_invstd"});
  Program program = by_hand(
      {norm},
      "y",
      {{InputKind::kBuffer, "b_bn_running_mean", "bn.running_mean"},
       {InputKind::kBuffer, "b_bn_running_var", "bn.running_var"},
       {InputKind::kBuffer, "b_n", "bn.num_batches_tracked"}});
  for (const char* buffer : {"b_bn_running_mean", "b_bn_running_var"})
    program.graph.tensors[buffer] = shape({3});
  for (const char* saved : {"saved_mean", "saved_invstd"})
    program.graph.tensors[saved] = shape({0});
  program = with_weights(program.graph);

  const Passed passed = to_training(program);
  const Graph& graph = passed.program.graph;
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].op, "aten.add_.Tensor");
  EXPECT_EQ(graph.nodes[1].op, "aten._native_batch_norm_legit.default");
  EXPECT_EQ(graph.nodes[1].inputs[5].name, "training");
  EXPECT_EQ(graph.meta("saved_mean").sizes, (Sizes{3}));
  const Passed eval = to_eval(passed.program);
  EXPECT_EQ(eval.program.graph.meta("saved_mean").sizes, (Sizes{0}));
  EXPECT_EQ(eval.program.graph.nodes.size(), 1U);
}

TEST(PassMode, ACountThatSomebodyReadsStays) {
  Program program = residual_net();
  const std::string counted = values_made(program.graph.nodes[1]).front();
  ASSERT_EQ(program.graph.nodes[1].op, "aten.add_.Tensor");
  program.graph.outputs.push_back({OutputKind::kUser, TensorName{counted}, ""});
  EXPECT_THAT(to_eval(program).report, HasSubstr("3 batch counters removed"));
}

TEST(PassMode, ACounterThatAMutationStoresGoesWithItsOutput) {
  Node norm = simple_node(
      "aten.batch_norm.default",
      {{"input", TensorName{"x"}},
       {"running_mean", TensorName{"m"}},
       {"running_var", TensorName{"v"}},
       {"training", true}},
      "y");
  Program program = by_hand(
      {simple_node(
           "aten.add.Tensor",
           {{"self", TensorName{"n"}}, {"other", std::int64_t{1}}},
           "add"),
       norm},
      "y",
      {{InputKind::kBuffer, "m", "bn.running_mean"},
       {InputKind::kBuffer, "v", "bn.running_var"},
       {InputKind::kBuffer, "n", "bn.num_batches_tracked"}});
  program.graph.outputs.insert(
      program.graph.outputs.begin(),
      {OutputKind::kBufferMutation,
       TensorName{"add"},
       "bn.num_batches_tracked"});
  const Graph graph = to_eval(program).program.graph;
  EXPECT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.outputs.size(), 1U);
}

} // namespace
} // namespace temper::graph

// The passes on files that torch.export wrote: the small ones of the fixtures,
// and the five larger ones where they are.
#include <gmock/gmock.h>

#include "temper/graph/infer/infer.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/pt2/pt2.h"
#include "tests/graph/pt2/pt2_files.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::HasSubstr;

Program fixture(const std::string& name) {
  return read_pt2(pt2_fixture(name));
}

// Nothing but the files' own notes may differ.
std::vector<std::string> shape_of_nodes(const Graph& graph) {
  std::vector<std::string> nodes;
  for (const Node& node : graph.nodes) {
    std::string text = node.op + " " + node.module;
    for (const std::string& value : values_made(node))
      text += " " + value;
    for (const std::string& value : values_read(node))
      text += " <" + value;
    nodes.push_back(text);
  }
  return nodes;
}

void expect_every_pass_holds(const Program& program) {
  const auto mode = [](bool training) {
    return [training](const Program& p) { return switch_mode(p, training); };
  };
  const Program eval = checked(mode(false), program).program;
  const Program train = checked(mode(true), eval).program;
  checked(mode(false), train);
  checked(fold_batch_norm, eval);
  checked(remove_dead, program);
  if (!program.graph.inputs_of(InputKind::kParameter).empty()) {
    const Program frozen =
        checked([](const Program& p) { return freeze(p, {"*"}); }, eval)
            .program;
    const std::string frontier = frozen_frontier(frozen.graph);
    if (!frontier.empty()) {
      const Split split = split_at(frozen, frontier);
      EXPECT_NO_THROW(validate(split.prefix));
      EXPECT_NO_THROW(validate(split.rest));
    }
  }
  checked([](const Program& p) { return mark_recompute(p, {"*"}); }, program);
}

TEST(PassesFiles, EveryPassHoldsOnEveryFixture) {
  for (const std::string& name : pt2_fixtures()) {
    SCOPED_TRACE(name);
    expect_every_pass_holds(fixture(name));
  }
}

TEST(PassesFiles, ATrainExportInEvalIsTheEvalExport) {
  const Graph train = fixture("cnn").graph;
  const Graph eval = fixture("cnn_eval").graph;
  const Graph switched = switch_mode(fixture("cnn"), false).program.graph;
  EXPECT_EQ(shape_of_nodes(switched), shape_of_nodes(eval));
  const Graph back = switch_mode(fixture("cnn_eval"), true).program.graph;
  EXPECT_EQ(shape_of_nodes(back), shape_of_nodes(train));
}

TEST(PassesFiles, ATiedHeadIsRefused) {
  EXPECT_THAT(
      refusal_of([] { replace_head(fixture("tied"), 3, 1); }),
      HasSubstr("tied"));
}

// TEMPER_SHARED_DATA names them.
Program larger(const std::string& name) {
  return read_pt2(shared_pt2() / (name + ".pt2"));
}

class PassesNetworks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(shared_pt2() / "tiny_resnet.pt2"))
      GTEST_SKIP() << "no exported networks in " << shared_pt2();
  }
};
class PassesEachNetwork : public PassesNetworks,
                          public ::testing::WithParamInterface<const char*> {};

TEST_P(PassesEachNetwork, EveryPassHolds) {
  expect_every_pass_holds(larger(GetParam()));
}

TEST_P(PassesEachNetwork, ThereAndBackIsTheSameGraph) {
  const Program program = larger(GetParam());
  const Program eval = switch_mode(program, false).program;
  EXPECT_EQ(
      hash_of(switch_mode(eval, true).program.graph), hash_of(program.graph));
}

TEST_P(PassesEachNetwork, AnotherHeadHasShapesThatFollow) {
  const Program program = larger(GetParam());
  const Program headed =
      checked([](const Program& p) { return replace_head(p, 12, 1); }, program)
          .program;
  const Symbols symbols = bind_batch(headed.graph, 3);
  const Inferred known = infer_by_rules(headed.graph, symbols);
  for (const Node& node : headed.graph.nodes)
    for (const std::string& value : values_made(node)) {
      if (known.tensors.count(value) == 0) continue;
      std::vector<std::int64_t> declared;
      for (const Size& size : headed.graph.meta(value).sizes)
        declared.push_back(evaluate(size, symbols));
      EXPECT_EQ(declared, known.tensors.at(value).sizes) << value;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    PassesEachNetwork,
    ::testing::Values(
        "mobilenet_v2_w025",
        "tiny_resnet",
        "tiny_vit",
        "tiny_gpt",
        "tiny_lstm"),
    [](const auto& each) { return std::string(each.param); });

TEST_F(PassesNetworks, FoldingTakesEveryNormOfAMobileNet) {
  const Program eval = switch_mode(larger("mobilenet_v2_w025"), false).program;
  const Passed passed = checked(fold_batch_norm, eval);
  EXPECT_THAT(passed.report, HasSubstr("folded 52 of 52 BatchNorms"));
}

TEST_F(PassesNetworks, AFrozenBackboneEndsBeforeTheClassifier) {
  const Program eval = switch_mode(larger("mobilenet_v2_w025"), false).program;
  const Program frozen = freeze(eval, {"features.*"}).program;
  const Split split = split_at(frozen, frozen_frontier(frozen.graph));
  EXPECT_EQ(nodes_of(split.rest.graph, "conv2d").size(), 0U);
  EXPECT_EQ(nodes_of(split.rest.graph, "linear").size(), 1U);
}

// Patches, class token and positions meet in the first block's input; the
// batch size, which the rest needs, comes from the value.
TEST_F(PassesNetworks, ATransformerIsCutBetweenItsBlocks) {
  const Program program = larger("tiny_gpt");
  const Program frozen = freeze(program, {"e.*", "p", "b.0.*"}).program;
  const std::string frontier = frozen_frontier(frozen.graph);
  const Split split = split_at(frozen, frontier);
  EXPECT_EQ(
      nodes_of(split.prefix.graph, "scaled_dot_product_attention").size(), 1U);
  EXPECT_EQ(
      nodes_of(split.rest.graph, "scaled_dot_product_attention").size(), 1U);
  EXPECT_EQ(
      NodeArguments(*nodes_of(split.rest.graph, "sym_size").at(0)).subject(),
      frontier);
}

} // namespace
} // namespace temper::graph

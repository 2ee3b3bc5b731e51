#include "temper/graph/op/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/op/storage_map.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::ElementsAre;

TEST(Operator, WithAShapeRuleSaysWhereItsResultLiesAndWhatGradientsDo) {
  const auto names = operators_with_pages();
  EXPECT_GT(names.size(), 300U);
  for (const std::string& name : names) {
    const Operator* page = find_operator(op_name(name));
    ASSERT_NE(page, nullptr) << name;
    if (page->shape == nullptr) continue;
    EXPECT_NE(page->memory, nullptr) << name;
    EXPECT_NE(page->gradient, Gradient::kUndeclared) << name;
  }
}

TEST(Operator, ThatDependsOnTheModeSaysWhichArgumentItIs) {
  for (const std::string& name : operators_with_pages()) {
    const Operator* page = find_operator(op_name(name));
    if (page->moves_statistics || page->layer == Layer::kBatchNorm) {
      ASSERT_NE(page->mode, nullptr) << name;
      EXPECT_STREQ(page->mode->needs, "running_mean") << name;
    }
  }
}

TEST(Operator, SharesItsPageWithItsOverloadsAndTheFormInPlace) {
  const Operator* relu = find_operator(op_name("aten.relu.default"));
  ASSERT_NE(relu, nullptr);
  EXPECT_EQ(find_operator(op_name("aten.relu_.default")), relu);
  EXPECT_EQ(find_operator(op_name("aten.relu.out")), relu);
}

TEST(Operator, OfAnotherLibraryHasNoPageWhateverItsName) {
  EXPECT_EQ(find_operator(op_name("mine.relu.default")), nullptr);
  EXPECT_EQ(find_operator(op_name("aten.no_such.default")), nullptr);
  const Operator* sum = find_operator(op_name("_operator.add"));
  ASSERT_NE(sum, nullptr);
  EXPECT_TRUE(sum->of_numbers);
  EXPECT_NE(sum, find_operator(op_name("aten.add.Tensor")));
}

// What PyTorch 1.13 does, whatever its schema says.
TEST(Operator, IsSaidToShareMemoryWhereItDoes) {
  const auto shares = [](const std::string& op,
                         std::vector<NamedArgument> more = {}) {
    more.insert(more.begin(), {"self", TensorName{"x"}});
    return may_share_memory(simple_node(op, std::move(more), "y"));
  };
  EXPECT_TRUE(shares("aten._unsafe_view.default"));
  EXPECT_TRUE(shares("aten.type_as.default"));
  EXPECT_TRUE(shares("aten.moveaxis.int"));
  EXPECT_TRUE(shares("aten.as_strided.default"));
  EXPECT_TRUE(shares("aten.relu_.default"));
  EXPECT_TRUE(shares("aten.feature_alpha_dropout.default", {{"train", false}}));
  EXPECT_FALSE(shares("aten.feature_alpha_dropout.default", {{"train", true}}));
  EXPECT_FALSE(shares("aten.native_dropout.default", {{"train", false}}));
  EXPECT_FALSE(shares("aten.clone.default"));
  EXPECT_FALSE(shares("aten.unheard_of.default"));
}

TEST(Operator, ThatMovesDimensionsMovesTheirStrides) {
  Node node = simple_node(
      "aten.movedim.intlist",
      {{"self", TensorName{"x"}},
       {"source", Ints{0, 1}},
       {"destination", Ints{-1, 0}}},
      "y");
  Inferred known;
  known.tensors["x"] = {DType::kFloat32, {2, 3, 4}};
  const Shape made{DType::kFloat32, {3, 4, 2}};
  const Ints strides{12, 4, 1};
  const auto shared = shared_strides(
      NodeArguments(node, known), {known.tensors.at("x"), strides, made});
  ASSERT_TRUE(shared);
  EXPECT_THAT(*shared, ElementsAre(4, 1, 12));
}

} // namespace
} // namespace temper::graph

#include "temper/graph/fuse/dense_chain.h"

#include <gtest/gtest.h>

#include "temper/model/zoo/zoo.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

TEST(DenseChain, ADenseNetworkIsItsLayers) {
  const Graph graph =
      model::blueprint({.name = "mlp", .widths = {32, 16}}).graph;
  const auto layers = dense_chain(graph);
  ASSERT_TRUE(layers);
  ASSERT_EQ(layers->size(), 3U);
  EXPECT_EQ((*layers)[0].weight, "hidden.0.weight");
  EXPECT_EQ((*layers)[0].bias, "hidden.0.bias");
  EXPECT_EQ((*layers)[0].act, FusedActivation::kRelu);
  EXPECT_EQ((*layers)[1].weight, "hidden.1.weight");
  EXPECT_EQ((*layers)[2].weight, "head.weight");
  EXPECT_EQ((*layers)[2].act, FusedActivation::kNone);
}

TEST(DenseChain, OtherNetworksAreNone) {
  EXPECT_FALSE(dense_chain(model::blueprint({.name = "cnn"}).graph));
  EXPECT_FALSE(dense_chain(model::blueprint({.name = "gpt_tiny"}).graph));
  // A dropout that drops is not part of a chain.
  EXPECT_FALSE(
      dense_chain(model::blueprint({.name = "mlp", .dropout = 0.5}).graph));
}

TEST(DenseChain, ALayerForEveryPlaceOfASequenceIsNone) {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {3, 4});
  EXPECT_FALSE(dense_chain(b.finish(b.linear("a", x, {.out = 2})).graph));
  Builder flat("test");
  const Value y = flat.input("x", DType::kFloat32, {3, 4});
  EXPECT_TRUE(dense_chain(
      flat.finish(flat.linear("a", flat.flatten("", y, 1), {.out = 2})).graph));
}

TEST(DenseChain, ASharedWeightOrASecondReaderEndsIt) {
  Builder tied("test");
  const Value x = tied.input("x", DType::kFloat32, {4});
  const Value weight = tied.parameter("w", {4, 4}, constant(0));
  const Value y = tied.tied_linear("a", x, weight);
  EXPECT_TRUE(dense_chain(Builder(tied).finish(y).graph));
  EXPECT_FALSE(
      dense_chain(tied.finish(tied.tied_linear("b", y, weight)).graph));
  Builder sum("test");
  const Value z = sum.input("x", DType::kFloat32, {4});
  const Value hidden = sum.relu("r", sum.linear("a", z, {.out = 4}));
  EXPECT_FALSE(dense_chain(
      sum.finish(sum.add("", hidden, sum.linear("b", hidden, {.out = 4})))
          .graph));
}

} // namespace
} // namespace temper::graph

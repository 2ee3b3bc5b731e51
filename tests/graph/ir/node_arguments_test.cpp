#include "temper/graph/ir/node_arguments.h"

#include <gtest/gtest.h>

#include "tests/graph/make_node.h"

namespace temper::graph {
namespace {

const Node& sliced_node() {
  static const Node node = make_node(
      "aten.slice.Tensor",
      {{"self", TensorName{"x"}},
       {"dim", std::int64_t{1}},
       {"end", NumberName{"n"}},
       {"scale", 0.5}},
      {TensorName{"y"}});
  return node;
}

TEST(NodeArguments, LiteralsNeedNoShapes) {
  const NodeArguments arguments(sliced_node());
  EXPECT_EQ(arguments.subject(), "x");
  EXPECT_EQ(arguments.tensor_name("self"), "x");
  EXPECT_EQ(arguments.tensor_name("dim"), "");
  EXPECT_EQ(arguments.real("dim", 7), 1);
  EXPECT_EQ(arguments.real("scale", 7), 0.5);
  EXPECT_EQ(arguments.real("absent", 7), 7);
  EXPECT_TRUE(arguments.flag("absent", true));
}

TEST(NodeArguments, AComputedNumberHasAValueOnceTheNumbersAreKnown) {
  EXPECT_EQ(NodeArguments(sliced_node()).real("end", 7), 7);
  Inferred known;
  known.numbers["n"] = 3;
  EXPECT_EQ(NodeArguments(sliced_node(), known).real("end", 7), 3);
  EXPECT_EQ(NodeArguments(sliced_node(), known).integer("end"), 3);
}

} // namespace
} // namespace temper::graph

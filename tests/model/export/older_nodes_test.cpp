#include "temper/model/export/older_nodes.h"

#include <gtest/gtest.h>

#include "temper/graph/infer/infer.h"

namespace temper::model {
namespace {

using graph::DType;
using graph::Ints;
using graph::Node;
using graph::TensorName;

Node node_of(std::string op, std::vector<graph::NamedArgument> inputs) {
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs = {TensorName{"out"}};
  return node;
}

// The shapes of all parts fit together; the last one's is the result's.
Ints shape_of(const Node& node) {
  graph::Graph graph;
  graph.tensors["x"].sizes = {2, 1, 5, 1};
  graph.tensors["w"].sizes = {1};
  graph::Inferred known;
  for (const auto& [name, meta] : graph.tensors) {
    graph::Shape shape{meta.dtype, {}};
    for (const auto& size : meta.sizes)
      shape.sizes.push_back(size.value);
    known.tensors[name] = shape;
  }
  for (const auto& part : older_nodes(node, graph))
    EXPECT_TRUE(graph::infer_node(part, known)) << part.op;
  return known.tensors.at("out").sizes;
}

TEST(OlderNodes, GiveTheShapeOfTheOperatorTheyStandFor) {
  const graph::NamedArgument x{"self", TensorName{"x"}, false};
  EXPECT_EQ(
      shape_of(node_of("aten.squeeze.dims", {x, {"dim", Ints{1, -1}}})),
      (Ints{2, 5}));
  EXPECT_EQ(
      shape_of(node_of("aten.any.dims", {x, {"dim", Ints{1, 2}}})),
      (Ints{2, 1}));
  EXPECT_EQ(
      shape_of(
          node_of("aten._safe_softmax.default", {x, {"dim", std::int64_t{2}}})),
      (Ints{2, 1, 5, 1}));
  EXPECT_EQ(
      shape_of(node_of(
          "aten.rms_norm.default",
          {{"input", TensorName{"x"}},
           {"normalized_shape", Ints{1}},
           {"weight", TensorName{"w"}}})),
      (Ints{2, 1, 5, 1}));
  EXPECT_TRUE(older_nodes(node_of("aten.relu.default", {x}), {}).empty());
}

} // namespace
} // namespace temper::model

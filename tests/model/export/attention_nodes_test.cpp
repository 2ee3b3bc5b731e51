#include "temper/model/export/attention_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/graph/infer/infer.h"

namespace temper::model {
namespace {

using graph::DType;
using graph::Node;
using graph::TensorName;

graph::Graph with_inputs(DType mask) {
  graph::Graph graph;
  graph.tensors["q"].sizes = {2, 4, 5, 16};
  graph.tensors["k"].sizes = {2, 4, 7, 16};
  graph.tensors["v"].sizes = {2, 4, 7, 8};
  graph.tensors["m"].sizes = {5, 7};
  graph.tensors["m"].dtype = mask;
  return graph;
}

Node attention(std::vector<graph::NamedArgument> more) {
  Node node;
  node.op = "aten.scaled_dot_product_attention.default";
  node.inputs = {
      {"query", TensorName{"q"}, false},
      {"key", TensorName{"k"}, false},
      {"value", TensorName{"v"}, false}};
  node.inputs.insert(node.inputs.end(), more.begin(), more.end());
  node.outputs = {TensorName{"out"}};
  return node;
}

// The shapes of all parts fit together, and the last is the whole's.
std::vector<std::string> ops_of(const Node& node, const graph::Graph& graph) {
  graph::Inferred known;
  for (const auto& [name, meta] : graph.tensors) {
    graph::Shape shape{meta.dtype, {}};
    for (const auto& size : meta.sizes)
      shape.sizes.push_back(size.value);
    known.tensors[name] = shape;
  }
  std::vector<std::string> ops;
  for (const auto& part : attention_nodes(node, graph)) {
    EXPECT_TRUE(graph::infer_node(part, known)) << part.op;
    ops.push_back(part.op);
  }
  EXPECT_EQ(
      known.tensors.at("out").sizes, (std::vector<std::int64_t>{2, 4, 5, 8}));
  return ops;
}

TEST(AttentionNodes, PlainAttentionIsTwoProductsAndASoftmax) {
  EXPECT_THAT(
      ops_of(attention({}), with_inputs(DType::kFloat32)),
      testing::ElementsAre(
          "aten.mul.Scalar",
          "aten.mul.Scalar",
          "aten.transpose.int",
          "aten.matmul.default",
          "aten.softmax.int",
          "aten.matmul.default"));
}

TEST(AttentionNodes, MasksCausalityAndDropoutHaveTheirNodes) {
  const auto has = [](const char* op) { return testing::Contains(op); };
  const auto causal = ops_of(
      attention({{"is_causal", true, false}}), with_inputs(DType::kFloat32));
  EXPECT_THAT(causal, has("aten.tril.default"));
  EXPECT_THAT(causal, has("aten.sym_size.int"));
  const auto chosen = ops_of(
      attention({{"attn_mask", TensorName{"m"}, false}}),
      with_inputs(DType::kBool));
  EXPECT_THAT(chosen, has("aten.any.dim"));
  const auto added = ops_of(
      attention(
          {{"attn_mask", TensorName{"m"}, false}, {"dropout_p", 0.5, false}}),
      with_inputs(DType::kFloat32));
  EXPECT_THAT(added, has("aten.add.Tensor"));
  EXPECT_THAT(added, has("aten.dropout.default"));
}

} // namespace
} // namespace temper::model

#include "temper/graph/ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "temper/base/error.h"
#include "temper/graph/ir/program.h"

namespace temper::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TensorMeta matrix(std::int64_t rows, std::int64_t columns) {
  TensorMeta meta;
  meta.sizes = {rows, columns};
  meta.strides = {columns, 1};
  return meta;
}

// linear(x, weight), and the number of rows read off.
Program two_nodes() {
  Program program;
  Graph& graph = program.graph;
  graph.inputs = {
      {InputKind::kParameter, "p_fc_weight", "fc.weight"},
      {InputKind::kUser, "x", "x"}};
  Node rows;
  rows.op = "aten.sym_size.int";
  rows.inputs = {{"self", TensorName{"x"}}, {"dim", std::int64_t{0}}};
  rows.outputs = {NumberName{"sym_size"}};
  Node linear;
  linear.op = "aten.linear.default";
  linear.module = "fc";
  linear.source = "net.py:7";
  linear.inputs = {
      {"input", TensorName{"x"}}, {"weight", TensorName{"p_fc_weight"}}};
  linear.outputs = {TensorName{"linear"}};
  graph.nodes = {rows, linear};
  graph.outputs = {{OutputKind::kUser, TensorName{"linear"}, ""}};
  graph.tensors = {
      {"p_fc_weight", matrix(2, 3)},
      {"x", matrix(4, 3)},
      {"linear", matrix(4, 2)}};
  graph.numbers = {{"sym_size", 4}};
  program.weights["fc.weight"] = make_tensor(DType::kFloat32, {2, 3}).data;
  return program;
}

std::string refusal_after(const std::function<void(Program&)>& damage) {
  Program program = two_nodes();
  damage(program);
  try {
    validate(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Graph, ASoundProgramValidates) {
  EXPECT_NO_THROW(validate(two_nodes()));
}

TEST(Graph, ANodeThatReadsWhatIsNotThereIsNamed) {
  const std::string why = refusal_after([](Program& program) {
    program.graph.nodes[1].inputs[0].value = TensorName{"y"};
  });
  EXPECT_THAT(why, HasSubstr("node 1 (aten.linear.default in fc, net.py:7)"));
  EXPECT_THAT(why, HasSubstr("reads y"));
}

TEST(Graph, ACycleIsAValueReadBeforeItIsMade) {
  const std::string why = refusal_after([](Program& program) {
    program.graph.nodes[1].inputs[0].value = TensorName{"linear"};
  });
  EXPECT_THAT(why, HasSubstr("reads linear, which nothing before it makes"));
}

TEST(Graph, UnsoundGraphsAreRefused) {
  const std::vector<std::function<void(Program&)>> damages{
      [](Program& p) { p.graph.nodes[1].outputs = {TensorName{"x"}}; },
      [](Program& p) { p.graph.nodes[1].outputs = {TensorName{""}}; },
      [](Program& p) { p.graph.tensors.erase("linear"); },
      [](Program& p) { p.graph.tensors["x"].strides.pop_back(); },
      [](Program& p) { p.graph.tensors["x"].sizes[0] = -1; },
      [](Program& p) { p.graph.inputs.push_back(p.graph.inputs[0]); },
      [](Program& p) { p.graph.inputs[0].target = ""; },
      [](Program& p) { p.graph.outputs.clear(); },
      [](Program& p) { p.graph.outputs[0].value = TensorName{"z"}; },
      [](Program& p) {
        p.graph.outputs.push_back(
            {OutputKind::kBufferMutation, TensorName{"linear"}, "none"});
      },
      [](Program& p) {
        p.graph.nodes[1].inputs.push_back(p.graph.nodes[1].inputs[0]);
      },
      [](Program& p) {
        p.graph.nodes[1].inputs.push_back(
            {"bias", std::vector<IntOrName>{NumberName{"none"}}});
      },
      [](Program& p) { p.weights.clear(); },
      [](Program& p) {
        p.weights["fc.weight"].sizes = {3, 2};
      },
      [](Program& p) { p.weights["fc.weight"].dtype = DType::kInt32; },
      [](Program& p) { p.weights["fc.weight"].byte_count = 20; },
      [](Program& p) { p.weights["fc.weight"].bytes = nullptr; }};
  for (std::size_t i = 0; i < damages.size(); ++i)
    EXPECT_NE(refusal_after(damages[i]), "accepted") << "damage " << i;
}

TEST(Graph, NamesInArgumentsAreFound) {
  Node node;
  node.inputs = {
      {"a", TensorName{"x"}},
      {"b", TensorNames{{"y"}, {"z"}}},
      {"c", OptionalTensorNames{std::nullopt, TensorName{"w"}}},
      {"d", NumberName{"n"}},
      {"e", std::vector<IntOrName>{std::int64_t{3}, NumberName{"m"}}},
      {"f", std::string("text")}};
  EXPECT_THAT(values_read(node), ElementsAre("x", "y", "z", "w", "n", "m"));
  EXPECT_THAT(tensors_in(node.inputs[4].value), ElementsAre());
  EXPECT_EQ(node.find("d"), &node.inputs[3].value);
  EXPECT_EQ(node.find("g"), nullptr);
}

TEST(Graph, EqualGraphsHaveEqualHashes) {
  EXPECT_EQ(hash_of(two_nodes().graph), hash_of(two_nodes().graph));
  Graph noted = two_nodes().graph;
  noted.nodes[0].metadata["stack_trace"] = "elsewhere";
  noted.nodes[1].source = "net.py:8";
  noted.producer = "another";
  EXPECT_EQ(hash_of(noted), hash_of(two_nodes().graph));
}

TEST(Graph, EveryPartThatMattersChangesTheHash) {
  const std::vector<std::function<void(Graph&)>> changes{
      [](Graph& g) { g.inputs[0].trainable = false; },
      [](Graph& g) { g.inputs[0].persistent = false; },
      [](Graph& g) { g.inputs[1].target = "y"; },
      [](Graph& g) { g.nodes[0].inputs[1].value = std::int64_t{1}; },
      [](Graph& g) { g.nodes[0].inputs[1].value = 0.0; },
      [](Graph& g) { g.nodes[0].inputs[1].value = false; },
      [](Graph& g) { g.nodes[1].op = "aten.matmul.default"; },
      [](Graph& g) { g.nodes[1].recompute_segment = 0; },
      [](Graph& g) { g.tensors["x"].dtype = DType::kFloat64; },
      [](Graph& g) { g.tensors["x"].sizes[0] = 5; },
      [](Graph& g) { g.tensors["x"].sizes[0].expression = "Integer(4)"; },
      [](Graph& g) { g.numbers["sym_size"] = 5; },
      [](Graph& g) {
        g.symbols["s77"] = {2, std::nullopt};
      },
      [](Graph& g) { g.outputs[0].value = TensorName{"x"}; },
      [](Graph& g) { g.calling.argument_names = {"x"}; }};
  const std::uint64_t before = hash_of(two_nodes().graph);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Graph graph = two_nodes().graph;
    changes[i](graph);
    EXPECT_NE(hash_of(graph), before) << "change " << i;
  }
}

TEST(Weights, ElementsAreCountedWithCare) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({2, 0, 4}), 0);
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_THROW(element_count({huge, huge}), Error);
  EXPECT_THROW(element_count({0, -1}), Error);
  EXPECT_THROW(element_count({0, huge, huge}), Error);
}

TEST(Weights, ANewTensorIsZeroAndSharedWithItsCopies) {
  NewTensor made = make_tensor(DType::kInt16, {3});
  EXPECT_EQ(made.data.byte_count, 6U);
  const TensorData copy = made.data;
  EXPECT_EQ(copy.bytes.get()[5], std::byte{0});
  made.bytes[5] = std::byte{9};
  EXPECT_EQ(copy.bytes.get()[5], std::byte{9});
  EXPECT_EQ(make_tensor(DType::kFloat32, {0}).data.bytes, nullptr);
}

} // namespace
} // namespace temper::graph

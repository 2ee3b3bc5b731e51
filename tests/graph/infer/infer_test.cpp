// The shape rules against what PyTorch gave: tests/fixtures/shapes, made by
// reference/shapes.py.
#include "temper/graph/infer/infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "tests/graph/make_node.h"
#include "tests/paths.h"

namespace temper::graph {
namespace {

using nlohmann::json;
using testing::HasSubstr;

DType type_of(const json& name) {
  return *dtype_named(name.get<std::string>());
}

Shape shape_of(const json& pair) {
  return {type_of(pair[0]), pair[1].get<Ints>()};
}

// Puts the tensors into `known` under names of their own.
Argument argument_of(const json& value, Inferred& known) {
  const auto name = [&](const json& pair) {
    TensorName tensor{"in" + std::to_string(known.tensors.size())};
    known.tensors[tensor.name] = shape_of(pair);
    return tensor;
  };
  const auto first = value.begin();
  const std::string& kind = first.key();
  const json& content = first.value();
  if (kind == "tensor") return name(content);
  if (kind == "bool") return content.get<bool>();
  if (kind == "int") return content.get<std::int64_t>();
  if (kind == "float") return content.get<double>();
  if (kind == "text") return content.get<std::string>();
  if (kind == "ints") return content.get<Ints>();
  if (kind == "floats") return content.get<std::vector<double>>();
  if (kind == "dtype") return type_of(content);
  if (kind == "tensors") {
    TensorNames names;
    for (const auto& each : content)
      names.push_back(name(each));
    return names;
  }
  if (kind == "optional") {
    OptionalTensorNames names;
    for (const auto& each : content)
      names.push_back(
          each.is_null() ? std::nullopt : std::optional(name(each)));
    return names;
  }
  return None{};
}

Node node_of(const json& row, Inferred& known) {
  Node node;
  node.op = row["op"];
  for (const auto& pair : row["arguments"])
    node.inputs.push_back({pair[0], argument_of(pair[1], known)});
  const bool refused = row.contains("refused");
  const std::size_t count = refused ? 1 : row["results"].size();
  TensorNames made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back({"out" + std::to_string(i)});
  if (!refused && row["list"].get<bool>())
    node.outputs.emplace_back(made);
  else
    for (const auto& each : made)
      node.outputs.emplace_back(each);
  return node;
}

TEST(Infer, EveryOperatorGivesTheShapesAndTypesThatPyTorchGives) {
  std::ifstream file(tests::fixtures() / "shapes/cases.json");
  const json cases = json::parse(file)["cases"];
  ASSERT_GT(cases.size(), 1000U);
  for (const auto& row : cases) {
    SCOPED_TRACE(row.dump());
    Inferred known;
    const Node node = node_of(row, known);
    if (row.contains("refused")) {
      EXPECT_THROW(infer_node(node, known), Error);
      continue;
    }
    try {
      ASSERT_TRUE(infer_node(node, known)) << "no rule";
    } catch (const Error& error) {
      FAIL() << error.what();
    }
    for (std::size_t i = 0; i < row["results"].size(); ++i)
      EXPECT_EQ(
          known.tensors.at("out" + std::to_string(i)),
          shape_of(row["results"][i]));
  }
}

TEST(Infer, NumbersAreComputedAsPythonDoes) {
  Inferred known;
  known.tensors["x"] = {DType::kFloat32, {7, 3}};
  const Node size = make_node(
      "aten.sym_size.int",
      {{"self", TensorName{"x"}}, {"dim", std::int64_t{0}}},
      {NumberName{"n"}});
  ASSERT_TRUE(infer_node(size, known));
  EXPECT_EQ(known.numbers["n"], 7);
  const auto compute = [&](const std::string& op, std::int64_t other) {
    const Node node = make_node(
        "_operator." + op,
        {{"a", NumberName{"n"}}, {"b", other}},
        {NumberName{"m"}});
    EXPECT_TRUE(infer_node(node, known));
    return known.numbers["m"];
  };
  EXPECT_EQ(compute("add", 2), 9);
  EXPECT_EQ(compute("sub", 9), -2);
  EXPECT_EQ(compute("mul", 49), 343);
  EXPECT_EQ(compute("floordiv", 2), 3);
  EXPECT_EQ(compute("floordiv", -2), -4);
  EXPECT_EQ(compute("mod", -4), -1);
  EXPECT_THROW(compute("floordiv", 0), Error);
  EXPECT_THROW(compute("mul", INT64_MAX), Error);
}

TEST(Infer, SizesMayBeNumbersThatTheGraphComputes) {
  Inferred known;
  known.tensors["x"] = {DType::kFloat32, {6, 8}};
  known.numbers["n"] = 6;
  const Node view = make_node(
      "aten.view.default",
      {{"self", TensorName{"x"}},
       {"size",
        std::vector<IntOrName>{
            NumberName{"n"}, std::int64_t{2}, std::int64_t{-1}}}},
      {TensorName{"y"}});
  ASSERT_TRUE(infer_node(view, known));
  EXPECT_EQ(known.tensors["y"].sizes, (Ints{6, 2, 4}));
}

TEST(Infer, AnOperatorWithoutARuleIsLeftAlone) {
  Inferred known;
  const Node node = make_node("aten.fft_fft.default", {}, {TensorName{"y"}});
  EXPECT_FALSE(infer_node(node, known));
  EXPECT_TRUE(known.tensors.empty());
}

TEST(Infer, AMisfitNamesTheNodeItsModuleAndTheUsersLine) {
  Inferred known;
  known.tensors["x"] = {DType::kFloat32, {8, 5}};
  known.tensors["w"] = {DType::kFloat32, {4, 3}};
  const Node node = make_node(
      "aten.linear.default",
      {{"input", TensorName{"x"}}, {"weight", TensorName{"w"}}},
      {TensorName{"linear_3"}},
      "blocks.0.mlp",
      "net.py:27");
  try {
    infer_node(node, known);
    FAIL() << "it should not fit";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "[graph] linear_3 (linear) in blocks.0.mlp, net.py:27: its weight is "
        "[4, 3], its input [8, 5].");
    EXPECT_THAT(error.hint(), HasSubstr("sizes"));
  }
}

TEST(Infer, SizesThatWouldOverflowAreRefused) {
  Inferred known;
  const std::int64_t huge = std::int64_t{1} << 62;
  known.tensors["x"] = {DType::kFloat32, {huge}};
  const auto refused = [&](Node node) {
    node.outputs = {TensorName{"y"}};
    EXPECT_THROW(infer_node(node, known), Error) << node.op;
  };
  const Argument x = TensorName{"x"};
  refused(make_node(
      "aten.repeat.default", {{"self", x}, {"repeats", Ints{4}}}, {}));
  refused(make_node(
      "aten.cat.default",
      {{"tensors", TensorNames{{"x"}, {"x"}, {"x"}, {"x"}}}},
      {}));
  refused(make_node("aten.zeros.default", {{"size", Ints{huge, huge}}}, {}));
  refused(make_node("aten.zeros.default", {{"size", Ints{-1}}}, {}));
  refused(make_node(
      "aten.constant_pad_nd.default",
      {{"self", x}, {"pad", Ints{huge, huge}}},
      {}));
  refused(make_node("aten.arange.default", {{"end", 1e300}}, {}));
  refused(make_node(
      "aten.stack.default", {{"tensors", TensorNames(9, {"x"})}}, {}));
}

// A graph of one linear layer over a symbolic batch.
Graph small_graph() {
  Graph graph;
  graph.inputs = {
      {InputKind::kParameter, "p_w", "w"}, {InputKind::kUser, "x", "x"}};
  graph.nodes = {
      make_node(
          "aten.linear.default",
          {{"input", TensorName{"x"}}, {"weight", TensorName{"p_w"}}},
          {TensorName{"linear"}}),
      make_node(
          "aten.unknown_to_us.default",
          {{"self", TensorName{"linear"}}},
          {TensorName{"odd"}})};
  graph.outputs = {{OutputKind::kUser, TensorName{"odd"}, ""}};
  const Size batch = linear_size("s77", 8, 1, 0);
  graph.tensors["p_w"].sizes = {4, 3};
  graph.tensors["x"].sizes = {batch, 3};
  graph.tensors["linear"].sizes = {batch, 4};
  graph.tensors["odd"].sizes = {linear_size("s77", 8, 2, 0)};
  graph.symbols["s77"] = {2, 4096};
  return graph;
}

TEST(Infer, ABatchReachesEveryValue) {
  const Graph graph = small_graph();
  EXPECT_EQ(batch_symbol(graph), "s77");
  const Inferred known = infer(graph, bind_batch(graph, 32));
  EXPECT_EQ(known.tensors.at("linear").sizes, (Ints{32, 4}));
  // Without a rule the declared shape counts.
  EXPECT_EQ(known.tensors.at("odd").sizes, (Ints{64}));
  EXPECT_THROW(bind_batch(graph, 0), Error);
}

TEST(Infer, TheFileIsBelievedWhereARuleContradictsIt) {
  Graph graph = small_graph();
  // A rule would refuse 3 columns against a weight of 5, and it is asked only
  // by those who want to know.
  graph.tensors["p_w"].sizes = {4, 5};
  const Symbols symbols = bind_batch(graph, 32);
  EXPECT_EQ(infer(graph, symbols).tensors.at("linear").sizes, (Ints{32, 4}));
  EXPECT_THROW(infer_by_rules(graph, symbols), Error);
}

TEST(Infer, ARuleHelpsWhereTheFileSaysNothing) {
  Graph graph = small_graph();
  graph.tensors["linear"].sizes[0] = linear_size("u0", 8, 1, 0);
  EXPECT_EQ(
      infer(graph, {{"s77", 32}}).tensors.at("linear").sizes, (Ints{32, 4}));
}

TEST(Infer, PReluHasAWeightForEachChannel) {
  Inferred known;
  known.tensors["x"] = {DType::kFloat32, {8, 16, 4, 4}};
  known.tensors["w"] = {DType::kFloat32, {16}};
  const Node node = make_node(
      "aten.prelu.default",
      {{"self", TensorName{"x"}}, {"weight", TensorName{"w"}}},
      {TensorName{"y"}});
  ASSERT_TRUE(infer_node(node, known));
  EXPECT_EQ(known.tensors.at("y").sizes, (Ints{8, 16, 4, 4}));
}

TEST(Infer, ABatchThatIsAMultipleOfASymbolIsSolved) {
  Graph graph = small_graph();
  graph.tensors["x"].sizes[0] = linear_size("s77", 8, 2, 0);
  EXPECT_EQ(bind_batch(graph, 32).at("s77"), 16);
  EXPECT_THROW(bind_batch(graph, 7), Error);
}

TEST(Infer, AFixedBatchBindsNothing) {
  Graph graph = small_graph();
  graph.tensors["x"].sizes[0] = 8;
  EXPECT_EQ(batch_symbol(graph), "");
  EXPECT_EQ(bind_batch(graph, 5).at("s77"), 8); // its example, from "linear"
}

} // namespace
} // namespace temper::graph

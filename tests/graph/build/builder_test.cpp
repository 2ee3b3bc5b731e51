#include "temper/graph/build/builder.h"

#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/strides.h"

namespace temper::graph {
namespace {

std::vector<std::string> names_of(const Graph& graph, InputKind kind) {
  std::vector<std::string> names;
  for (const Input* input : graph.inputs_of(kind))
    names.push_back(input->target);
  return names;
}

std::vector<std::string> arguments_of(const Node& node) {
  std::vector<std::string> names;
  for (const NamedArgument& argument : node.inputs)
    names.push_back(argument.name);
  return names;
}

std::string shape_text(const Graph& graph, const std::string& value) {
  std::vector<std::string> sizes;
  for (const Size& size : graph.meta(value).sizes)
    sizes.push_back(size_text(size));
  return join(sizes, " ");
}

Ints strides_of(const Graph& graph, const std::string& value) {
  Ints strides;
  for (const Size& size : graph.meta(value).strides) {
    EXPECT_TRUE(size.fixed()) << value;
    strides.push_back(size.value);
  }
  return strides;
}

Blueprint small_network() {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {3, 8, 8});
  x = b.conv2d(
      "stem.0", x, {.out = 4, .kernel = 3, .padding = 1, .bias = false});
  x = b.batch_norm("stem.1", x);
  x = b.relu_("stem.2", x);
  x = b.conv2d("next", x, {.out = 6, .kernel = 3, .stride = 2});
  x = b.flatten("", x, 1);
  return b.finish(b.linear("fc", x, {.out = 10}));
}

TEST(Builder, NamesAreThoseTorchExportGives) {
  const Graph graph = small_network().graph;
  std::vector<std::string> made;
  for (const Node& node : graph.nodes)
    for (const std::string& name : values_made(node))
      made.push_back(name);
  EXPECT_EQ(
      made,
      (std::vector<std::string>{
          "conv2d",
          "add_",
          "batch_norm",
          "relu_",
          "conv2d_1",
          "flatten",
          "linear"}));
  EXPECT_EQ(graph.inputs.at(0).value, "p_stem_0_weight");
  EXPECT_EQ(graph.inputs.at(0).target, "stem.0.weight");
  EXPECT_EQ(graph.inputs.back().value, "x");
}

TEST(Builder, InputsComeAsParametersThenBuffersThenTheUsers) {
  const Graph graph = small_network().graph;
  EXPECT_EQ(
      names_of(graph, InputKind::kParameter),
      (std::vector<std::string>{
          "stem.0.weight",
          "stem.1.weight",
          "stem.1.bias",
          "next.weight",
          "next.bias",
          "fc.weight",
          "fc.bias"}));
  EXPECT_EQ(
      names_of(graph, InputKind::kBuffer),
      (std::vector<std::string>{
          "stem.1.running_mean",
          "stem.1.running_var",
          "stem.1.num_batches_tracked"}));
  EXPECT_EQ(graph.inputs.at(6).kind, InputKind::kParameter);
  EXPECT_EQ(graph.inputs.at(7).kind, InputKind::kBuffer);
  EXPECT_EQ(graph.inputs.at(10).kind, InputKind::kUser);
}

TEST(Builder, ArgumentsAtTheEndThatAreTheDefaultAreLeftOut) {
  const Graph graph = small_network().graph;
  EXPECT_EQ(
      arguments_of(graph.nodes.at(0)),
      (std::vector<std::string>{
          "input", "weight", "bias", "stride", "padding"}));
  EXPECT_TRUE(std::holds_alternative<None>(*graph.nodes.at(0).find("bias")));
  EXPECT_EQ(
      arguments_of(graph.nodes.at(4)),
      (std::vector<std::string>{"input", "weight", "bias", "stride"}));
  EXPECT_EQ(graph.nodes.at(4).module, "next");
}

TEST(Builder, SizesAreFormulasOfTheBatch) {
  const Graph graph = small_network().graph;
  EXPECT_EQ(shape_text(graph, "conv2d_1"), "s77 6 3 3");
  EXPECT_EQ(shape_text(graph, "linear"), "s77 10");
  EXPECT_EQ(shape_text(graph, "p_fc_weight"), "10 54");
  EXPECT_EQ(evaluate(graph.meta("linear").sizes.at(0), {{"s77", 32}}), 32);
  EXPECT_EQ(graph.meta("add_").dtype, DType::kInt64);
  EXPECT_EQ(graph.symbols.at("s77").low, 1);
}

TEST(Builder, ABatchFoldedIntoAnotherDimensionIsAMultipleOfIt) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {5, 2});
  x = b.node(
      "",
      "aten.flatten.using_ints",
      {{"self", TensorName{x.name}},
       {"start_dim", std::int64_t{0}},
       {"end_dim", std::int64_t{1}}});
  const Graph graph = b.finish(x).graph;
  const Size folded = graph.meta("flatten").sizes.at(0);
  EXPECT_EQ(evaluate(folded, {{"s77", 7}}), 35);
}

TEST(Builder, ParametersWantGradientsAndValuesDoNotSaySo) {
  const Graph graph = small_network().graph;
  EXPECT_TRUE(graph.meta("p_fc_weight").requires_grad);
  EXPECT_FALSE(graph.meta("b_stem_1_running_mean").requires_grad);
  EXPECT_FALSE(graph.meta("linear").requires_grad);
}

TEST(Builder, TheFormIsTheOneThatTrains) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {4, 2, 2});
  x = b.batch_norm("bn", x);
  const Graph graph = b.finish(b.dropout("drop", x, 0.3)).graph;
  EXPECT_EQ(graph.nodes.at(0).op, "aten.add_.Tensor");
  EXPECT_EQ(*graph.nodes.at(1).find("training"), Argument(true));
  EXPECT_EQ(*graph.nodes.at(2).find("train"), Argument(true));
  EXPECT_EQ(*graph.nodes.at(2).find("p"), Argument(0.3));
}

TEST(Builder, DroppingNothingIsNoNode) {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {4});
  EXPECT_EQ(b.dropout("drop", x, 0).name, "x");
}

TEST(Builder, EveryBlueprintSaysHowEachWeightStarts) {
  const Blueprint net = small_network();
  for (const Input& input : net.graph.inputs)
    EXPECT_EQ(
        net.fills.count(input.target), input.kind == InputKind::kUser ? 0U : 1U)
        << input.target;
  EXPECT_EQ(net.fills.at("stem.1.running_var"), constant(1));
  EXPECT_EQ(net.fills.at("fc.bias"), uniform_fan_in({10, 54}));
}

TEST(Builder, HeadsAreViewsWithPytorchsStrides) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {5, 12});
  x = b.reshape("", x, {5, 3, 2, 2});
  x = b.permute("", x, {2, 0, 3, 1, 4});
  const std::vector<Value> parts = b.unbind("", x);
  x = b.attention("", parts.at(0), parts.at(1), parts.at(2), {.causal = true});
  x = b.transpose("", x, 1, 2);
  const Graph graph = b.finish(b.reshape("", x, {5, 4})).graph;

  EXPECT_EQ(parts.at(2).name, "getitem_2");
  EXPECT_EQ(shape_text(graph, "permute"), "3 s77 2 5 2");
  EXPECT_EQ(strides_of(graph, "permute"), (Ints{4, 60, 2, 12, 1}));
  EXPECT_EQ(strides_of(graph, "getitem_1"), (Ints{60, 2, 12, 1}));
  EXPECT_EQ(
      strides_of(graph, "scaled_dot_product_attention"), (Ints{20, 2, 4, 1}));
  EXPECT_EQ(strides_of(graph, "transpose"), (Ints{20, 4, 2, 1}));
  EXPECT_EQ(strides_of(graph, "reshape_1"), (Ints{20, 4, 1}));
  // The batch is asked once.
  EXPECT_EQ(graph.numbers.size(), 1U);
  EXPECT_EQ(graph.nodes.at(0).op, "aten.sym_size.int");
}

TEST(Builder, OneRowForAllIsNotCopied) {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {4, 6});
  const Value token = b.parameter("token", {1, 1, 6}, constant(0));
  const Value rows = b.expand_batch("", token);
  const Graph graph = b.finish(b.cat("", {rows, x}, 1)).graph;
  EXPECT_EQ(shape_text(graph, rows.name), "s77 1 6");
  EXPECT_EQ(strides_of(graph, rows.name), (Ints{0, 6, 1}));
  EXPECT_EQ(shape_text(graph, "cat"), "s77 5 6");
}

TEST(Builder, LayersThatDoNotFitAreRefusedWhereTheyAreAdded) {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {3, 4, 4});
  EXPECT_THROW(b.conv2d("big", x, {.out = 1, .kernel = 9}), Error);
  EXPECT_THROW(b.conv2d("odd", x, {.out = 4, .kernel = 1, .groups = 2}), Bug);
}

} // namespace
} // namespace temper::graph

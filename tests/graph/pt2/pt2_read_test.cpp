#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "pt2_files.h"
#include "temper/graph/infer/infer.h"
#include "temper/graph/pass/passes.h"
#include "temper/graph/pt2/pt2.h"
#include "tests/graph/float_values.h"

namespace temper::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const Node& node_making(const Graph& graph, const char* value) {
  for (const Node& node : graph.nodes)
    for (const auto& name : values_made(node))
      if (name == value) return node;
  throw std::runtime_error(std::string("nothing makes ") + value);
}

TEST(ReadPt2, EveryFixtureIsReadAndSound) {
  for (const auto& name : pt2_fixtures()) {
    const Program program = read_pt2(pt2_fixture(name));
    EXPECT_FALSE(program.graph.nodes.empty()) << name;
    EXPECT_EQ(program.graph.producer.rfind("PyTorch 2.14", 0), 0U) << name;
  }
}

TEST(ReadPt2, ParametersHaveTheirPythonNamesAndShapes) {
  const auto expected = nlohmann::json::parse(
      bytes_of_file(pt2_fixture("cnn").parent_path() / "expected.json"));
  for (const auto& name : pt2_fixtures()) {
    const Program program = read_pt2(pt2_fixture(name));
    const auto& wanted = expected[name]["parameters"];
    EXPECT_EQ(
        program.graph.inputs_of(InputKind::kParameter).size(), wanted.size());
    for (const auto& [parameter, shape] : wanted.items())
      EXPECT_EQ(
          program.weights.at(parameter).sizes,
          shape.get<std::vector<std::int64_t>>())
          << name << " " << parameter;
  }
}

TEST(ReadPt2, EveryKindOfArgumentArrives) {
  const Program program = read_pt2(pt2_fixture("arguments"));
  const Graph& graph = program.graph;
  const auto argument = [&](const char* value, const char* name) {
    return *node_making(graph, value).find(name);
  };
  EXPECT_EQ(argument("conv2d", "input"), Argument(TensorName{"x"}));
  EXPECT_EQ(argument("conv2d", "stride"), Argument(Ints{1, 1}));
  EXPECT_EQ(
      argument("upsample_bilinear2d", "scale_factors"),
      Argument(std::vector<double>{2.0, 1.5}));
  EXPECT_EQ(argument("upsample_bilinear2d", "output_size"), Argument(None{}));
  EXPECT_EQ(argument("gelu", "approximate"), Argument(std::string("tanh")));
  EXPECT_EQ(argument("clone", "memory_format"), Argument(MemoryFormat{2}));
  EXPECT_EQ(
      argument("index", "indices"),
      Argument(OptionalTensorNames{
          std::nullopt, std::nullopt, TensorName{"b_rows"}}));
  EXPECT_EQ(
      argument("getitem", "output_mask"),
      Argument(std::vector<bool>{true, false, false}));
  EXPECT_EQ(
      argument("zeros", "size"),
      Argument(std::vector<IntOrName>{
          NumberName{"sym_size_int_1"}, std::int64_t{4}}));
  EXPECT_EQ(argument("zeros", "dtype"), Argument(DType::kFloat32));
  EXPECT_EQ(argument("zeros", "layout"), Argument(Layout{7}));
  EXPECT_EQ(argument("zeros", "device"), Argument(Device{}));
  EXPECT_EQ(argument("zeros", "pin_memory"), Argument(false));
  EXPECT_EQ(argument("div", "other"), Argument(27.0));
  EXPECT_EQ(argument("mul_1", "other"), Argument(std::int64_t{2}));
  EXPECT_EQ(
      argument("cat", "tensors"), Argument(TensorNames{{"add_1"}, {"clamp"}}));
  const Node& gelu = node_making(graph, "gelu");
  EXPECT_FALSE(gelu.inputs[0].keyword);
  EXPECT_TRUE(gelu.inputs[1].keyword);
}

TEST(ReadPt2, EveryKindOfResultArrives) {
  const Graph arguments = read_pt2(pt2_fixture("arguments")).graph;
  EXPECT_EQ(
      node_making(arguments, "getitem").outputs,
      (std::vector<Result>{TensorName{"getitem"}, None{}, None{}}));
  const Graph lists = read_pt2(pt2_fixture("lists")).graph;
  EXPECT_EQ(
      node_making(lists, "getitem").outputs,
      (std::vector<Result>{
          TensorNames{{"getitem"}, {"getitem_1"}, {"getitem_2"}}}));
  const Graph sizes = read_pt2(pt2_fixture("sizes")).graph;
  EXPECT_EQ(
      node_making(sizes, "truediv").outputs,
      (std::vector<Result>{NumberName{"truediv", NumberKind::kFloat}}));
  EXPECT_EQ(node_making(sizes, "mul").op, "_operator.mul");
}

TEST(ReadPt2, SymbolicSizesKeepTheirExpressionsAndRanges) {
  const Graph graph = read_pt2(pt2_fixture("sizes")).graph;
  const Sizes& input = graph.meta("x").sizes;
  EXPECT_EQ(input[0].value, 4);
  EXPECT_EQ(evaluate(input[0], {{"s77", 9}}), 9);
  EXPECT_EQ(evaluate(graph.numbers.at("add_2"), {{"s27", 5}}), 13);
  EXPECT_EQ(graph.symbols.at("s27").low, 4);
  EXPECT_EQ(graph.symbols.at("s27").high, 10);
  EXPECT_TRUE(input[2].fixed());
}

TEST(ReadPt2, NodesKnowTheirModuleAndTheUsersLine) {
  const Graph graph = read_pt2(pt2_fixture("cnn")).graph;
  const Node& conv = node_making(graph, "conv2d");
  EXPECT_EQ(conv.op, "aten.conv2d.default");
  EXPECT_EQ(conv.module, "conv");
  EXPECT_EQ(conv.source, "pt2_nets.py:22");
  const Node& pool = node_making(graph, "adaptive_avg_pool2d");
  EXPECT_EQ(pool.module, "");
  EXPECT_EQ(pool.source, "pt2_nets.py:23");
}

TEST(ReadPt2, TiedWeightsShareTheirBytes) {
  const Program program = read_pt2(pt2_fixture("tied"));
  const auto bytes = [&](const char* name) {
    return program.weights.at(name).bytes.get();
  };
  EXPECT_EQ(bytes("embed.weight"), bytes("head.weight"));
  EXPECT_NE(bytes("unused.weight"), bytes("head.weight"));
  EXPECT_NE(bytes("low"), bytes("high"));
}

TEST(ReadPt2, StridedAndOffsetValuesAreLaidOutInOrder) {
  const Program program = read_pt2(pt2_fixture("tied"));
  const auto turned = floats(program.weights.at("turned"));
  ASSERT_EQ(turned.size(), 12U);
  // Python made it as the transpose of 0, 1, 2, ... in three rows of four.
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      EXPECT_FLOAT_EQ(
          turned[row * 3 + column], static_cast<float>(column * 4 + row) / 12);
  const TensorMeta& meta = program.graph.meta("p_turned");
  EXPECT_EQ(meta.strides, (Sizes{3, 1}));
  const auto low = floats(program.weights.at("low"));
  const auto high = floats(program.weights.at("high"));
  EXPECT_FLOAT_EQ(low[0], -1.0F);
  EXPECT_FLOAT_EQ(high[3], 1.0F);
  EXPECT_NEAR(high[0], 1.0 / 7, 1e-6);
}

TEST(ReadPt2, FrozenParametersAndPassingBuffersAreKnown) {
  const Graph graph = read_pt2(pt2_fixture("tied")).graph;
  EXPECT_FALSE(graph.find_target("frozen")->trainable);
  EXPECT_TRUE(graph.find_target("turned")->trainable);
  EXPECT_FALSE(graph.find_target("scale")->persistent);
  EXPECT_TRUE(graph.find_target("low")->persistent);
  EXPECT_EQ(graph.find_target("lifted_tensor_0")->kind, InputKind::kConstant);
}

TEST(ReadPt2, ValuesOfEveryTypeAreRead) {
  const Program program = read_pt2(pt2_fixture("buffers"));
  std::set<DType> types;
  for (const auto& [name, data] : program.weights)
    types.insert(data.dtype);
  EXPECT_EQ(types.size(), 10U);
  EXPECT_EQ(program.weights.at("empty").byte_count, 0U);
  EXPECT_EQ(
      program.weights.at("empty").sizes, (std::vector<std::int64_t>{0, 3}));
}

TEST(ReadPt2, BufferMutationsAreOutputsOfAFunctionalGraph) {
  const Graph graph = read_pt2(pt2_fixture("functional")).graph;
  std::vector<std::string> changed;
  for (const Output& output : graph.outputs)
    if (output.kind == OutputKind::kBufferMutation)
      changed.push_back(output.target);
  EXPECT_THAT(changed, ElementsAre("steps", "seen"));
}

TEST(ReadPt2, InputsAndResultsKeepPythonsCallingConvention) {
  const Graph graph = read_pt2(pt2_fixture("two_inputs")).graph;
  EXPECT_EQ(graph.inputs_of(InputKind::kUser).size(), 2U);
  EXPECT_THAT(graph.calling.argument_names, ElementsAre("x", "kind"));
  EXPECT_THAT(graph.calling.in_spec, HasSubstr("kind"));
  EXPECT_THAT(graph.calling.out_spec, HasSubstr("logits"));
}

TEST(ReadPt2, WhatIsRefusedHasItsPlaceAndAdviceOfItsOwn) {
  const auto branch = refusal([] { read_pt2(pt2_fixture("branch")); });
  EXPECT_THAT(branch, HasSubstr("higher_order.cond"));
  EXPECT_THAT(branch, HasSubstr("pt2_nets.py:"));
  EXPECT_THAT(branch, HasSubstr("torch.where"));
  const auto loop = refusal([] { read_pt2(pt2_fixture("loop")); });
  EXPECT_THAT(loop, HasSubstr("higher_order.while_loop"));
  EXPECT_THAT(loop, HasSubstr("fixed number of steps"));
  const auto waves = refusal([] { read_pt2(pt2_fixture("waves")); });
  EXPECT_THAT(waves, HasSubstr("aten.fft_fft.default"));
  EXPECT_THAT(waves, HasSubstr("complex numbers"));
  EXPECT_THAT(waves, HasSubstr("real numbers"));
  EXPECT_THAT(waves, Not(HasSubstr("Export the model again")));
}

TEST(ReadPt2, BodiesThatRunOnceAreOrdinaryNodes) {
  for (const char* name : {"no_grad", "autocast"}) {
    const Graph graph = read_pt2(pt2_fixture(name)).graph;
    for (const Node& node : graph.nodes)
      EXPECT_THAT(node.op, Not(HasSubstr("higher_order"))) << name;
    validate(graph);
  }
}

TEST(ReadPt2, NothingWithoutAGradientReadsAValueThatHasOne) {
  const Graph graph = read_pt2(pt2_fixture("no_grad")).graph;
  std::map<std::string, std::string> read_by;
  for (const Node& node : graph.nodes)
    for (const std::string& value : values_read(node))
      read_by[value] += node.op + " ";
  // The norm of the head's weight is taken of a detached copy.
  EXPECT_THAT(read_by.at("p_head_weight"), HasSubstr("aten.detach.default"));
  EXPECT_THAT(read_by.at("p_head_weight"), Not(HasSubstr("norm")));
  EXPECT_THAT(read_by.at("b_seen"), HasSubstr("mul_"));
}

TEST(ReadPt2, AutocastIsSpelledOutAsCasts) {
  const Graph graph = read_pt2(pt2_fixture("autocast")).graph;
  for (const Node& node : graph.nodes) {
    if (node.op != "aten.conv2d.default" && node.op != "aten.linear.default")
      continue;
    const DType result =
        graph.meta(std::get<TensorName>(node.outputs.at(0)).name).dtype;
    for (const NamedArgument& each : node.inputs)
      for (const std::string& name : tensors_in(each.value))
        EXPECT_EQ(graph.meta(name).dtype, result) << node.op << " " << name;
  }
}

TEST(ReadPt2, AFixedBatchIsExplained) {
  const auto advice =
      fixed_batch_advice(read_pt2(pt2_fixture("cnn_fixed_batch")).graph);
  ASSERT_TRUE(advice.has_value());
  EXPECT_THAT(*advice, HasSubstr("exactly 4"));
  EXPECT_THAT(*advice, HasSubstr("dynamic_shapes"));
  EXPECT_EQ(
      fixed_batch_advice(read_pt2(pt2_fixture("cnn")).graph), std::nullopt);
  EXPECT_EQ(fixed_batch_advice(Graph{}), std::nullopt);
}

TEST(FreeBatch, WhatDoesNotDependOnTheBatchTakesAny) {
  const auto freed = free_batch(read_pt2(pt2_fixture("cnn_fixed_batch")));
  ASSERT_TRUE(freed.has_value());
  validate(*freed);
  EXPECT_EQ(fixed_batch(freed->graph), 0);
  EXPECT_EQ(fixed_batch_advice(freed->graph), std::nullopt);
  const Symbols symbols = bind_batch(freed->graph, 7);
  EXPECT_EQ(
      infer(freed->graph, symbols).tensors,
      infer_by_rules(freed->graph, symbols).tensors);
}

TEST(FreeBatch, WhatHasTheBatchInItsGraphKeepsIt) {
  const Program program = read_pt2(pt2_fixture("hard_batch"));
  EXPECT_EQ(fixed_batch(program.graph), 4);
  EXPECT_FALSE(free_batch(program).has_value());
  // A batch that is a symbol is free already.
  EXPECT_FALSE(free_batch(read_pt2(pt2_fixture("cnn"))).has_value());
}

// A view of its first size, a number made of it, a tensor of as many rows: one
// of them is enough.
TEST(FreeBatch, EveryUseOfTheNumberKeepsIt) {
  const Program plain = read_pt2(pt2_fixture("cnn_fixed_batch"));
  const auto with = [&](const char* op, std::vector<NamedArgument> more) {
    Program program = plain;
    const std::string last = tensors_in(program.graph.outputs.back().value)[0];
    Node node;
    node.op = op;
    node.inputs = {{"self", TensorName{last}, false}};
    node.inputs.insert(node.inputs.end(), more.begin(), more.end());
    node.outputs = {TensorName{"extra"}};
    program.graph.tensors["extra"] = program.graph.meta(last);
    program.graph.nodes.push_back(node);
    program.graph.outputs.back().value = TensorName{"extra"};
    return free_batch(program).has_value();
  };
  EXPECT_TRUE(with("aten.mul.Tensor", {{"other", 7.0}}));
  EXPECT_TRUE(with("aten.view.default", {{"size", Ints{-1, 3}}}));
  EXPECT_FALSE(with("aten.view.default", {{"size", Ints{4, 3}}}));
  EXPECT_FALSE(with("aten.mul.Tensor", {{"other", 0.25}}));
  EXPECT_FALSE(with("aten.div.Tensor", {{"other", std::int64_t{4}}}));
  EXPECT_FALSE(with("aten.expand.default", {{"size", Ints{4, 3}}}));
}

TEST(ReadPt2, TheSharedNetworksAreRead) {
  if (!std::filesystem::exists(shared_pt2()))
    GTEST_SKIP() << "the shared .pt2 files are not here";
  const auto expected =
      nlohmann::json::parse(bytes_of_file(shared_pt2() / "expected.json"));
  for (const auto& [name, about] : expected.items()) {
    const Program program = read_pt2(shared_pt2() / (name + ".pt2"));
    EXPECT_EQ(
        program.graph.inputs_of(InputKind::kParameter).size(),
        about["grad_norms_step0"].size())
        << name;
    EXPECT_EQ(fixed_batch_advice(program.graph), std::nullopt) << name;
  }
}

} // namespace
} // namespace temper::graph

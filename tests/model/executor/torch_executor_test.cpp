// The executor on small graphs: what it refuses and how it says so, numbers,
// hooks, kernels handed in, what older LibTorch lacks.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_graph.h"
#include "temper/base/error.h"
#include "temper/model/executor/executor.h"
#include "temper/model/executor/executor_steps.h"

namespace temper::model {
namespace {

using graph::IntOrName;
using graph::Ints;
using graph::NumberName;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t kTwo = 2;

SmallGraph linear() {
  at::manual_seed(1);
  SmallGraph graph;
  graph.input("x", {-1, 3, 4, 4})
      .parameter("w", at::randn({5, 4}))
      .in_module("head")
      .node(
          "aten.linear.default",
          "y",
          {{"input", tensor("x")}, {"weight", tensor("w")}});
  return graph;
}

// What forward says about these inputs: message, then hint.
std::string input_refusal(
    GraphModule& module,
    const std::vector<at::Tensor>& inputs) {
  try {
    module.forward(inputs);
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "taken";
}

std::string input_refusal(const graph::Program& program) {
  try {
    const GraphModule module(program);
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "taken";
}

TEST(Inputs, OfAnotherKindAreRefusedInOneSentence) {
  GraphModule module(linear().finish());
  const std::string expected =
      "input x is expected as float32 [batch, 3, 4, 4], given as ";
  EXPECT_THAT(
      input_refusal(module, {at::zeros({2, 3, 4, 4}, at::kDouble)}),
      AllOf(
          HasSubstr(expected + "float64 [2, 3, 4, 4]."),
          HasSubstr("to(torch.float32)")));
  EXPECT_THAT(
      input_refusal(module, {at::zeros({2, 1, 4, 4})}),
      HasSubstr(expected + "float32 [2, 1, 4, 4]."));
  EXPECT_THAT(
      input_refusal(module, {at::zeros({2, 4, 4, 3})}),
      AllOf(HasSubstr(expected), HasSubstr("permute(0, 3, 1, 2)")));
  EXPECT_THAT(
      input_refusal(module, {at::zeros({3, 4, 4})}),
      AllOf(HasSubstr(expected), HasSubstr("unsqueeze(0)")));
  EXPECT_THAT(
      input_refusal(module, {at::zeros({65, 3, 4, 4})}),
      HasSubstr("outside the sizes it was exported for (2 to 64)"));
  EXPECT_THAT(
      input_refusal(module, {}), HasSubstr("the model takes 1 input, given 0"));
  EXPECT_EQ(input_refusal(module, {at::zeros({1, 3, 4, 4})}), "taken");
}

TEST(Inputs, OfAnotherBatchThanAFixedOneAreExplained) {
  SmallGraph graph;
  graph.input("x", {4, 3})
      .node("aten.relu.default", "y", {{"self", tensor("x")}});
  GraphModule module(graph.finish());
  EXPECT_THAT(
      input_refusal(module, {at::zeros({5, 3})}),
      AllOf(
          HasSubstr("float32 [4, 3], given as float32 [5, 3]"),
          HasSubstr("dynamic_shapes")));
}

TEST(Inputs, ThatShareASizeMustAgree) {
  SmallGraph graph;
  graph.input("x", {-1, 3})
      .input("z", {-1, 3})
      .node(
          "aten.add.Tensor",
          "y",
          {{"self", tensor("x")}, {"other", tensor("z")}});
  GraphModule module(graph.finish());
  EXPECT_THAT(
      input_refusal(module, {at::zeros({4, 3}), at::zeros({5, 3})}),
      HasSubstr("input z is expected as float32 [batch, 3], given as float32 "
                "[5, 3], but batch was 4 before"));
}

TEST(Operators, ThatFailNameModuleLineAndShapes) {
  SmallGraph graph = linear();
  graph.in_module("tail").node(
      "aten.view.default", "z", {{"self", tensor("y")}, {"size", Ints{7, 7}}});
  GraphModule module(graph.finish());
  EXPECT_THAT(
      input_refusal(module, {at::zeros({2, 3, 4, 4})}),
      AllOf(
          HasSubstr("aten.view.default of tail (net.py:7) failed on float32 "
                    "[2, 3, 4, 5]: "),
          HasSubstr("is invalid for input of size 120")));
}

TEST(Operators, ThatKnowNoFloat16SayWhatToExport) {
  SmallGraph graph;
  graph.input("x", {-1, 3})
      .node(
          "aten.to.dtype",
          "h",
          {{"self", tensor("x")}, {"dtype", graph::DType::kFloat16}})
      .node(
          "aten.linear.default",
          "y",
          {{"input", tensor("h")}, {"weight", tensor("h")}});
  GraphModule module(graph.finish());
  const std::string said = input_refusal(module, {at::zeros({2, 3})});
  if (said == "taken") GTEST_SKIP() << "this LibTorch multiplies float16";
  EXPECT_THAT(said, HasSubstr("torch.bfloat16"));
}

TEST(Operators, ThatLackMemoryKeepTheirTypeAndText) {
  SmallGraph huge;
  huge.input("x", {-1})
      .node(
          "aten.expand.default",
          "e",
          {{"self", tensor("x")}, {"size", Ints{1LL << 40, -1}}})
      .node(
          "aten.clone.default",
          "y",
          {{"self", tensor("e")}, {"memory_format", graph::MemoryFormat{1}}});
  GraphModule module(huge.finish());
  try {
    module.forward({at::zeros({16})});
    ADD_FAILURE() << "there is no such machine";
  } catch (const c10::Error& error) {
    EXPECT_THAT(
        error.what(),
        AllOf(HasSubstr("memory"), HasSubstr("aten.clone.default of block")));
  }
}

TEST(Operators, ThrownByHooksAndKernelsPassThrough) {
  struct Interrupted {};
  GraphModule module(linear().finish());
  NodeHooks hooks;
  hooks.before = [](const NodeEvent&) { throw Interrupted(); };
  module.set_hooks(hooks);
  EXPECT_THROW(module.forward({at::zeros({2, 3, 4, 4})}), Interrupted);
  hooks.before = [](const NodeEvent&) { throw std::runtime_error("mine"); };
  module.set_hooks(hooks);
  EXPECT_THROW(module.forward({at::zeros({2, 3, 4, 4})}), std::runtime_error);
}

TEST(Operators, ThatThisLibtorchLacksAreRefusedBeforeAnythingRuns) {
  SmallGraph graph = linear();
  graph.node("aten.from_the_future.default", "z", {{"self", tensor("y")}});
  EXPECT_THAT(
      input_refusal(graph.finish()),
      AllOf(
          HasSubstr("aten.from_the_future.default of head (net.py:7) cannot "
                    "run: LibTorch "),
          HasSubstr("newer")));
  SmallGraph foreign = linear();
  foreign.node("mylib.magic.default", "z", {{"self", tensor("y")}});
  EXPECT_THAT(input_refusal(foreign.finish()), HasSubstr("extension"));
}

TEST(Operators, WithArgumentsThatThisLibtorchLacksAreRefused) {
  SmallGraph graph = linear();
  graph.node(
      "aten.relu.default", "z", {{"self", tensor("y")}, {"steepness", kTwo}});
  graph.edit().graph.nodes.back().op = "aten.celu.default";
  EXPECT_THAT(
      input_refusal(graph.finish()),
      HasSubstr("aten.celu.default of head (net.py:7): argument steepness is "
                "unknown to this LibTorch"));
}

// One number from the batch n = 6, as the sum of ones of that many.
double computed(const std::string& op, const SmallGraph::Arguments& arguments) {
  SmallGraph graph;
  graph.input("x", {-1})
      .number(
          "aten.sym_size.int",
          "n",
          {{"self", tensor("x")}, {"dim", std::int64_t{0}}})
      .number(op, "m", arguments)
      .node(
          "aten.full.default",
          "y",
          {{"size", Ints{}},
           {"fill_value", NumberName{"m"}},
           {"dtype", graph::DType::kFloat64}});
  return GraphModule(graph.finish()).forward({at::zeros({6})}).item<double>();
}

TEST(Numbers, AreComputedAsPythonDoes) {
  const NumberName n{"n"};
  const auto minus_four = std::int64_t{-4};
  const std::vector<std::pair<const char*, double>> with_minus_four{
      {"_operator.add", 2},
      {"_operator.sub", 10},
      {"_operator.mul", -24},
      {"_operator.floordiv", -2},
      {"_operator.mod", -2},
      {"_operator.truediv", -1.5},
      {"_operator.lt", 0},
      {"_operator.ge", 1},
      {"_operator.eq", 0},
      {"_operator.ne", 1},
      {"torch.sym_max", 6},
      {"torch.sym_min", -4},
  };
  for (const auto& [op, result] : with_minus_four)
    EXPECT_EQ(computed(op, {{"a", n}, {"b", minus_four}}), result) << op;
  EXPECT_EQ(computed("_operator.pow", {{"a", n}, {"b", kTwo}}), 36);
  EXPECT_EQ(computed("_operator.neg", {{"a", n}}), -6);
  EXPECT_EQ(computed("torch.sym_float", {{"a", n}}), 6);
  EXPECT_EQ(computed("math.ceil", {{"a", 2.5}}), 3);
  EXPECT_EQ(computed("math.trunc", {{"a", -2.5}}), -2);
  EXPECT_THROW(
      computed("_operator.floordiv", {{"a", n}, {"b", std::int64_t{0}}}),
      Error);
  EXPECT_THROW(
      computed("_operator.mul", {{"a", n}, {"b", std::int64_t{1} << 62}}),
      Error);
}

TEST(Numbers, StandInSizesAndForTensors) {
  SmallGraph graph;
  graph.input("x", {-1, 4})
      .number(
          "aten.sym_size.int",
          "n",
          {{"self", tensor("x")}, {"dim", std::int64_t{0}}})
      .node(
          "aten.view.default",
          "v",
          {{"self", tensor("x")},
           {"size",
            std::vector<IntOrName>{
                NumberName{"n"}, std::int64_t{2}, std::int64_t{2}}}})
      // Through the dispatcher, and as a wrapped number: float32 stays.
      .node(
          "aten.true_divide.Tensor",
          "y",
          {{"self", tensor("v")}, {"other", NumberName{"n"}}});
  const at::Tensor y = GraphModule(graph.finish()).forward({at::ones({5, 4})});
  EXPECT_EQ(y.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::allclose(y, at::full({5, 2, 2}, 0.2)));
}

TEST(Numbers, ThatAnExportAssertsAreLookedAt) {
  SmallGraph graph;
  graph.input("x", {-1})
      .number(
          "aten.sym_size.int",
          "n",
          {{"self", tensor("x")}, {"dim", std::int64_t{0}}})
      .number("_operator.le", "few", {{"a", NumberName{"n"}}, {"b", kTwo}})
      .node(
          "aten._assert_scalar.default",
          "none",
          {{"self", NumberName{"few"}},
           {"assert_msg", std::string("too many rows")}});
  graph.edit().graph.nodes.back().outputs.clear();
  graph.edit().graph.tensors.erase("none");
  graph.node("aten.relu.default", "y", {{"self", tensor("x")}});
  GraphModule module(graph.finish());
  EXPECT_EQ(input_refusal(module, {at::zeros({2})}), "taken");
  EXPECT_THAT(
      input_refusal(module, {at::zeros({3})}), HasSubstr("too many rows"));
}

TEST(Index, TakesListsWithHoles) {
  SmallGraph graph;
  graph.input("x", {-1, 3})
      .buffer("rows", at::tensor({2, 0}, at::kLong))
      .node(
          "aten.index.Tensor",
          "y",
          {{"self", tensor("x")},
           {"indices",
            graph::OptionalTensorNames{
                std::nullopt, graph::TensorName{"rows"}}}});
  const at::Tensor x = at::randn({2, 3});
  const at::Tensor y = GraphModule(graph.finish()).forward({x});
  EXPECT_TRUE(at::equal(y, x.index_select(1, at::tensor({2, 0}, at::kLong))));
}

TEST(Hooks, SeeEveryNodeWithItsResults) {
  SmallGraph graph = linear();
  graph.node("aten.relu.default", "z", {{"self", tensor("y")}});
  GraphModule module(graph.finish());
  std::vector<std::string> seen;
  NodeHooks hooks;
  hooks.before = [&](const NodeEvent& event) {
    seen.push_back("before " + event.node.op);
  };
  hooks.after = [&](const NodeEvent& event,
                    const std::vector<at::Tensor>& results) {
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(&event.node, &module.graph()->nodes[event.index]);
    seen.push_back("after " + tensor_text(results[0]));
  };
  module.set_hooks(hooks);
  module.forward({at::zeros({2, 3, 4, 4})});
  const std::vector<std::string> expected{
      "before aten.linear.default",
      "after float32 [2, 3, 4, 5]",
      "before aten.relu.default",
      "after float32 [2, 3, 4, 5]"};
  EXPECT_EQ(seen, expected);
  module.set_hooks({});
  module.forward({at::zeros({2, 3, 4, 4})});
  EXPECT_EQ(seen.size(), 4U);
}

TEST(Values, AreLetGoAtTheirLastUse) {
  SmallGraph graph = linear();
  graph.node("aten.relu.default", "z", {{"self", tensor("y")}})
      .node("aten.tanh.default", "t", {{"self", tensor("z")}});
  GraphModule module(graph.finish());
  c10::weak_intrusive_ptr<c10::TensorImpl> first(
      c10::intrusive_ptr<c10::TensorImpl>{});
  NodeHooks hooks;
  hooks.after = [&](const NodeEvent& event,
                    const std::vector<at::Tensor>& results) {
    if (event.index == 0)
      first = c10::weak_intrusive_ptr<c10::TensorImpl>(
          results[0].getIntrusivePtr());
  };
  hooks.before = [&](const NodeEvent& event) {
    if (event.index == 0) return;
    EXPECT_EQ(first.expired(), event.index == 2);
  };
  module.set_hooks(hooks);
  const at::NoGradGuard no_grad;
  module.forward({at::zeros({2, 3, 4, 4})});
}

TEST(Kernels, HandedInRunInstead) {
  SmallGraph graph = linear();
  graph.node(
      "temper.scaled_relu.default",
      "z",
      {{"self", tensor("y")}, {"scale", 3.0}});
  ExecutorOptions options;
  options.kernels["temper.scaled_relu.default"] =
      [](Arguments& a) -> model::NodeCall {
    return [x = a.tensor("self"), scale = a.number("scale"), y = a.output()](
               Frame& f) {
      at_slot(f, y) = at::relu(at_slot(f, x)) * scale.get(f);
    };
  };
  GraphModule module(graph.finish(), options);
  GraphModule plain(linear().finish());
  const at::Tensor x = at::randn({2, 3, 4, 4});
  EXPECT_TRUE(
      at::equal(module.forward({x}), at::relu(plain.forward({x})) * 3.0));
  EXPECT_THAT(
      input_refusal(graph.finish()), HasSubstr("temper.scaled_relu.default"));
}

TEST(Outputs, OfFunctionalGraphsMoveBuffers) {
  SmallGraph graph;
  graph.input("x", {-1})
      .buffer("count", at::zeros({1}))
      .node(
          "aten.add.Tensor",
          "more",
          {{"self", tensor("count")}, {"other", 1.0}})
      .node("aten.relu.default", "y", {{"self", tensor("x")}});
  graph.edit().graph.outputs = {
      {graph::OutputKind::kBufferMutation, tensor("more"), "count"},
      {graph::OutputKind::kUser, tensor("y"), ""}};
  GraphModule module(graph.finish());
  module.forward({at::ones({2})});
  EXPECT_EQ(module.forward({at::ones({2})}).size(0), 2);
  EXPECT_EQ(module.tensor("count").item<double>(), 2);
}

TEST(Program, ComesBackWithTheWeightsAsTheyAre) {
  GraphModule module(linear().finish());
  {
    const at::NoGradGuard no_grad;
    module.tensor("w").fill_(2);
  }
  GraphModule again(module.program());
  EXPECT_TRUE(at::equal(again.tensor("w"), at::full({5, 4}, 2.0)));
  EXPECT_THROW(module.tensor("v"), Error);
  EXPECT_THROW(module.to(at::kLong), Error);
}

} // namespace
} // namespace temper::model

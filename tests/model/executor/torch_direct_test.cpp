// Every operator that is called directly against the same call through the
// boxed dispatcher: results and gradients, bit for bit.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "small_graph.h"
#include "temper/model/executor/executor.h"
#include "temper/model/executor/executor_steps.h"

namespace temper::model {
namespace {

using Given = SmallGraph::Arguments;
using graph::Argument;
using graph::Ints;
using graph::TensorNames;

struct Case {
  std::string op;
  std::vector<std::int64_t> x; // sizes of the input
  Given arguments;
};

const Argument kX = tensor("y"); // a value, not the leaf itself

std::vector<Case> cases() {
  const Argument weight4 = tensor("w4");
  const Argument half = 0.5;
  const Argument one = std::int64_t{1};
  const Argument two = std::int64_t{2};
  const Argument pair = Ints{2, 2};
  return {
      {"aten.adaptive_avg_pool2d.default",
       {3, 4, 6, 6},
       {{"self", kX}, {"output_size", Ints{1, 2}}}},
      {"aten.add.Tensor", {3, 4}, {{"self", kX}, {"other", weight4}}},
      {"aten.add.Tensor",
       {3, 4},
       {{"self", kX}, {"other", std::int64_t{3}}, {"alpha", two}}},
      {"aten.add_.Tensor", {3, 4}, {{"self", kX}, {"other", weight4}}},
      {"aten.avg_pool2d.default",
       {3, 4, 6, 6},
       {{"self", kX}, {"kernel_size", Ints{3, 3}}, {"padding", Ints{1, 1}}}},
      {"aten.avg_pool2d.default",
       {3, 4, 6, 6},
       {{"self", kX}, {"kernel_size", pair}, {"divisor_override", two}}},
      {"aten.batch_norm.default",
       {3, 4, 6, 6},
       {{"input", kX},
        {"weight", weight4},
        {"bias", tensor("b4")},
        {"running_mean", tensor("mean")},
        {"running_var", tensor("var")},
        {"training", true},
        {"momentum", 0.1},
        {"eps", 1e-5},
        {"cudnn_enabled", true}}},
      {"aten.bmm.default", {2, 3, 4}, {{"self", kX}, {"mat2", tensor("w245")}}},
      {"aten.cat.default",
       {3, 4},
       {{"tensors", TensorNames{{"y"}, {"y"}}}, {"dim", one}}},
      {"aten.chunk.default",
       {3, 4},
       {{"self", kX}, {"chunks", two}, {"dim", one}}},
      {"aten.conv2d.default",
       {3, 4, 6, 6},
       {{"input", kX},
        {"weight", tensor("conv")},
        {"bias", weight4},
        {"stride", pair},
        {"padding", Ints{1, 1}},
        {"groups", two}}},
      {"aten.conv2d.default",
       {3, 4, 6, 6},
       {{"input", kX}, {"weight", tensor("conv")}, {"groups", two}}},
      {"aten.div.Tensor", {3, 4}, {{"self", kX}, {"other", weight4}}},
      {"aten.dropout.default",
       {3, 4},
       {{"input", kX}, {"p", half}, {"train", true}}},
      {"aten.embedding.default",
       {3, 4},
       {{"weight", kX}, {"indices", tensor("ids")}, {"padding_idx", one}}},
      {"aten.expand.default",
       {3, 1, 4},
       {{"self", kX}, {"size", Ints{-1, 5, -1}}}},
      {"aten.flatten.using_ints",
       {3, 4, 6, 6},
       {{"self", kX}, {"start_dim", one}}},
      {"aten.gelu.default",
       {3, 4},
       {{"self", kX}, {"approximate", std::string("tanh")}}},
      {"aten.gelu.default", {3, 4}, {{"self", kX}}},
      {"aten.hardswish.default", {3, 4}, {{"self", kX}}},
      {"aten.hardswish_.default", {3, 4}, {{"self", kX}}},
      {"aten.hardtanh.default",
       {3, 4},
       {{"self", kX}, {"min_val", 0.0}, {"max_val", 6.0}}},
      {"aten.hardtanh_.default", {3, 4}, {{"self", kX}, {"max_val", half}}},
      {"aten.layer_norm.default",
       {3, 4},
       {{"input", kX},
        {"normalized_shape", Ints{4}},
        {"weight", weight4},
        {"bias", tensor("b4")}}},
      {"aten.linear.default",
       {3, 4},
       {{"input", kX}, {"weight", tensor("w54")}}},
      {"aten.log_softmax.int", {3, 4}, {{"self", kX}, {"dim", one}}},
      {"aten.matmul.default",
       {2, 3, 4},
       {{"self", kX}, {"other", tensor("w245")}}},
      {"aten.max_pool2d.default",
       {3, 4, 6, 6},
       {{"self", kX}, {"kernel_size", pair}, {"ceil_mode", true}}},
      {"aten.mean.dim",
       {3, 4, 6, 6},
       {{"self", kX}, {"dim", Ints{2, 3}}, {"keepdim", true}}},
      {"aten.mean.dim",
       {3, 4},
       {{"self", kX}, {"dim", Ints{1}}, {"dtype", graph::DType::kFloat64}}},
      {"aten.mul.Tensor", {3, 4}, {{"self", kX}, {"other", half}}},
      {"aten.permute.default",
       {2, 3, 4},
       {{"self", kX}, {"dims", Ints{2, 0, 1}}}},
      {"aten.relu.default", {3, 4}, {{"self", kX}}},
      {"aten.relu_.default", {3, 4}, {{"self", kX}}},
      {"aten.reshape.default", {3, 4}, {{"self", kX}, {"shape", Ints{2, 6}}}},
      {"aten.select.int", {3, 4}, {{"self", kX}, {"dim", one}, {"index", two}}},
      {"aten.sigmoid.default", {3, 4}, {{"self", kX}}},
      {"aten.silu.default", {3, 4}, {{"self", kX}}},
      {"aten.silu_.default", {3, 4}, {{"self", kX}}},
      {"aten.softmax.int", {3, 4}, {{"self", kX}, {"dim", one}}},
      {"aten.sub.Tensor", {3, 4}, {{"self", kX}, {"other", weight4}}},
      {"aten.tanh.default", {3, 4}, {{"self", kX}}},
      {"aten.transpose.int",
       {2, 3, 4},
       {{"self", kX}, {"dim0", one}, {"dim1", two}}},
      {"aten.unsqueeze.default", {3, 4}, {{"self", kX}, {"dim", one}}},
      {"aten.view.default", {3, 4}, {{"self", kX}, {"size", Ints{-1}}}},
  };
}

graph::Program program_of(const Case& asked) {
  at::manual_seed(3);
  SmallGraph graph;
  graph.parameter("x", at::randn(asked.x))
      .parameter("w4", at::rand({4}) + 0.5)
      .parameter("b4", at::randn({4}))
      .parameter("w54", at::randn({5, 4}))
      .parameter("w245", at::randn({2, 4, 5}))
      .parameter("conv", at::randn({4, 2, 3, 3}))
      .buffer("mean", at::randn({4}))
      .buffer("var", at::rand({4}) + 0.5)
      .buffer("ids", at::tensor({0, 2, 1, 2}, at::kLong))
      // In-place operators must not write to a leaf.
      .node("aten.clone.default", "y", {{"self", tensor("x")}});
  if (asked.op == "aten.chunk.default")
    graph.list(asked.op, {"z", "z_1"}, asked.arguments);
  else
    graph.node(asked.op, "z", asked.arguments);
  graph.node("aten.mul.Tensor", "out", {{"self", tensor("z")}, {"other", 3.0}});
  return graph.finish();
}

struct DirectOutcome {
  std::map<std::string, at::Tensor> tensors;
};

DirectOutcome run(const Case& asked, bool direct) {
  ExecutorOptions options;
  options.direct = direct;
  GraphModule module(program_of(asked), options);
  at::manual_seed(5);
  const at::Tensor result = module.forward({});
  result.to(at::kDouble).pow(2).sum().backward();
  DirectOutcome outcome;
  outcome.tensors["result"] = result.detach();
  for (const auto& parameter : module.parameters())
    if (parameter.tensor.grad().defined())
      outcome.tensors[parameter.name] = parameter.tensor.grad();
  for (const auto& buffer : module.buffers())
    outcome.tensors[buffer.name] = buffer.tensor;
  return outcome;
}

TEST(DirectCalls, GiveTheBitsOfTheBoxedOnes) {
  for (const auto& asked : cases()) {
    const DirectOutcome direct = run(asked, true);
    const DirectOutcome boxed = run(asked, false);
    ASSERT_EQ(direct.tensors.size(), boxed.tensors.size()) << asked.op;
    EXPECT_EQ(direct.tensors.count("x"), 1U) << asked.op << " has a gradient";
    for (const auto& [name, tensor] : direct.tensors) {
      const auto& other = boxed.tensors.at(name);
      EXPECT_EQ(tensor.scalar_type(), other.scalar_type()) << asked.op;
      EXPECT_TRUE(at::equal(tensor, other)) << asked.op << ", " << name;
    }
  }
}

TEST(DirectCalls, AreAllCompared) {
  std::set<std::string> compared;
  for (const auto& asked : cases())
    compared.insert(asked.op);
  for (const auto* table : {&direct_layers(), &direct_shapes()})
    for (const auto& [op, maker] : *table) {
      EXPECT_EQ(compared.count(op), 1U) << op << " has no case here";
      EXPECT_TRUE(find_torch_operator(op)) << op << " is no operator";
    }
}

} // namespace
} // namespace temper::model

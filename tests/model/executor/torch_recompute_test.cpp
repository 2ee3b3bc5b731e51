// Segments that are computed again: the same bits, the same statistics, the
// same random numbers, less memory.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <c10/util/ThreadLocalDebugInfo.h>

#include "small_graph.h"
#include "temper/graph/pass/passes.h"
#include "temper/model/executor/executor.h"
#include "temper/model/zoo/zoo.h"

namespace temper::model {
namespace {

using graph::Ints;

// Counts the CPU bytes in use while it is installed. LibTorch changed the
// types of the third and fourth argument, so neither is marked override.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
struct BytesInUse : c10::MemoryReportingInfoBase {
  std::int64_t now = 0;
  std::int64_t peak = 0;

  void reportMemoryUsage(
      void*,
      std::int64_t size,
      std::int64_t,
      std::int64_t,
      c10::Device) {
    count(size);
  }
  void reportMemoryUsage(
      void*,
      std::int64_t size,
      std::size_t,
      std::size_t,
      c10::Device) {
    count(size);
  }
  bool memoryProfilingEnabled() const {
    return true;
  }
  void count(std::int64_t size) {
    now += size;
    peak = std::max(peak, now);
  }
};
#pragma GCC diagnostic pop

struct TrainOutcome {
  std::vector<at::Tensor> tensors; // loss, gradients, buffers
  std::int64_t kept_bytes = 0; // from forward to backward
  std::int64_t peak_bytes = 0;
};

// Two steps, so that buffers and random numbers of the first matter.
TrainOutcome train_twice(
    const graph::Program& program,
    const std::vector<at::Tensor>& inputs,
    NodeHooks hooks = {}) {
  GraphModule module(program);
  module.set_hooks(std::move(hooks));
  at::manual_seed(11);
  TrainOutcome outcome;
  for (int step = 0; step < 2; ++step) {
    const auto bytes = std::make_shared<BytesInUse>();
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, bytes);
    const at::Tensor result = module.forward(inputs);
    outcome.kept_bytes = bytes->now;
    const at::Tensor loss = result.to(at::kDouble).pow(2).mean();
    loss.backward();
    outcome.peak_bytes = bytes->peak;
    outcome.tensors.push_back(loss.detach());
    // What comes after must see the same random numbers too.
    outcome.tensors.push_back(at::rand({3}));
  }
  for (const auto& parameter : module.parameters())
    if (parameter.tensor.grad().defined())
      outcome.tensors.push_back(parameter.tensor.grad());
  for (const auto& buffer : module.buffers())
    outcome.tensors.push_back(buffer.tensor);
  return outcome;
}

void expect_same_bits(const TrainOutcome& ours, const TrainOutcome& theirs) {
  ASSERT_EQ(ours.tensors.size(), theirs.tensors.size());
  for (std::size_t i = 0; i < ours.tensors.size(); ++i)
    EXPECT_TRUE(at::equal(ours.tensors[i], theirs.tensors[i]))
        << "tensor " << i;
}

int nodes_again(const graph::Program& program, const at::Tensor& x) {
  int again = 0;
  NodeHooks hooks;
  hooks.before = [&](const NodeEvent& event) { again += event.again ? 1 : 0; };
  train_twice(program, {x}, hooks);
  return again;
}

TEST(Recompute, OfAResnetKeepsEveryBitAndLessMemory) {
  ZooOptions options;
  options.name = "resnet18";
  options.stem = "cifar";
  options.width = 0.25;
  options.image_size = 32;
  const auto plain = build(options);
  const auto marked = graph::mark_recompute(plain, {"layer*.*"}).program;
  const at::Tensor x = at::randn({8, 3, 32, 32});
  const TrainOutcome without = train_twice(plain, {x});
  const TrainOutcome with = train_twice(marked, {x});
  expect_same_bits(with, without);
  EXPECT_LT(with.kept_bytes * 2, without.kept_bytes);
  EXPECT_LT(with.peak_bytes * 3, without.peak_bytes * 2);
  EXPECT_GT(nodes_again(marked, x), 100);
}

TEST(Recompute, OfATransformerKeepsEveryBitWithDropout) {
  ZooOptions options;
  options.name = "gpt_tiny";
  options.context = 16;
  options.dropout = 0.2;
  const auto plain = build(options);
  const auto marked = graph::mark_recompute(plain, {"transformer.h.*"}).program;
  const at::Tensor x = at::randint(0, 60, {4, 16});
  const TrainOutcome without = train_twice(plain, {x});
  const TrainOutcome with = train_twice(marked, {x});
  expect_same_bits(with, without);
  EXPECT_LT(with.kept_bytes * 2, without.kept_bytes);
}

// x -> [segment: relu, dropout, batch norm] with whatever comes around it.
SmallGraph small() {
  SmallGraph graph;
  at::manual_seed(1);
  graph.input("x", {-1, 4})
      .parameter("w", at::randn({4, 4}))
      .parameter("g", at::rand({4}) + 0.5)
      .parameter("b", at::randn({4}))
      .buffer("mean", at::zeros({4}))
      .buffer("var", at::ones({4}));
  return graph;
}

void add_linear(SmallGraph& graph, const char* name, const char* from) {
  graph.node(
      "aten.linear.default",
      name,
      {{"input", tensor(from)}, {"weight", tensor("w")}});
}

// The same graph without marks must give the same bits.
void expect_recompute_changes_nothing(const SmallGraph& graph, int again) {
  const auto marked = graph.finish();
  auto plain = marked;
  for (auto& node : plain.graph.nodes)
    node.recompute_segment = -1;
  at::manual_seed(2);
  const at::Tensor x = at::randn({5, 4});
  expect_same_bits(train_twice(marked, {x}), train_twice(plain, {x}));
  EXPECT_EQ(nodes_again(marked, x), again);
}

TEST(Recompute, MovesStatisticsOnceAndDropsTheSame) {
  SmallGraph graph = small();
  add_linear(graph, "h", "x");
  graph.in_module("block", 0)
      .node("aten.relu.default", "r", {{"self", tensor("h")}})
      .node(
          "aten.dropout.default",
          "d",
          {{"input", tensor("r")}, {"p", 0.5}, {"train", true}})
      .node(
          "aten.batch_norm.default",
          "n",
          {{"input", tensor("d")},
           {"weight", tensor("g")},
           {"bias", tensor("b")},
           {"running_mean", tensor("mean")},
           {"running_var", tensor("var")},
           {"training", true},
           {"momentum", 0.1},
           {"eps", 1e-5},
           {"cudnn_enabled", true}});
  add_linear(graph, "o", "n");
  expect_recompute_changes_nothing(graph, 2 * 4);
}

TEST(Recompute, AddsTheGradientsOfManyUsesInTheSameOrder) {
  SmallGraph graph = small();
  add_linear(graph, "h", "x");
  graph.in_module("block", 0);
  add_linear(graph, "a", "h");
  graph
      .node(
          "aten.mul.Tensor",
          "m",
          {{"self", tensor("a")}, {"other", tensor("h")}})
      .node(
          "aten.add.Tensor",
          "s",
          {{"self", tensor("m")}, {"other", tensor("h")}, {"alpha", 0.3}})
      .in_module("after");
  graph
      .node(
          "aten.mul.Tensor",
          "t",
          {{"self", tensor("s")}, {"other", tensor("h")}})
      .node(
          "aten.add.Tensor",
          "o",
          {{"self", tensor("t")}, {"other", tensor("h")}, {"alpha", 0.7}});
  expect_recompute_changes_nothing(graph, 2 * 3);
}

TEST(Recompute, LeavesOutWhatWritesOverItsInput) {
  SmallGraph graph = small();
  add_linear(graph, "h", "x");
  graph.in_module("block", 0)
      .node(
          "aten.add_.Tensor",
          "i",
          {{"self", tensor("h")}, {"other", tensor("b")}})
      .node("aten.tanh.default", "t", {{"self", tensor("i")}});
  add_linear(graph, "o", "t");
  expect_recompute_changes_nothing(graph, 2 * 2);
}

TEST(Recompute, IsNotDoneWhenItsInputIsWrittenOverLater) {
  SmallGraph graph = small();
  add_linear(graph, "h", "x");
  graph.in_module("block", 0)
      .node("aten.add.Tensor", "a", {{"self", tensor("h")}, {"other", 1.0}})
      .in_module("after")
      .node(
          "aten.add_.Tensor",
          "i",
          {{"self", tensor("h")}, {"other", tensor("a")}});
  expect_recompute_changes_nothing(graph, 0);
}

TEST(Recompute, HandsViewsOnAsTheyAre) {
  SmallGraph graph = small();
  add_linear(graph, "h", "x");
  graph.in_module("block", 0)
      .node("aten.tanh.default", "t", {{"self", tensor("h")}})
      .node(
          "aten.view.default", "v", {{"self", tensor("h")}, {"size", Ints{-1}}})
      .in_module("after")
      .node("aten.relu_.default", "r", {{"self", tensor("v")}})
      .node(
          "aten.view.default",
          "q",
          {{"self", tensor("r")}, {"size", Ints{-1, 4}}})
      .node(
          "aten.add.Tensor",
          "o",
          {{"self", tensor("q")}, {"other", tensor("t")}});
  expect_recompute_changes_nothing(graph, 0);
}

TEST(Recompute, KnowsTheSizesOfTheBatchAgain) {
  SmallGraph graph = small();
  graph.number(
      "aten.sym_size.int",
      "n",
      {{"self", tensor("x")}, {"dim", std::int64_t{0}}});
  add_linear(graph, "h", "x");
  graph.in_module("block", 0)
      .number(
          "_operator.mul",
          "n4",
          {{"a", graph::NumberName{"n"}}, {"b", std::int64_t{4}}})
      .node(
          "aten.reshape.default",
          "flat",
          {{"self", tensor("h")},
           {"shape", std::vector<graph::IntOrName>{graph::NumberName{"n4"}}}})
      .node("aten.tanh.default", "t", {{"self", tensor("flat")}})
      .node(
          "aten.mul.Tensor",
          "o",
          {{"self", tensor("t")}, {"other", graph::NumberName{"n"}}});
  expect_recompute_changes_nothing(graph, 2 * 4);
}

TEST(Recompute, IsSkippedWhereNoGradientIsAskedFor) {
  SmallGraph graph = small();
  graph.in_module("block", 0);
  add_linear(graph, "h", "x");
  GraphModule module(graph.finish());
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(module.forward({at::ones({3, 4})}).requires_grad());
}

} // namespace
} // namespace temper::model

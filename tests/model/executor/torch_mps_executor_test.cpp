// The executor on the simulated MPS device: everything stays there, and the
// numbers are the CPU's.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_graph.h"
#include "temper/base/error.h"
#include "temper/libtorch/sim/sim.h"
#include "temper/model/executor/executor.h"

namespace temper::model {
namespace {

const at::Device kMps(at::kMPS, 0);

graph::Program small_network() {
  at::manual_seed(1);
  SmallGraph graph;
  graph.input("x", {-1, 4})
      .parameter("w", at::randn({4, 4}))
      .buffer("seen", at::zeros({1}))
      .node(
          "aten.add_.Tensor",
          "more",
          {{"self", tensor("seen")}, {"other", std::int64_t{1}}})
      .node(
          "aten.zeros.default",
          "z",
          {{"size", graph::Ints{4}}, {"device", graph::Device{}}})
      .node(
          "aten.mm.default",
          "h",
          {{"self", tensor("x")}, {"mat2", tensor("w")}})
      .node(
          "aten.add.Tensor",
          "a",
          {{"self", tensor("h")}, {"other", tensor("z")}})
      .in_module("block", 0)
      .node("aten.tanh.default", "t", {{"self", tensor("a")}})
      .node("aten.mul.Tensor", "y", {{"self", tensor("t")}, {"other", 2.0}});
  return graph.finish();
}

TEST(ExecutorOnMps, TrainsAsOnTheCpu) {
  GraphModule there(small_network());
  GraphModule here(small_network());
  there.to(kMps);
  EXPECT_EQ(there.tensor("w").device().type(), at::kMPS);
  const at::Tensor x = at::randn({3, 4});
  const auto before = libtorch::sim::counts().kernels;
  const at::Tensor theirs = there.forward({x.to(kMps)});
  EXPECT_EQ(theirs.device().type(), at::kMPS);
  EXPECT_GT(libtorch::sim::counts().kernels, before + 4);
  const at::Tensor ours = here.forward({x});
  EXPECT_TRUE(at::equal(theirs.to(at::kCPU), ours));
  theirs.sum().backward();
  ours.sum().backward();
  EXPECT_TRUE(at::equal(
      there.tensor("w").grad().to(at::kCPU), here.tensor("w").grad()));
  EXPECT_EQ(there.tensor("seen").to(at::kCPU).item<float>(), 1);
  const auto program = there.program();
  EXPECT_TRUE(at::equal(tensor_of(program.weights.at("w")), here.tensor("w")));
}

TEST(ExecutorOnMps, SaysWhenAnInputIsElsewhere) {
  GraphModule module(small_network());
  module.to(kMps);
  try {
    module.forward({at::zeros({3, 4})});
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_THAT(
        error.what(),
        testing::HasSubstr("input x is on cpu and the model on mps:0"));
  }
}

TEST(ExecutorOnMps, KeepsTheTextOfALackOfMemory) {
  GraphModule module(small_network());
  module.to(kMps);
  const at::Tensor x = at::zeros({3, 4}).to(kMps);
  libtorch::sim::Rules rules;
  rules.has_float64 = false;
  rules.memory_bytes = 1;
  libtorch::sim::set_rules(rules);
  try {
    module.forward({x});
    ADD_FAILURE() << "there was memory";
  } catch (const c10::Error& error) {
    EXPECT_THAT(
        error.what(),
        testing::AllOf(
            testing::HasSubstr("MPS backend out of memory"),
            testing::HasSubstr("in aten.zeros.default of block (net.py:7)")));
  }
  rules.memory_bytes = 0;
  libtorch::sim::set_rules(rules);
}

} // namespace
} // namespace temper::model

// A module prepares the plan of each mode once, and again only for another
// device or another type.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "small_graph.h"
#include "temper/model/executor/executor.h"
#include "temper/model/executor/executor_steps.h"

namespace temper::model {
namespace {

class Preparation : public testing::Test {
 protected:
  // y = 3 x w, with a kernel that counts how often it is prepared.
  GraphModule tripled() {
    SmallGraph graph;
    graph.input("x", {-1, 4})
        .parameter("w", at::ones({2, 4}))
        .node(
            "aten.linear.default",
            "z",
            {{"input", tensor("x")}, {"weight", tensor("w")}})
        .node("temper.triple.default", "y", {{"self", tensor("z")}});
    ExecutorOptions options;
    options.kernels["temper.triple.default"] = [this](Arguments& arguments) {
      ++prepared_;
      return NodeCall(
          [x = arguments.tensor("self"), y = arguments.output()](Frame& frame) {
            at_slot(frame, y) = at_slot(frame, x) * 3;
          });
    };
    return GraphModule(graph.finish(), options);
  }

  int prepared_ = 0; // plans, of both modes
};

TEST_F(Preparation, IsDoneOnceForEachMode) {
  GraphModule module = tripled();
  EXPECT_EQ(prepared_, 2);
  module.set_training(false);
  module.forward({at::ones({1, 4})});
  module.set_training(true);
  module.forward({at::ones({1, 4})});
  EXPECT_EQ(prepared_, 2);
}

TEST_F(Preparation, IsNotDoneAgainWhereNothingMoves) {
  GraphModule module = tripled();
  const at::Tensor before = module.parameters()[0].tensor;
  module.to(at::Device(at::kCPU));
  module.to(at::kFloat);
  EXPECT_EQ(prepared_, 2);
  EXPECT_TRUE(module.parameters()[0].tensor.is_same(before));
  EXPECT_EQ(module.forward({at::ones({1, 4})}).sum().item<double>(), 24);
}

TEST_F(Preparation, IsDoneAgainForAnotherType) {
  GraphModule module = tripled();
  module.to(at::kDouble);
  EXPECT_EQ(prepared_, 4);
  module.to(at::kDouble);
  EXPECT_EQ(prepared_, 4);
  const at::NoGradGuard no_grad;
  module.parameters()[0].tensor.fill_(2);
  const at::Tensor y = module.forward({at::ones({1, 4}, at::kDouble)});
  EXPECT_EQ(y.scalar_type(), at::kDouble);
  EXPECT_EQ(y.sum().item<double>(), 48) << "it computes with what moved";
}

// A parameter that came in another type than the first takes the module's:
// the plans stay, and see it.
TEST(Weights, OfAnotherTypeAreSeenByThePlansThatStay) {
  SmallGraph graph;
  graph.input("x", {-1, 4})
      .parameter("w", at::ones({2, 4}))
      .parameter("b", at::ones({2}, at::kDouble))
      .node(
          "aten.linear.default",
          "z",
          {{"input", tensor("x")}, {"weight", tensor("w")}})
      .node(
          "aten.add.Tensor",
          "y",
          {{"self", tensor("z")}, {"other", tensor("b")}});
  GraphModule module(graph.finish());
  module.to(at::Device(at::kCPU));
  const at::NoGradGuard no_grad;
  EXPECT_EQ(module.tensor("b").scalar_type(), at::kFloat);
  module.tensor("b").fill_(5);
  EXPECT_EQ(module.forward({at::ones({1, 4})}).sum().item<double>(), 18);
}

} // namespace
} // namespace temper::model

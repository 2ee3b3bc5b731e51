// Attention by definition, and operators that stand for what older LibTorch
// lacks.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "small_graph.h"
#include "temper/model/executor/attention.h"
#include "temper/model/executor/executor.h"

namespace temper::model {
namespace {

using graph::Ints;

// Attention by definition, in float64.
at::Tensor attended(
    const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v,
    const at::Tensor& added,
    double scale) {
  const at::Tensor scores = at::matmul(q, k.transpose(-2, -1)) * scale + added;
  return at::matmul(at::softmax(scores, -1), v);
}

TEST(Attention, IsSoftmaxOfScaledProducts) {
  at::manual_seed(4);
  const auto type = at::TensorOptions(at::kDouble);
  const at::Tensor q = at::randn({2, 4, 3, 8}, type);
  const at::Tensor k = at::randn({2, 4, 5, 8}, type);
  const at::Tensor v = at::randn({2, 4, 5, 6}, type);
  const at::Tensor none = at::zeros({3, 5}, type);
  const double usual = 1 / std::sqrt(8.0);
  const auto close = [](const at::Tensor& a, const at::Tensor& b) {
    return at::allclose(a, b, 1e-10, 1e-12);
  };
  EXPECT_TRUE(close(attend(q, k, v, {}, {}), attended(q, k, v, none, usual)));
  AttentionByParts options;
  options.scale = 0.3;
  EXPECT_TRUE(
      close(attend(q, k, v, {}, options), attended(q, k, v, none, 0.3)));
  options = {};
  options.is_causal = true;
  const at::Tensor future = at::full({3, 5}, -INFINITY, type).triu(1);
  EXPECT_TRUE(
      close(attend(q, k, v, {}, options), attended(q, k, v, future, usual)));
  const at::Tensor bias = at::randn({3, 5}, type);
  EXPECT_TRUE(close(attend(q, k, v, bias, {}), attended(q, k, v, bias, usual)));
  const at::Tensor allowed = at::isneginf(future).logical_not();
  EXPECT_TRUE(
      close(attend(q, k, v, allowed, {}), attended(q, k, v, future, usual)));
  options = {};
  options.grouped = true;
  const at::Tensor few = k.slice(1, 0, 2);
  const at::Tensor fewv = v.slice(1, 0, 2);
  EXPECT_TRUE(close(
      attend(q, few, fewv, {}, options),
      attended(
          q,
          few.repeat_interleave(2, 1),
          fewv.repeat_interleave(2, 1),
          none,
          usual)));
}

TEST(Attention, OfARowThatMaySeeNothingIsZeroAndSoItsGradient) {
  const at::Tensor q = at::randn({1, 1, 2, 4}).requires_grad_();
  const at::Tensor k = at::randn({1, 1, 3, 4});
  const at::Tensor mask =
      at::tensor({0, 0, 0, 1, 0, 1}).reshape({2, 3}).to(at::kBool);
  const at::Tensor y = attend(q, k, k, mask, {});
  EXPECT_EQ(y.select(2, 0).abs().sum().item<double>(), 0);
  y.sum().backward();
  EXPECT_TRUE(q.grad().isfinite().all().item<bool>());
}

TEST(Decompositions, AgreeWithWhatTheyStandFor) {
  const auto run = [](const SmallGraph& graph, const at::Tensor& x) {
    return GraphModule(graph.finish()).forward({x});
  };
  const at::Tensor x = at::randn({3, 1, 4, 1});
  SmallGraph squeeze;
  squeeze.input("x", {-1, 1, 4, 1})
      .node(
          "aten.squeeze.dims",
          "y",
          {{"self", tensor("x")}, {"dim", Ints{1, -1}}});
  EXPECT_TRUE(at::equal(run(squeeze, x), x.reshape({3, 4})));
  SmallGraph norm;
  norm.input("x", {-1, 1, 4, 1})
      .parameter("w", at::rand({4, 1}))
      .node(
          "aten.rms_norm.default",
          "y",
          {{"input", tensor("x")},
           {"normalized_shape", Ints{4, 1}},
           {"weight", tensor("w")},
           {"eps", 1e-6}});
  GraphModule module(norm.finish());
  const at::Tensor expected =
      x / (x.pow(2).mean({-1, -2}, true) + 1e-6).sqrt() * module.tensor("w");
  EXPECT_TRUE(at::allclose(module.forward({x}), expected, 1e-5, 1e-6));
  SmallGraph any;
  any.input("x", {-1, 1, 4, 1})
      .node("aten.gt.Scalar", "p", {{"self", tensor("x")}, {"other", 1.0}})
      .node(
          "aten.any.dims",
          "y",
          {{"self", tensor("p")}, {"dim", Ints{1, 2}}, {"keepdim", true}});
  EXPECT_TRUE(at::equal(run(any, x), (x > 1).any(1, true).any(2, true)));
}

} // namespace
} // namespace temper::model

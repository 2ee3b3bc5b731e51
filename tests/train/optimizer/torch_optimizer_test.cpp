#include "temper/train/optimizer/optimizer.h"

#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>

namespace temper::train {
namespace {

// LibTorch's own optimisers on the same gradients.
class Optimizers : public ::testing::TestWithParam<const char*> {};

TEST_P(Optimizers, MoveParametersAsPytorchsDo) {
  const std::string kind = GetParam();
  config::Optimizer options;
  options.name = kind == "nesterov" || kind == "momentum" ? "sgd" : kind;
  options.nesterov = kind == "nesterov";
  options.momentum = kind == "sgd" ? 0 : 0.9;
  options.weight_decay = 0.01;
  options.decay_all = true;
  at::manual_seed(1);
  const at::Tensor begin = at::randn({5, 4});
  at::Tensor ours = begin.clone().set_requires_grad(true);
  at::Tensor theirs = begin.clone().set_requires_grad(true);
  const auto mine = make_optimizer(options, {{"w", ours, true}});
  std::unique_ptr<torch::optim::Optimizer> reference;
  const std::vector<at::Tensor> list{theirs};
  if (options.name == "sgd")
    reference = std::make_unique<torch::optim::SGD>(
        list,
        torch::optim::SGDOptions(0.05)
            .momentum(options.momentum)
            .weight_decay(0.01)
            .nesterov(options.nesterov));
  else if (options.name == "adam")
    reference = std::make_unique<torch::optim::Adam>(
        list, torch::optim::AdamOptions(0.05).weight_decay(0.01));
  else
    reference = std::make_unique<torch::optim::AdamW>(
        list, torch::optim::AdamWOptions(0.05).weight_decay(0.01));
  for (int i = 0; i < 30; ++i) {
    const at::Tensor gradient = at::randn({5, 4});
    ours.mutable_grad() = gradient.clone();
    theirs.mutable_grad() = gradient.clone();
    mine->step(0.05, i, {});
    reference->step();
    EXPECT_LE((ours - theirs).abs().max().item<float>(), 2e-6F)
        << kind << " update " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Optimizers,
    ::testing::Values("sgd", "momentum", "nesterov", "adam", "adamw"));

TEST(OptimizerRules, LionStepsBySigns) {
  config::Optimizer options;
  options.name = "lion";
  options.weight_decay = 0;
  options.betas = {0.9, 0.99};
  at::Tensor w = at::zeros({2}).set_requires_grad(true);
  const auto lion = make_optimizer(options, {{"w", w, true}});
  w.mutable_grad() = at::tensor({0.5F, -3.0F});
  lion->step(0.1, 0, {});
  EXPECT_FLOAT_EQ(w[0].item<float>(), -0.1F);
  EXPECT_FLOAT_EQ(w[1].item<float>(), 0.1F);
  // The average still points the old way: 0.9 * 0.005 > 0.1 * 0.04.
  w.mutable_grad() = at::tensor({-0.04F, 0.0F});
  lion->step(0.1, 1, {});
  EXPECT_FLOAT_EQ(w[0].item<float>(), -0.2F);
}

TEST(OptimizerRules, NormsAndBiasesDoNotDecay) {
  config::Optimizer options;
  options.name = "sgd";
  options.momentum = 0;
  options.weight_decay = 0.5;
  at::Tensor matrix = at::ones({1, 1}).set_requires_grad(true);
  at::Tensor bias = at::ones({1}).set_requires_grad(true);
  at::Tensor frozen = at::ones({1, 1});
  const auto rule = make_optimizer(
      options, {{"w", matrix, true}, {"b", bias, true}, {"f", frozen, false}});
  matrix.mutable_grad() = at::zeros({1, 1});
  bias.mutable_grad() = at::zeros({1});
  rule->step(1, 0, {});
  EXPECT_FLOAT_EQ(matrix.item<float>(), 0.5F);
  EXPECT_FLOAT_EQ(bias.item<float>(), 1);
  EXPECT_FLOAT_EQ(frozen.item<float>(), 1);
}

// The same rule written out on plain numbers: decay beside the gradient, the
// sign of one average, then the other average.
TEST(OptimizerRules, LionFollowsItsPaperForManyUpdates) {
  config::Optimizer options;
  options.name = "lion";
  options.weight_decay = 0.1;
  options.decay_all = true;
  options.betas = {0.9, 0.99};
  at::manual_seed(2);
  at::Tensor w = at::randn({7}).set_requires_grad(true);
  const auto lion = make_optimizer(options, {{"w", w, true}});
  std::vector<double> weight;
  for (int i = 0; i < 7; ++i)
    weight.push_back(w[i].item<double>());
  std::vector<double> mean(7, 0);
  for (int update = 0; update < 20; ++update) {
    const at::Tensor gradient = at::randn({7});
    w.mutable_grad() = gradient.clone();
    lion->step(0.01, update, {});
    for (std::size_t i = 0; i < 7; ++i) {
      const auto g = gradient[static_cast<std::int64_t>(i)].item<double>();
      const double way = 0.9 * mean[i] + 0.1 * g;
      weight[i] -= 0.01 * ((way > 0 ? 1.0 : -1.0) + 0.1 * weight[i]);
      mean[i] = 0.99 * mean[i] + 0.01 * g;
      EXPECT_NEAR(
          w[static_cast<std::int64_t>(i)].item<double>(), weight[i], 1e-6);
    }
  }
}

// The squares of a constant gradient: each step adds a thousandth, which bf16
// to the nearest would lose.
TEST(OptimizerRules, MomentsInBf16TakeHalfTheMemoryAndStillMove) {
  config::Optimizer options;
  options.name = "adamw";
  options.moments = "bf16";
  at::manual_seed(3);
  const at::Tensor begin = at::zeros({64, 16});
  at::Tensor lean = begin.clone().set_requires_grad(true);
  at::Tensor plain = begin.clone().set_requires_grad(true);
  const auto small = make_optimizer(options, {{"w", lean, true}});
  options.moments = "fp32";
  const auto large = make_optimizer(options, {{"w", plain, true}});
  constexpr int kSteps = 400;
  for (int update = 0; update < kSteps; ++update) {
    lean.mutable_grad() = at::full({64, 16}, 0.5);
    plain.mutable_grad() = at::full({64, 16}, 0.5);
    small->step(0.01, update, {});
    large->step(0.01, update, {});
  }
  const auto state = small->state();
  ASSERT_EQ(state.size(), 2U);
  for (const auto& each : state)
    EXPECT_EQ(each.tensor.scalar_type(), at::kBFloat16) << each.name;
  const double second = state[1].tensor.to(at::kFloat).mean().item<double>();
  const double exact = 0.25 * (1 - std::pow(0.999, kSteps));
  EXPECT_NEAR(second, exact, 0.02 * exact);
  EXPECT_NEAR(
      lean.mean().item<double>(),
      plain.mean().item<double>(),
      0.02 * std::abs(plain.mean().item<double>()));
}

// Through a gate that the device has closed, and then opened.
TEST(OptimizerRules, AClosedGateLetsNothingThrough) {
  for (const char* name : {"sgd", "adam", "adamw", "lion"}) {
    config::Optimizer options;
    options.name = name;
    options.decay_all = true;
    options.nesterov = options.name == "sgd";
    at::manual_seed(3);
    const at::Tensor begin = at::randn({4, 3});
    at::Tensor gated = begin.clone().set_requires_grad(true);
    at::Tensor plain = begin.clone().set_requires_grad(true);
    const auto through = make_optimizer(options, {{"w", gated, true}});
    const auto beside = make_optimizer(options, {{"w", plain, true}});
    const at::Tensor yes = at::ones({}, at::kBool);
    for (int update = 0; update < 5; ++update) {
      const at::Tensor gradient = at::randn({4, 3});
      gated.mutable_grad() = gradient.clone();
      plain.mutable_grad() = gradient.clone();
      through->step(0.01, update, CommitGate(yes));
      beside->step(0.01, update, {});
      EXPECT_TRUE(at::allclose(gated, plain, 1e-5, 1e-6)) << name;
    }
    const at::Tensor weight = gated.detach().clone();
    std::vector<at::Tensor> state;
    for (const auto& each : through->state())
      state.push_back(each.tensor.clone());
    ASSERT_FALSE(state.empty());
    gated.mutable_grad() = at::full({4, 3}, NAN);
    through->step(0.01, 5, CommitGate(yes.logical_not()));
    EXPECT_TRUE(at::equal(gated, weight)) << name;
    for (std::size_t i = 0; i < state.size(); ++i)
      EXPECT_TRUE(at::equal(through->state()[i].tensor, state[i])) << name;
  }
}

} // namespace
} // namespace temper::train

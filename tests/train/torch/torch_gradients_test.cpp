// The gradient of a batch, whole and in slices, and clipped.
#include "temper/train/torch/gradients.h"

#include <gtest/gtest.h>
#include <torch/types.h>
// Of 1.13, this relies on the one above.
#include <torch/nn/utils/clip_grad.h>

#include "engine_samples.h"
#include "temper/train/task/losses.h"

namespace temper::train {
namespace {

config::Config hard() {
  config::Config config = plain_sgd();
  config.train.label_smoothing = 0.1;
  config.train.class_weights = {0.5, 1, 3};
  return config;
}

// Every split of 37 samples gives the gradient of the whole batch: after one
// step of plain SGD the weights differ by at most 2e-6 of how far they went.
TEST(Gradients, OfEverySplitOf37SamplesAreTheWholeBatchs) {
  const Samples batch = rows(37);
  const auto fresh = table(hard()).engine()->weights();
  const auto whole = table(hard()).engine();
  whole->step(batch.batch, order(0));
  const double moved = distance(fresh, whole->weights());
  ASSERT_GT(moved, 1e-3);
  for (int micro = 1; micro <= 37; ++micro) {
    const auto split = table(hard()).engine();
    split->step(batch.batch, order(0, micro));
    EXPECT_LE(distance(whole->weights(), split->weights()), 2e-6 * moved)
        << "slices of " << micro;
    EXPECT_NEAR(split->report().loss, whole->report().loss, 1e-6);
  }
}

// The same in float64, where only a real mistake is visible: to 1e-12.
TEST(Gradients, InFloat64OfEverySplitOf37SamplesAgreeToTwelveDigits) {
  const Samples batch = rows(37);
  const at::Tensor inputs = batch.inputs.to(at::kDouble);
  const auto gradient = [&](int micro) {
    const auto module = table(hard()).module();
    module->to(at::kDouble);
    const CrossEntropy loss{
        0.1,
        at::tensor({0.5, 1.0, 3.0}, at::kDouble),
        at::tensor({0.5, 1.0, 3.0}, at::kDouble)};
    const double units = loss.units(batch.labels);
    for (int begin = 0; begin < 37; begin += micro) {
      const int count = std::min(micro, 37 - begin);
      loss.sum(
              module->forward({inputs.narrow(0, begin, count)}),
              batch.labels.narrow(0, begin, count))
          .div(units)
          .backward();
    }
    std::vector<at::Tensor> all;
    for (const auto& each : module->parameters())
      all.push_back(each.tensor.grad().reshape({-1}));
    return at::cat(all);
  };
  const at::Tensor whole = gradient(37);
  for (int micro = 1; micro < 37; ++micro)
    EXPECT_LE(
        (gradient(micro) - whole).norm().item<double>(),
        1e-12 * whole.norm().item<double>())
        << "slices of " << micro;
}

TEST(Gradients, AreClippedToTheirLength) {
  config::Config config = plain_sgd();
  config.train.clip = 0.01;
  const Samples batch = rows(16);
  const auto fresh = table(config).engine()->weights();
  const auto clipped = table(config).engine();
  clipped->step(batch.batch, order(0));
  EXPECT_GT(clipped->report().grad_norm, 0.01);
  EXPECT_NEAR(distance(fresh, clipped->weights()), 0.1 * 0.01, 1e-6);
}

TEST(Gradients, ShorterThanTheLimitStayAsTheyAre) {
  config::Config config = plain_sgd();
  const Samples batch = rows(16);
  const auto free = table(config).engine();
  free->step(batch.batch, order(0));
  config.train.clip = 1000;
  const auto clipped = table(config).engine();
  clipped->step(batch.batch, order(0));
  EXPECT_TRUE(same_bits(free->weights(), clipped->weights()));
}

TEST(Gradients, AreClippedByValueAsPytorchDoes) {
  at::manual_seed(4);
  const at::Tensor begin = at::randn({5, 4});
  for (const double norm : {0.0, 0.5}) {
    std::vector<model::NamedTensor> ours;
    std::vector<at::Tensor> theirs;
    for (int i = 0; i < 3; ++i) {
      const at::Tensor gradient = at::randn({5, 4});
      ours.push_back({"w", begin.clone().set_requires_grad(true), true});
      theirs.push_back(begin.clone().set_requires_grad(true));
      ours.back().tensor.mutable_grad() = gradient.clone();
      theirs.back().mutable_grad() = gradient.clone();
    }
    config::Train options;
    options.clip = norm;
    options.clip_value = 0.1;
    clip_gradients(ours, options, gradient_norm(ours, at::kCPU));
    if (norm > 0) torch::nn::utils::clip_grad_norm_(theirs, norm);
    torch::nn::utils::clip_grad_value_(theirs, 0.1);
    for (std::size_t i = 0; i < theirs.size(); ++i)
      EXPECT_TRUE(at::allclose(ours[i].tensor.grad(), theirs[i].grad(), 1e-6));
  }
}

} // namespace
} // namespace temper::train

// The engine step by step: state, averages, metrics. What goes wrong is in
// torch_refusals_test.cpp, the arithmetic in torch_gradients_test.cpp.
#include "temper/train/torch/torch_engine.h"

#include <gtest/gtest.h>

#include "engine_samples.h"

namespace temper::train {
namespace {

TEST(TorchEngine, ACapturedStateGoesOnBitForBit) {
  config::Config config;
  config.train.ema = 0.9;
  const Samples batch = rows(16);
  const auto first = table(config, 0.5).engine();
  for (int i = 0; i < 3; ++i)
    first->step(batch.batch, order(i));
  const EngineState state = first->capture();
  for (int i = 3; i < 6; ++i)
    first->step(batch.batch, order(i));
  const auto second = table(config, 0.5).engine();
  second->restore(state);
  for (int i = 3; i < 6; ++i)
    second->step(batch.batch, order(i));
  EXPECT_TRUE(same_bits(first->capture().tensors, second->capture().tensors));
}

TEST(TorchEngine, DropoutDiffersFromUpdateToUpdate) {
  const Samples batch = rows(16);
  const auto one = table(sgd(), 0.5).engine();
  const auto other = table(sgd(), 0.5).engine();
  one->step(batch.batch, order(0));
  other->step(batch.batch, order(1));
  EXPECT_FALSE(same_bits(one->weights(), other->weights()));
}

TEST(TorchEngine, ValidationSeesTheAveragedWeightsAndLeavesNoTrace) {
  config::Config config = sgd();
  config.train.ema = 0.99;
  const Samples batch = rows(16);
  const auto trained = table(config).engine();
  for (int i = 0; i < 5; ++i)
    trained->step(batch.batch, order(i));
  const auto before = trained->capture();
  trained->evaluate(batch.batch);
  const MetricSums sums = trained->take_evaluation_sums();
  EXPECT_EQ(sums.samples, 16);
  EXPECT_EQ(sums.predictions, 16);
  EXPECT_EQ(sums.confusion.size(), 9U);
  EXPECT_TRUE(same_bits(before.tensors, trained->capture().tensors));
  config.train.ema = 0;
  const auto plain = table(config).engine();
  for (int i = 0; i < 5; ++i)
    plain->step(batch.batch, order(i));
  plain->evaluate(batch.batch);
  EXPECT_NE(plain->take_evaluation_sums().loss, sums.loss);
}

// The average is (1 + u) / (10 + u) of itself at update u, at most train.ema.
TEST(TorchEngine, AveragedWeightsFollowWithAGrowingMemory) {
  config::Config config = plain_sgd();
  config.train.ema = 0.2;
  const Samples batch = rows(16);
  const auto averaged = table(config).engine();
  config.train.ema = 0;
  const auto plain = table(config).engine();
  const std::string name = "hidden.0.weight";
  at::Tensor expected =
      model::tensor_of(plain->weights().at(name)).to(at::kDouble);
  for (int i = 0; i < 5; ++i) {
    averaged->step(batch.batch, order(i));
    plain->step(batch.batch, order(i));
    const double decay = std::min(0.2, (1.0 + i) / (10.0 + i));
    expected = expected.mul(decay).add(
        model::tensor_of(plain->weights().at(name)).to(at::kDouble), 1 - decay);
  }
  const at::Tensor average = model::tensor_of(averaged->weights().at(name));
  EXPECT_LE((average - expected).abs().max().item<double>(), 1e-6);
  const auto state = averaged->capture().tensors;
  EXPECT_TRUE(at::equal(
      model::tensor_of(state.at("model." + name)),
      model::tensor_of(plain->weights().at(name))));
  EXPECT_TRUE(at::equal(model::tensor_of(state.at("ema." + name)), average));
}

TEST(TorchEngine, TrainingSumsAreThoseOfAllStepsSinceTheLastAsking) {
  const auto trained = table(sgd()).engine();
  const Samples batch = rows(10);
  double losses = 0;
  for (int i = 0; i < 3; ++i) {
    trained->step(batch.batch, order(i, 4));
    losses += trained->report().loss * 10;
  }
  trained->evaluate(batch.batch); // in between, and apart
  trained->take_evaluation_sums();
  const MetricSums sums = trained->take_training_sums();
  EXPECT_EQ(sums.samples, 30);
  EXPECT_EQ(sums.predictions, 30);
  EXPECT_NEAR(sums.loss, losses, 1e-5);
  EXPECT_EQ(trained->take_training_sums().samples, 0);
}

TEST(TorchEngine, BytesAreNormalisedAsFloatsAre) {
  Sample sample = pictures(plain_sgd(), "cnn");
  sample.plan.mean = {0.5F, 0.4F, 0.3F};
  sample.plan.deviation = {0.2F, 0.3F, 0.4F};
  at::manual_seed(8);
  const at::Tensor bytes = at::randint(256, {6, 3, 8, 8}, at::kByte);
  const at::Tensor labels = at::randint(3, {6}, at::kLong);
  const auto channels = [](const std::vector<float>& values) {
    return at::tensor(values).view({1, 3, 1, 1});
  };
  const at::Tensor floats = bytes.to(at::kFloat)
                                .div(255)
                                .sub(channels(sample.plan.mean))
                                .div(channels(sample.plan.deviation));
  const auto of_bytes = sample.engine();
  of_bytes->step(Samples(bytes, labels).batch, order(0));
  const auto of_floats = sample.engine();
  of_floats->step(Samples(floats, labels).batch, order(0));
  EXPECT_TRUE(same_bits(of_bytes->weights(), of_floats->weights()));
}

} // namespace
} // namespace temper::train

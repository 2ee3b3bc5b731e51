// Steps of dense networks that go without autograd: everything around them is
// as ever.
#include <gtest/gtest.h>

#include "engine_samples.h"

namespace temper::train {
namespace {

std::unique_ptr<Engine> engine_by(
    const Sample& sample,
    config::Kernels kernels) {
  model::ExecutorOptions options;
  options.fuse = kernels == config::Kernels::fused;
  auto module = std::make_shared<model::GraphModule>(
      model::build(sample.zoo), std::move(options));
  return sample.engine(
      make_task(sample.config, sample.info, module, {}, kernels));
}

// Tells whether the step had no need of autograd.
class Watching final : public model::Module {
 public:
  explicit Watching(std::shared_ptr<model::GraphModule> inner)
      : inner_(std::move(inner)) {}

  at::Tensor forward(const std::vector<at::Tensor>& inputs) override {
    ++forwards;
    return inner_->forward(inputs);
  }
  std::vector<model::NamedTensor> parameters() const override {
    return inner_->parameters();
  }
  std::vector<model::NamedTensor> buffers() const override {
    return inner_->buffers();
  }
  void set_training(bool training) override {
    inner_->set_training(training);
  }
  bool training() const override {
    return inner_->training();
  }
  void to(const at::Device& device) override {
    inner_->to(device);
  }
  void to(at::ScalarType type) override {
    inner_->to(type);
  }
  const graph::Graph* graph() const override {
    return inner_->graph();
  }

  int forwards = 0;

 private:
  std::shared_ptr<model::GraphModule> inner_;
};

int forwards_in_a_step(
    const Sample& sample,
    config::Kernels kernels,
    int micro_batch) {
  auto watching = std::make_shared<Watching>(sample.module());
  const auto engine = sample.engine(
      make_task(sample.config, sample.info, watching, {}, kernels));
  engine->step(rows(16).batch, order(0, micro_batch));
  return watching->forwards;
}

TEST(DirectSteps, AreTakenWhereTheWholeNetworkIsLayers) {
  using config::Kernels;
  EXPECT_EQ(forwards_in_a_step(table(sgd()), Kernels::fused, 0), 0);
  EXPECT_EQ(forwards_in_a_step(table(sgd()), Kernels::fused, 16), 0);
  EXPECT_EQ(forwards_in_a_step(table(sgd()), Kernels::fused, 8), 2);
  EXPECT_EQ(forwards_in_a_step(table(sgd()), Kernels::stock, 0), 1);
  EXPECT_EQ(forwards_in_a_step(table(sgd(), 0.5), Kernels::fused, 0), 1);
}

TEST(DirectSteps, TrainAsAutogradDoes) {
  config::Config config;
  config.train.ema = 0.9;
  config.train.clip = 0.5;
  config.train.label_smoothing = 0.1;
  config.train.class_weights = {0.5, 1.0, 2.0};
  const Samples batch = rows(16);
  const auto stock = engine_by(table(config), config::Kernels::stock);
  const auto direct = engine_by(table(config), config::Kernels::fused);
  for (int i = 0; i < 5; ++i) {
    stock->step(batch.batch, reported(order(i, 0, 0.01)));
    direct->step(batch.batch, reported(order(i, 0, 0.01)));
    EXPECT_NEAR(direct->report().loss, stock->report().loss, 1e-5);
    EXPECT_NEAR(direct->report().grad_norm, stock->report().grad_norm, 1e-5);
  }
  EXPECT_LT(distance(stock->gradients(), direct->gradients()), 1e-5);
  EXPECT_LT(distance(stock->weights(), direct->weights()), 1e-4);
  const MetricSums one = stock->take_training_sums();
  const MetricSums other = direct->take_training_sums();
  EXPECT_EQ(other.correct, one.correct);
  EXPECT_EQ(other.predictions, one.predictions);
  EXPECT_EQ(other.samples, one.samples);
  EXPECT_NEAR(other.loss, one.loss, 1e-4);
}

TEST(DirectSteps, OneThatIsNotFiniteLeavesNoTrace) {
  Samples batch = rows(16);
  const auto engine = engine_by(table(sgd()), config::Kernels::fused);
  engine->step(batch.batch, order(0));
  const EngineState before = engine->capture();
  batch.inputs[3][2] = std::nanf("");
  EXPECT_THROW(engine->step(batch.batch, order(1)), NotFinite);
  const EngineState after = engine->capture();
  EXPECT_TRUE(same_bits(before.tensors, after.tensors));
  EXPECT_EQ(after.training_sums.predictions, 16);
  batch.inputs[3][2] = 0.5F;
  EXPECT_TRUE(engine->step(batch.batch, order(1)));
}

TEST(DirectSteps, ACapturedStateGoesOnBitForBit) {
  const Samples batch = rows(16);
  const auto first = engine_by(table(sgd()), config::Kernels::fused);
  for (int i = 0; i < 3; ++i)
    first->step(batch.batch, order(i));
  const EngineState state = first->capture();
  const auto second = engine_by(table(sgd()), config::Kernels::fused);
  second->restore(state);
  for (int i = 3; i < 6; ++i) {
    first->step(batch.batch, order(i));
    second->step(batch.batch, order(i));
  }
  EXPECT_TRUE(same_bits(first->capture().tensors, second->capture().tensors));
}

} // namespace
} // namespace temper::train

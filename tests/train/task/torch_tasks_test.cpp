// Each task beside PyTorch's own losses with their means and its autograd: one
// step of plain SGD, whole and in slices.
#include "temper/train/task/tasks.h"

#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>

#include "tests/complaint.h"
#include "tests/train/torch/engine_samples.h"

namespace temper::train {
namespace {

namespace F = torch::nn::functional;
using testing::HasSubstr;
using MeanLoss = std::function<at::Tensor(const at::Tensor&)>;

constexpr double kLr = 0.1;

// `mean` is PyTorch's loss of the model's output for the whole batch.
void expect_pytorchs_step(
    const Sample& sample,
    const Samples& samples,
    const MeanLoss& mean) {
  const auto module = sample.module();
  module->set_training(true);
  const at::Tensor loss = mean(module->forward({samples.inputs}));
  loss.backward();
  for (const int micro : {0, 3}) {
    const auto engine = sample.engine();
    engine->step(samples.batch, order(0, micro, kLr));
    EXPECT_NEAR(
        engine->report().loss,
        loss.item<double>(),
        1e-6 * std::abs(loss.item<double>()) + 1e-7);
    const auto weights = engine->weights();
    for (const auto& each : module->parameters()) {
      const at::Tensor expected =
          each.tensor.detach() - kLr * each.tensor.grad();
      const at::Tensor made = model::tensor_of(weights.at(each.name));
      EXPECT_LE((made - expected).abs().max().item<float>(), 1e-6F)
          << each.name << " in slices of " << micro;
      EXPECT_GT(each.tensor.grad().abs().max().item<float>(), 0) << each.name;
    }
  }
}

Sample numbers(const config::Config& config, int outputs) {
  Sample sample = table(config);
  sample.zoo.classes = outputs;
  sample.info.target = data::Target::numbers;
  sample.plan.target_shape = {outputs};
  sample.classes = 0;
  return sample;
}

Samples with_numbers(int count, int outputs, bool zero_one) {
  at::manual_seed(7);
  const at::Tensor inputs = at::randn({count, 6});
  at::Tensor targets = at::randn({count, outputs});
  if (zero_one) targets = targets.gt(0).to(at::kFloat);
  return {inputs, {}, targets};
}

TEST(Tasks, ClassificationIsPytorchsCrossEntropy) {
  const Samples samples = rows(10);
  expect_pytorchs_step(table(plain_sgd()), samples, [&](const auto& output) {
    return F::cross_entropy(output, samples.labels);
  });
}

TEST(Tasks, LabelSmoothingAndClassWeightsArePytorchs) {
  config::Config config = plain_sgd();
  config.train.label_smoothing = 0.2;
  config.train.class_weights = {0.5, 1, 3};
  const Samples samples = rows(10);
  expect_pytorchs_step(table(config), samples, [&](const auto& output) {
    return F::cross_entropy(
        output,
        samples.labels,
        F::CrossEntropyFuncOptions().label_smoothing(0.2).weight(
            at::tensor({0.5F, 1.0F, 3.0F})));
  });
}

TEST(Tasks, RegressionIsPytorchsMeanSquaredError) {
  const Samples samples = with_numbers(10, 2, false);
  const Sample sample = numbers(plain_sgd(), 2);
  expect_pytorchs_step(sample, samples, [&](const auto& output) {
    return F::mse_loss(output, samples.numbers);
  });
  const auto engine = sample.engine();
  EXPECT_EQ(engine->facts().task, "regression");
  engine->evaluate(samples.batch);
  const MetricSums sums = engine->take_evaluation_sums();
  const at::NoGradGuard no_grad;
  const at::Tensor error =
      sample.module()->forward({samples.inputs}) - samples.numbers;
  EXPECT_EQ(sums.numbers, 20);
  EXPECT_NEAR(sums.absolute_error, error.abs().sum().item<double>(), 1e-5);
  EXPECT_NEAR(sums.squared_error, error.square().sum().item<double>(), 1e-5);
}

TEST(Tasks, BceIsPytorchsOnLogits) {
  config::Config config = plain_sgd();
  config.train.loss = "bce";
  const Samples samples = with_numbers(10, 2, true);
  expect_pytorchs_step(numbers(config, 2), samples, [&](const auto& output) {
    return F::binary_cross_entropy_with_logits(output, samples.numbers);
  });
}

TEST(Tasks, BitsAreMultiLabelAndNumbersARegression) {
  data::SourceInfo info;
  info.target = data::Target::numbers;
  config::Config config;
  EXPECT_EQ(task_for(config, info), "regression");
  config.train.loss = "bce";
  EXPECT_EQ(task_for(config, info), "multi-label");
  config.train.task = "autoencode";
  EXPECT_EQ(task_for(config, info), "autoencode");
}

TEST(Tasks, AutoencodingWantsItsInputsBack) {
  config::Config config = plain_sgd();
  config.train.task = "autoencode";
  const Samples samples = with_numbers(10, 1, false);
  Sample sample = numbers(config, 6);
  sample.plan.target_shape = {1};
  expect_pytorchs_step(sample, samples, [&](const auto& output) {
    return F::mse_loss(output, samples.inputs);
  });
}

TEST(Tasks, NextTokenIsCrossEntropyOverEveryToken) {
  Sample sample;
  sample.config = plain_sgd();
  sample.zoo.name = "gpt_tiny";
  sample.zoo.context = 8;
  sample.zoo.vocabulary = 11;
  sample.zoo.dropout = 0;
  sample.info.input = data::Input::tokens;
  sample.info.target = data::Target::tokens;
  sample.plan.images = false;
  sample.plan.target_shape = {8};
  sample.classes = 0;
  at::manual_seed(9);
  const at::Tensor text = at::randint(11, {5, 9}, at::kLong);
  const Samples samples(
      text.narrow(1, 0, 8).contiguous(), text.narrow(1, 1, 8).contiguous());
  expect_pytorchs_step(sample, samples, [&](const auto& output) {
    return F::cross_entropy(output, samples.labels);
  });
  const auto engine = sample.engine();
  EXPECT_EQ(engine->facts().task, "next-token");
  engine->step(samples.batch, order(0));
  const MetricSums sums = engine->take_training_sums();
  EXPECT_EQ(sums.predictions, 40);
  EXPECT_EQ(sums.units, 40);
}

// Mixed inputs and soft targets are data's own; the loss over them PyTorch's.
TEST(Tasks, MixedImagesAreLearnedFromTheirSoftTargets) {
  for (const bool cut : {false, true}) {
    config::Config config = plain_sgd();
    config.train.label_smoothing = 0.1;
    (cut ? config.train.cutmix : config.train.mixup) = 1;
    const Sample sample = pictures(config, "cnn");
    const Samples samples = images(6, 3, 8);
    const BatchMix mix{
        config.train.mixup, config.train.cutmix, 0.1, 3, 0 /* seed */};
    const TensorBatch made = mixed(samples.batch, sample.plan, mix, 0);
    EXPECT_FALSE(at::equal(made.inputs, samples.inputs));
    EXPECT_TRUE(at::allclose(made.soft_targets.sum(1), at::ones({6})));
    const Samples beside(made.inputs.contiguous(), samples.labels);
    const auto module = sample.module();
    module->set_training(true);
    const at::Tensor loss =
        F::cross_entropy(module->forward({beside.inputs}), made.soft_targets);
    loss.backward();
    const auto engine = sample.engine();
    engine->step(samples.batch, order(0, 4, kLr));
    EXPECT_NEAR(engine->report().loss, loss.item<double>(), 2e-6);
    const auto weights = engine->weights();
    for (const auto& each : module->parameters())
      EXPECT_LE(
          (model::tensor_of(weights.at(each.name)) -
           (each.tensor.detach() - kLr * each.tensor.grad()))
              .abs()
              .max()
              .item<float>(),
          1e-6F)
          << each.name;
    EXPECT_EQ(engine->take_training_sums().units, 6);
  }
}

// Against the label of one of the two, accuracy would be that of a coin.
TEST(Tasks, AMixedImageIsRightWhenTakenForWhatItShowsMostOf) {
  config::Config config = plain_sgd();
  config.train.mixup = 1;
  const Samples samples(
      (4 * at::randn({24, 3, 1, 1})).expand({24, 3, 8, 8}).contiguous(),
      images(24, 3, 8).labels);
  const BatchMix mix{1, 0, 0, 3, 0 /* seed */};
  // Mixing permutes the labels: a network that takes all images for one class
  // does not tell the two ways of counting apart. Some take other colours for
  // other classes.
  bool told_apart = false; // from a count against the samples' own labels
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    Sample sample = pictures(config, "cnn");
    sample.zoo.seed = epoch;
    const TensorBatch made = mixed(samples.batch, sample.plan, mix, epoch);
    const at::Tensor labels = made.soft_targets.argmax(1);
    const auto module = sample.module();
    module->set_training(true);
    const at::Tensor taken_for = module->forward({made.inputs}).argmax(1);
    told_apart = told_apart ||
        !at::equal(taken_for.eq(labels).sum(),
                   taken_for.eq(samples.labels).sum());
    const auto engine = sample.engine();
    StepOrder step = order(0, 0, kLr);
    step.epoch = epoch;
    engine->step(samples.batch, step);
    EXPECT_EQ(
        engine->take_training_sums().correct,
        taken_for.eq(labels).sum().item<std::int64_t>())
        << "epoch " << epoch;
  }
  EXPECT_TRUE(told_apart);
}

TEST(Tasks, ThatDoNotSuitTheDataSaySo) {
  config::Config config;
  config.train.task = "regression";
  EXPECT_THAT(
      tests::complaint([&] { table(config).engine(); }),
      HasSubstr("train.task = regression needs numbers as targets"));
  config.train.task = "auto";
  config.train.loss = "mse";
  EXPECT_THAT(
      tests::complaint([&] { table(config).engine(); }),
      HasSubstr("train.loss = mse does not go with the task classification"));
}

TEST(Tasks, AnOutputThatDoesNotFitTheTargetsIsNamed) {
  Sample sample = numbers(plain_sgd(), 2);
  sample.plan.target_shape = {3};
  const Samples samples = with_numbers(10, 3, false);
  EXPECT_THAT(
      tests::complaint([&] { sample.engine()->step(samples.batch, order(0)); }),
      HasSubstr(
          "output float32 [10, 2] does not fit the targets float32 [10, 3]"));
}

} // namespace
} // namespace temper::train

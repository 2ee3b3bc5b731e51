#include "temper/train/torch_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <cstring>

#include "temper/model/executor.h"
#include "temper/model/zoo.h"
#include "temper/train/optimizer.h"
#include "temper/train/predictions.h"
#include "temper/train/tasks.h"

namespace temper::train {
namespace {

using ::testing::HasSubstr;

// Rows of numbers with labels, as a loader gives them.
struct Rows {
  explicit Rows(int count, int features = 6, int classes = 3) {
    torch::manual_seed(5);
    inputs = at::randn({count, features});
    labels = at::randint(classes, {count}, at::kLong);
    indices = at::arange(count, at::kLong);
    batch.size = count;
    batch.shape = {features};
    batch.element = data::Element::f32;
    batch.inputs = inputs.data_ptr<float>();
    batch.labels = labels.data_ptr<std::int64_t>();
    batch.indices = indices.data_ptr<std::int64_t>();
  }

  at::Tensor inputs;
  at::Tensor labels;
  at::Tensor indices;
  data::Batch batch;
};

std::unique_ptr<Engine> engine(
    const config::Config& config,
    double dropout = 0) {
  model::ZooOptions zoo;
  zoo.name = "mlp";
  zoo.image_size = 1;
  zoo.channels = 6;
  zoo.classes = 3;
  zoo.widths = {8};
  zoo.dropout = dropout;
  data::SourceInfo info;
  info.target = data::Target::label;
  TorchEngineParts parts;
  parts.config = config;
  parts.model_name = "mlp";
  parts.task = make_task(
      config, info, std::make_shared<model::GraphModule>(model::build(zoo)));
  parts.batch.images = false;
  parts.classes = 3;
  return make_torch_engine(std::move(parts));
}

config::Config sgd() {
  config::Config config;
  config.optimizer.name = "sgd";
  config.optimizer.weight_decay = 0;
  return config;
}

StepOrder order(std::int64_t update, int micro_batch = 0) {
  StepOrder made;
  made.update = update;
  made.lr = 0.1;
  made.micro_batch = micro_batch;
  return made;
}

double distance(const graph::Weights& a, const graph::Weights& b) {
  double squares = 0;
  for (const auto& [name, tensor] : a) {
    const auto* left = reinterpret_cast<const float*>(tensor.bytes.get());
    const auto* right = reinterpret_cast<const float*>(b.at(name).bytes.get());
    for (std::size_t i = 0; i < tensor.byte_count / sizeof(float); ++i)
      squares += std::pow(double{left[i]} - double{right[i]}, 2);
  }
  return std::sqrt(squares);
}

bool same_bits(const graph::Weights& a, const graph::Weights& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a)
    if (std::memcmp(
            tensor.bytes.get(), b.at(name).bytes.get(), tensor.byte_count) != 0)
      return false;
  return true;
}

// Every split of 37 samples gives the gradient of the whole batch: after one
// step of plain SGD the weights differ by rounding only.
TEST(TorchEngine, every_split_of_a_batch_gives_the_same_update) {
  config::Config config = sgd();
  config.optimizer.momentum = 0;
  config.train.label_smoothing = 0.1;
  config.train.class_weights = {0.5, 1, 3};
  const Rows rows(37);
  const auto fresh = engine(config)->weights();
  const auto whole = engine(config);
  whole->step(rows.batch, order(0));
  const double moved = distance(fresh, whole->weights());
  ASSERT_GT(moved, 1e-3);
  for (int micro = 1; micro <= 37; ++micro) {
    const auto split = engine(config);
    split->step(rows.batch, order(0, micro));
    EXPECT_LE(distance(whole->weights(), split->weights()), 2e-6 * moved)
        << "slices of " << micro;
    EXPECT_NEAR(split->report().loss, whole->report().loss, 1e-6);
  }
}

TEST(TorchEngine, a_captured_state_goes_on_bit_for_bit) {
  config::Config config;
  config.train.ema = 0.9;
  const Rows rows(16);
  const auto first = engine(config, 0.5);
  for (int i = 0; i < 3; ++i)
    first->step(rows.batch, order(i));
  const EngineState state = first->capture();
  for (int i = 3; i < 6; ++i)
    first->step(rows.batch, order(i));
  const auto second = engine(config, 0.5);
  second->restore(state);
  for (int i = 3; i < 6; ++i)
    second->step(rows.batch, order(i));
  EXPECT_TRUE(same_bits(first->capture().tensors, second->capture().tensors));
}

TEST(TorchEngine, dropout_differs_from_update_to_update) {
  config::Config config = sgd();
  const Rows rows(16);
  const auto one = engine(config, 0.5);
  const auto other = engine(config, 0.5);
  one->step(rows.batch, order(0));
  other->step(rows.batch, order(1));
  EXPECT_FALSE(same_bits(one->weights(), other->weights()));
}

TEST(TorchEngine, what_is_not_finite_changes_no_weight) {
  const auto trained = engine(sgd());
  Rows rows(8);
  trained->step(rows.batch, order(0));
  const auto before = trained->capture();
  rows.inputs[3][2] = std::nan("");
  try {
    trained->step(rows.batch, order(1));
    FAIL();
  } catch (const NotFinite& error) {
    EXPECT_THAT(error.what(), HasSubstr("the loss became nan in update 2"));
  }
  EXPECT_TRUE(same_bits(before.tensors, trained->capture().tensors));
}

TEST(TorchEngine, a_label_out_of_range_is_named_with_its_sample) {
  const auto trained = engine(sgd());
  Rows rows(8);
  rows.labels[5] = 3;
  try {
    trained->step(rows.batch, order(0));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("sample 5 has the label 3"));
    EXPECT_THAT(error.what(), HasSubstr("3 outputs: 0 to 2"));
  }
}

TEST(TorchEngine, a_gradient_is_clipped_to_its_length) {
  config::Config config = sgd();
  config.optimizer.momentum = 0;
  config.train.clip = 0.01;
  const Rows rows(16);
  const auto fresh = engine(config)->weights();
  const auto clipped = engine(config);
  clipped->step(rows.batch, order(0));
  EXPECT_GT(clipped->report().grad_norm, 0.01);
  EXPECT_NEAR(distance(fresh, clipped->weights()), 0.1 * 0.01, 1e-6);
}

TEST(TorchEngine, validation_sees_the_averaged_weights_and_leaves_no_trace) {
  config::Config config = sgd();
  config.train.ema = 0.99;
  const Rows rows(16);
  const auto trained = engine(config);
  for (int i = 0; i < 5; ++i)
    trained->step(rows.batch, order(i));
  const auto before = trained->capture();
  trained->evaluate(rows.batch);
  const MetricSums sums = trained->take_evaluation_sums();
  EXPECT_EQ(sums.samples, 16);
  EXPECT_EQ(sums.predictions, 16);
  EXPECT_EQ(sums.confusion.size(), 9U);
  EXPECT_TRUE(same_bits(before.tensors, trained->capture().tensors));
  config.train.ema = 0;
  const auto plain = engine(config);
  for (int i = 0; i < 5; ++i)
    plain->step(rows.batch, order(i));
  plain->evaluate(rows.batch);
  EXPECT_NE(plain->take_evaluation_sums().loss, sums.loss);
}

TEST(TorchEngine, a_checkpoint_of_another_model_is_refused) {
  const auto trained = engine(sgd());
  EngineState state = trained->capture();
  state.tensors.begin()->second.sizes = {1};
  EXPECT_THROW(trained->restore(state), Error);
  EXPECT_THROW(trained->restore({}), Error);
}

// LibTorch's own optimisers on the same gradients.
class Optimizers : public ::testing::TestWithParam<const char*> {};

TEST_P(Optimizers, move_parameters_as_pytorchs_do) {
  const std::string kind = GetParam();
  config::Optimizer options;
  options.name = kind == "nesterov" || kind == "momentum" ? "sgd" : kind;
  options.nesterov = kind == "nesterov";
  options.momentum = kind == "sgd" ? 0 : 0.9;
  options.weight_decay = 0.01;
  options.decay_all = true;
  torch::manual_seed(1);
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
    mine->step(0.05, i);
    reference->step();
    EXPECT_LE((ours - theirs).abs().max().item<float>(), 2e-6F)
        << kind << " update " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Optimizers,
    ::testing::Values("sgd", "momentum", "nesterov", "adam", "adamw"));

TEST(OptimizerRules, lion_steps_by_signs) {
  config::Optimizer options;
  options.name = "lion";
  options.weight_decay = 0;
  options.betas = {0.9, 0.99};
  at::Tensor w = at::zeros({2}).set_requires_grad(true);
  const auto lion = make_optimizer(options, {{"w", w, true}});
  w.mutable_grad() = at::tensor({0.5F, -3.0F});
  lion->step(0.1, 0);
  EXPECT_FLOAT_EQ(w[0].item<float>(), -0.1F);
  EXPECT_FLOAT_EQ(w[1].item<float>(), 0.1F);
  // The average still points the old way: 0.9 * 0.005 > 0.1 * 0.04.
  w.mutable_grad() = at::tensor({-0.04F, 0.0F});
  lion->step(0.1, 1);
  EXPECT_FLOAT_EQ(w[0].item<float>(), -0.2F);
}

TEST(OptimizerRules, norms_and_biases_do_not_decay) {
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
  rule->step(1, 0);
  EXPECT_FLOAT_EQ(matrix.item<float>(), 0.5F);
  EXPECT_FLOAT_EQ(bias.item<float>(), 1);
  EXPECT_FLOAT_EQ(frozen.item<float>(), 1);
}

TEST(Predictions, ties_and_rows_that_are_not_finite_are_judged_by_the_rule) {
  const float inf = HUGE_VALF;
  const at::Tensor scores =
      at::tensor({1.0F,
                  1.0F,
                  1.0F, // equal: the lowest class is the best
                  1.0F,
                  1.0F,
                  1.0F,
                  0.0F,
                  2.0F,
                  1.0F,
                  inf,
                  0.0F,
                  0.0F,
                  0.0F,
                  NAN,
                  0.0F})
          .reshape({5, 3});
  const at::Tensor labels = at::tensor({0, 1, 2, 0, 0}, at::kLong);
  PredictionCounts counts;
  counts.add(scores, labels, 2, true);
  MetricSums sums;
  counts.take(sums);
  EXPECT_EQ(sums.predictions, 5);
  EXPECT_EQ(sums.correct, 1);
  EXPECT_EQ(sums.correct_top, 3);
}

TEST(Predictions, tokens_are_predictions_too) {
  const at::Tensor scores = at::zeros({2, 4, 3}); // N x classes x tokens
  scores.select(1, 2).fill_(1);
  PredictionCounts counts;
  counts.add(scores, at::full({2, 3}, 2, at::kLong), 0, false);
  MetricSums sums;
  counts.take(sums);
  EXPECT_EQ(sums.predictions, 6);
  EXPECT_EQ(sums.correct, 6);
}

} // namespace
} // namespace temper::train

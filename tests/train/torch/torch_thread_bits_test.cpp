// A run that says that its bits do not depend on threads is
// state_after_steps_with with one, two and three of them.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "engine_samples.h"
#include "temper/train/setup/run_kernels.h"

namespace temper::train {
namespace {

struct Trained {
  graph::Weights state;
  double loss = 0;
  double norm = 0;
  MetricSums validation;
};

Trained
state_after_steps_with(const Sample& sample, const Samples& data, int threads) {
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  const auto engine = sample.engine();
  for (int update = 0; update < 3; ++update)
    engine->step(data.batch, reported(order(update, update == 1 ? 8 : 0)));
  engine->evaluate(data.batch);
  Trained made;
  made.validation = engine->take_evaluation_sums();
  made.loss = engine->report().loss;
  made.norm = engine->report().grad_norm;
  made.state = engine->capture().tensors;
  at::set_num_threads(before);
  return made;
}

bool claims(const Sample& sample) {
  RunModel model;
  model.program = model::build(sample.zoo);
  model.norm_group = sample.config.model.bn_group;
  plan::Setting setting;
  setting.kernels = plan::Kernels::fused;
  const EngineFacts facts = sample.engine()->facts();
  return kernels_of_run(
             sample.config,
             model,
             setting,
             {facts.loss, facts.loss_for_any_threads})
      .any_threads;
}

void expect_same_bits(const Sample& sample, const Samples& data) {
  const Trained one = state_after_steps_with(sample, data, 1);
  for (const int threads : {2, 3}) {
    SCOPED_TRACE(threads);
    const Trained several = state_after_steps_with(sample, data, threads);
    EXPECT_TRUE(same_bits(one.state, several.state));
    EXPECT_EQ(one.loss, several.loss);
    EXPECT_EQ(one.norm, several.norm);
    EXPECT_EQ(one.validation.loss, several.validation.loss);
    EXPECT_EQ(one.validation.correct, several.validation.correct);
  }
}

// Large enough that LibTorch would use its threads, too.
Sample images_of(const std::string& name, const config::Config& config) {
  Sample sample = pictures(config, name);
  sample.zoo.image_size = 32;
  sample.zoo.width = 0.5;
  sample.zoo.classes = 10;
  sample.classes = 10;
  sample.fused = true;
  sample.channels_last = true;
  sample.plan.model_channels_last = true;
  sample.info.target = data::Target::label;
  return sample;
}

config::Config adamw() {
  config::Config config;
  config.optimizer.name = "adamw";
  config.train.clip = 0.5;
  config.train.ema = 0.9;
  config.train.label_smoothing = 0.1;
  return config;
}

TEST(ThreadBits, ConvolutionalNetworksSayItAndKeepIt) {
  for (const char* name : {"mobilenet_v2", "resnet18", "cnn"}) {
    SCOPED_TRACE(name);
    const Sample sample = images_of(name, adamw());
    EXPECT_TRUE(claims(sample));
    expect_same_bits(sample, images(16, 3, 32, 10));
  }
}

TEST(ThreadBits, BatchNormInGroupsAndDropoutKeepIt) {
  config::Config config = sgd();
  config.model.bn_group = 4;
  Sample sample = images_of("mobilenet_v2", config);
  sample.zoo.dropout = 0.3;
  EXPECT_TRUE(claims(sample));
  expect_same_bits(sample, images(16, 3, 32, 10));
}

TEST(ThreadBits, LinearNetworksSayItAndKeepIt) {
  Sample sample = table(adamw());
  sample.zoo.channels = 300;
  sample.zoo.widths = {700, 300};
  sample.zoo.classes = 10;
  sample.classes = 10;
  sample.fused = true;
  EXPECT_TRUE(claims(sample));
  expect_same_bits(sample, rows(256, 300, 10));
}

// Transformers need not say it; who says it keeps it.
TEST(ThreadBits, WhoeverSaysItKeepsIt) {
  Sample sample = images_of("vit_tiny", adamw());
  sample.zoo.width = 1;
  sample.zoo.stem.clear();
  if (claims(sample)) expect_same_bits(sample, images(8, 3, 32, 10));
}

TEST(ThreadBits, LibTorchsOwnLayersDoNotSayIt) {
  Sample sample = images_of("cnn", sgd());
  sample.fused = false;
  EXPECT_FALSE(sample.engine()->facts().loss_for_any_threads);
}

} // namespace
} // namespace temper::train

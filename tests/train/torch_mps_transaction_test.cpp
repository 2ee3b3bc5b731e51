// The step as a transaction on the simulated device, where whether a step was
// finite is known late, and where LibTorch's operators make the update.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_samples.h"
#include "temper/libtorch/sim.h"

namespace temper::train {
namespace {

namespace sim = libtorch::sim;

Sample far(const std::string& network, const std::string& optimizer) {
  config::Config config;
  config.optimizer.name = optimizer;
  config.optimizer.nesterov = optimizer == "sgd";
  config.train.clip = 0.5;
  config.train.ema = 0.9;
  Sample sample = pictures(config, network);
  sample.plan.device = at::Device(at::kMPS, 0);
  return sample;
}

void fail(std::int64_t nth, bool always = false) {
  sim::Rules rules;
  rules.has_float64 = false;
  rules.fail_alloc = nth;
  rules.fail_always = always;
  sim::set_rules(rules);
}

class TransactionOnMps : public ::testing::TestWithParam<const char*> {
 protected:
  void TearDown() override {
    fail(0);
  }
};

TEST_P(TransactionOnMps, out_of_memory_anywhere_leaves_no_trace) {
  for (const char* network : {"cnn", "resnet18"}) {
    const Samples samples = images(7, 3, 8);
    const auto engine = far(network, GetParam()).engine();
    for (int i = 0; i < 2; ++i)
      engine->step(samples.batch, order(i, 4, 0.01));
    engine->take_training_sums();
    const EngineState before = engine->capture();
    const auto begin = sim::counts().allocations;
    engine->step(samples.batch, order(2, 4, 0.01));
    const auto allocations = sim::counts().allocations - begin;
    const EngineState after = engine->capture();
    ASSERT_FALSE(same_bits(before.tensors, after.tensors));
    int thrown = 0;
    const auto apart =
        std::max<std::int64_t>(5, allocations / 60); // every fifth, or fewer
    for (std::int64_t n = 1; n <= allocations; n += apart) {
      engine->restore(before);
      fail(n);
      bool committed = false;
      try {
        committed = engine->step(samples.batch, order(2, 4, 0.01));
      } catch (const OutOfMemory&) {
        ++thrown;
      }
      fail(0);
      if (!committed) {
        ASSERT_TRUE(same_bits(before.tensors, engine->capture().tensors)) << n;
        ASSERT_EQ(engine->take_training_sums().samples, 0) << n;
        engine->step(samples.batch, order(2, 4, 0.01));
      }
      ASSERT_TRUE(same_bits(after.tensors, engine->capture().tensors)) << n;
      ASSERT_EQ(engine->take_training_sums().predictions, 7) << n;
    }
    EXPECT_GT(thrown, 10);
  }
}

// Told late: statistics and sums are those before the bad step, too.
TEST_P(TransactionOnMps, nan_that_is_seen_late_leaves_no_trace) {
  Samples samples = images(7, 3, 8);
  const auto engine = far("resnet18", GetParam()).engine();
  for (int i = 0; i < 3; ++i)
    engine->step(samples.batch, order(i, 4, 0.01));
  engine->take_training_sums();
  const EngineState before = engine->capture();
  engine->step(samples.batch, order(3, 4, 0.01)); // good, and counts
  const EngineState good = engine->capture();
  engine->restore(before);
  engine->step(samples.batch, order(3, 4, 0.01));
  const at::Tensor kept = samples.inputs.clone();
  samples.inputs[5].fill_(std::nan(""));
  engine->step(samples.batch, order(4, 4, 0.01));
  samples.inputs.copy_(kept);
  const auto waits = sim::counts().syncs;
  for (int i = 5; i < 9; ++i)
    engine->step(samples.batch, order(i, 4, 0.01));
  EXPECT_EQ(sim::counts().syncs, waits) << "nothing waits for the device";
  try {
    engine->take_training_sums();
    ADD_FAILURE() << "it was not seen";
  } catch (const NotFinite& bad) {
    EXPECT_EQ(bad.update, 4);
    EXPECT_EQ(bad.samples.size(), 7U);
  }
  EXPECT_TRUE(same_bits(good.tensors, engine->capture().tensors));
  const MetricSums sums = engine->take_training_sums();
  EXPECT_EQ(sums.samples, 7);
  EXPECT_EQ(sums.predictions, 7);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    TransactionOnMps,
    ::testing::Values("sgd", "adamw", "lion"));

} // namespace
} // namespace temper::train

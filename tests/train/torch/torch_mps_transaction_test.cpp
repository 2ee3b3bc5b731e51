// The step as a transaction on the simulated device, where whether a step was
// finite is known late, and where LibTorch's operators make the update.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_samples.h"
#include "short_memory.h"
#include "temper/graph/build/builder.h"
#include "temper/libtorch/sim/sim.h"
#include "temper/model/zoo/init.h"

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

void fail(std::int64_t nth, bool from_then_on) {
  sim::Rules rules;
  rules.has_float64 = false;
  rules.fail_alloc = nth;
  rules.fail_always = from_then_on;
  sim::set_rules(rules);
}

DeviceMemory device_memory() {
  return {fail, [] { return sim::counts().allocations; }};
}

// All that a step can change, in few allocations: BatchNorm and dropout.
graph::Program dropout_network() {
  graph::Builder b("transaction");
  graph::Value x = b.input("x", graph::DType::kFloat32, {3, 8, 8});
  x = b.conv2d("conv", x, {.out = 4, .kernel = 3, .padding = 1, .bias = false});
  x = b.batch_norm("bn", x);
  x = b.relu("relu", x);
  x = b.flatten("flatten", x, 1);
  x = b.dropout("dropout", x, 0.3);
  x = b.linear("fc", x, {.out = 3});
  return model::initialise(b.finish(x), 7);
}

std::unique_ptr<Engine> small(const std::string& optimizer) {
  const Sample sample = far("cnn", optimizer);
  return sample.engine(make_task(
      sample.config,
      sample.info,
      std::make_shared<model::GraphModule>(dropout_network())));
}

// Every fifth of a small network's, and some of a large one's; or all.
std::set<std::int64_t> mps_points(const ShortMemory& memory, bool is_small) {
  constexpr std::int64_t kOfLarge = 20;
  const std::int64_t all = memory.allocations();
  if (every_allocation()) return spread(all, all);
  return spread(all, is_small ? 2 + all / 5 : kOfLarge);
}

class TransactionOnMps : public ::testing::TestWithParam<const char*> {
 protected:
  using Try = void (ShortMemory::*)(std::int64_t);

  void try_all(bool is_small, Try each, bool may_be_half_done) {
    const Samples samples = images(7, 3, 8);
    const auto engine =
        is_small ? small(GetParam()) : far("resnet18", GetParam()).engine();
    ShortMemory memory(*engine, samples, device_memory());
    memory.expect_no_more_allocations();
    const auto all = mps_points(memory, is_small);
    for (const std::int64_t n : all) {
      (memory.*each)(n);
      if (HasFailure()) return;
    }
    EXPECT_GT(memory.taken_back, 3);
    // LibTorch's operators make the update, and take memory for it.
    EXPECT_EQ(memory.half_done > 3, may_be_half_done);
    RecordProperty("cases", static_cast<int>(all.size()));
  }
};

TEST_P(TransactionOnMps, OutOfMemoryOnceLeavesNoTrace) {
  try_all(true, &ShortMemory::fail_once, false);
}

TEST_P(TransactionOnMps, OutOfMemoryForGoodLeavesNoTrace) {
  try_all(true, &ShortMemory::fail_from, true);
}

TEST_P(TransactionOnMps, OutOfMemoryOnceInAResnetLeavesNoTrace) {
  try_all(false, &ShortMemory::fail_once, false);
}

TEST_P(TransactionOnMps, OutOfMemoryForGoodInAResnetLeavesNoTrace) {
  try_all(false, &ShortMemory::fail_from, true);
}

// Told late: statistics and sums are those before the bad step, too.
TEST_P(TransactionOnMps, NanThatIsSeenLateLeavesNoTrace) {
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

// A step is a transaction: whatever fails in it, all is as before, bit for bit,
// and the same step done again ends where an undisturbed one does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_samples.h"
#include "failing_allocator.h"
#include "short_memory.h"
#include "tests/complaint.h"

namespace temper::train {
namespace {

using testing::HasSubstr;
using tests::complaint;
using tests::FailingAllocator;

// One for the program: LibTorch keeps the pointer.
FailingAllocator& allocator() {
  static auto* made = new FailingAllocator;
  return *made;
}

config::Config everything(const std::string& optimizer) {
  config::Config config;
  config.optimizer.name = optimizer;
  config.optimizer.nesterov = optimizer == "sgd";
  config.train.clip = 0.5;
  config.train.ema = 0.9;
  return config;
}

struct TransactionCase {
  const char* name;
  const char* network;
  const char* optimizer;
  config::Precision precision = config::Precision::fp32;
  const char* moments = "fp32";
};
void PrintTo(const TransactionCase& each, std::ostream* out) {
  *out << each.name;
}

Sample sample_of(const TransactionCase& each) {
  config::Config config = everything(each.optimizer);
  config.optimizer.moments = each.moments;
  Sample sample = pictures(config, each.network);
  sample.precision = each.precision;
  if (std::string(each.network) == "cnn") sample.zoo.dropout = 0.3;
  return sample;
}

DeviceMemory host_memory() {
  return {
      [](std::int64_t nth, bool from_then_on) {
        allocator().fail(nth, from_then_on);
      },
      [] { return allocator().count.load(); }};
}

std::set<std::int64_t> points(const ShortMemory& memory) {
  constexpr std::int64_t kShortForm = 20;
  return spread(
      memory.allocations(),
      every_allocation() ? memory.allocations() : kShortForm);
}

class Transaction : public ::testing::TestWithParam<TransactionCase> {};

TEST_P(Transaction, OutOfMemoryOnceLeavesNoTrace) {
  const Samples samples = images(7, 3, 8);
  const auto engine = sample_of(GetParam()).engine();
  ShortMemory memory(*engine, samples, host_memory());
  ASSERT_GT(memory.allocations(), 20);
  memory.expect_no_more_allocations();
  const auto all = points(memory);
  for (const std::int64_t n : all) {
    memory.fail_once(n);
    if (HasFailure()) return;
  }
  EXPECT_GE(memory.taken_back, 5);
  EXPECT_EQ(memory.half_done, 0);
  RecordProperty("cases", static_cast<int>(all.size()));
}

TEST_P(Transaction, OutOfMemoryForGoodLeavesNoTrace) {
  const Samples samples = images(7, 3, 8);
  const auto engine = sample_of(GetParam()).engine();
  ShortMemory memory(*engine, samples, host_memory());
  const auto all = points(memory);
  for (const std::int64_t n : all) {
    memory.fail_from(n);
    if (HasFailure()) return;
  }
  EXPECT_GE(memory.taken_back, 5);
  // The kernels that update float32 take no memory; LibTorch's operators do.
  const bool kernels = GetParam().precision != config::Precision::fp64 &&
      std::string(GetParam().moments) == "fp32";
  EXPECT_EQ(memory.half_done == 0, kernels);
  RecordProperty("cases", static_cast<int>(all.size()));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Transaction,
    ::testing::Values(
        TransactionCase{"resnet18_adamw", "resnet18", "adamw"},
        TransactionCase{"cnn_sgd", "cnn", "sgd"},
        TransactionCase{
            "cnn_lion_float64",
            "cnn",
            "lion",
            config::Precision::fp64},
        TransactionCase{
            "resnet18_adam_float64",
            "resnet18",
            "adam",
            config::Precision::fp64},
        TransactionCase{
            "cnn_adamw_bf16_moments",
            "cnn",
            "adamw",
            config::Precision::fp32,
            "bf16"},
        TransactionCase{
            "cnn_adam_scaled",
            "cnn",
            "adam",
            config::Precision::scaled}),
    [](const auto& each) { return each.param.name; });

TEST(TransactionOfEvaluation, OutOfMemoryLeavesTheSumsAsTheyWere) {
  config::Config config = everything("adamw");
  const Samples samples = images(7, 3, 8);
  const auto engine = pictures(config, "resnet18").engine();
  engine->step(samples.batch, order(0));
  engine->evaluate(samples.batch);
  allocator().fail(0);
  engine->evaluate(samples.batch);
  const std::int64_t allocations = allocator().count;
  const MetricSums whole = engine->take_evaluation_sums();
  int thrown = 0;
  int cases = 0;
  const int apart = every_allocation() ? 1 : 3;
  for (std::int64_t n = 1; n <= allocations; n += apart) {
    ++cases;
    engine->evaluate(samples.batch);
    allocator().fail(n);
    try {
      engine->evaluate(samples.batch);
      allocator().fail_no_more();
    } catch (const OutOfMemory&) {
      allocator().fail_no_more();
      ++thrown;
      engine->evaluate(samples.batch);
    }
    const MetricSums sums = engine->take_evaluation_sums();
    EXPECT_EQ(sums.loss, whole.loss) << n;
    EXPECT_EQ(sums.samples, whole.samples) << n;
    EXPECT_EQ(sums.predictions, whole.predictions) << n;
    EXPECT_EQ(sums.confusion, whole.confusion) << n;
  }
  EXPECT_GT(thrown, 10);
  RecordProperty("cases", cases);
  // And in slices.
  engine->set_evaluation_slice(3);
  engine->evaluate(samples.batch);
  engine->evaluate(samples.batch);
  const MetricSums sliced = engine->take_evaluation_sums();
  EXPECT_NEAR(sliced.loss, whole.loss, 1e-5 * whole.loss);
  EXPECT_EQ(sliced.confusion, whole.confusion);
  EXPECT_EQ(sliced.samples, 14);
}

// What is not finite, and where it comes from.
void expect_refused(Engine& engine, Samples& samples, double lr = 0.01) {
  const EngineState before = engine.capture();
  engine.take_training_sums();
  std::vector<std::int64_t> named;
  try {
    engine.step(samples.batch, reported(order(2, 4, lr)));
    ADD_FAILURE() << "it was committed";
  } catch (const NotFinite& bad) {
    named = bad.samples;
    EXPECT_EQ(bad.update, 2);
  }
  EXPECT_EQ(named.size(), 7U);
  EXPECT_TRUE(same_bits(before.tensors, engine.capture().tensors));
  EXPECT_EQ(engine.take_training_sums().predictions, 0);
}

std::unique_ptr<Engine> trained(const Sample& sample, const Samples& samples) {
  auto engine = sample.engine();
  for (int i = 0; i < 2; ++i)
    engine->step(samples.batch, order(i, 4, 0.01));
  return engine;
}

TEST(TransactionOfNumbers, NanInAnInputChangesNothing) {
  for (const char* optimizer : {"sgd", "adamw"}) {
    Samples samples = images(7, 3, 8);
    const auto engine =
        trained(pictures(everything(optimizer), "resnet18"), samples);
    samples.inputs[6][1][2][3] = std::nan(""); // in the second slice
    expect_refused(*engine, samples);
  }
}

TEST(TransactionOfNumbers, AVarianceThatOverflowsChangesNothing) {
  Samples samples = images(7, 3, 8);
  const auto engine =
      trained(pictures(everything("adamw"), "resnet18"), samples);
  samples.inputs[2].mul_(1e30);
  expect_refused(*engine, samples);
}

// A loss of nothing whose slope is not a number.
TEST(TransactionOfNumbers, NanInOneGradientChangesNothing) {
  Samples samples = images(7, 3, 8);
  const Sample sample = pictures(everything("adamw"), "resnet18");
  bool poisoned = false;
  const auto module = sample.module();
  const auto engine = sample.engine(std::make_unique<OwnTask>(
      module, [&](Task& task, const TensorBatch& batch) {
        at::Tensor loss = at::cross_entropy_loss(
            task.model().forward({batch.inputs}),
            batch.targets,
            {},
            at::Reduction::Sum);
        if (poisoned) {
          const at::Tensor w = task.model().parameters()[0].tensor;
          loss = loss + (w - w.detach()).square().sum().sqrt();
        }
        task.add("seen", at::ones({}), 1);
        return loss;
      }));
  for (int i = 0; i < 2; ++i)
    engine->step(samples.batch, order(i, 4, 0.01));
  poisoned = true;
  expect_refused(*engine, samples);
  EXPECT_TRUE(engine->take_training_sums().own.empty());
  poisoned = false;
  EXPECT_TRUE(engine->step(samples.batch, order(2, 4, 0.01)));
  EXPECT_EQ(engine->take_training_sums().own.at("seen").second, 2);
}

TEST(TransactionOfNumbers, ALossAboveTheLimitChangesNothing) {
  Samples samples = images(7, 3, 8);
  const auto engine = trained(pictures(everything("adamw"), "cnn"), samples);
  const EngineState before = engine->capture();
  StepOrder limited = order(2, 4, 0.01);
  limited.loss_limit = 1e-3;
  EXPECT_THAT(
      complaint([&] { engine->step(samples.batch, limited); }),
      HasSubstr("the loss jumped to"));
  EXPECT_TRUE(same_bits(before.tensors, engine->capture().tensors));
  limited.loss_limit = 1e3;
  EXPECT_TRUE(engine->step(samples.batch, limited));
}

// fp16's own way out: the scale is halved, and nothing else happens.
TEST(TransactionOfNumbers, AnOverflowLeavesStatisticsAndSumsAlone) {
  Samples samples = images(7, 3, 8);
  Sample sample = pictures(everything("adamw"), "resnet18");
  sample.precision = config::Precision::scaled;
  const auto engine = trained(sample, samples);
  const EngineState before = engine->capture();
  engine->take_training_sums();
  samples.inputs[2].mul_(1e30);
  EXPECT_FALSE(engine->step(samples.batch, order(2, 4, 0.01)));
  EngineState after = engine->capture();
  EXPECT_FALSE(same_bits(before.tensors, after.tensors));
  after.tensors["scaler.state"] = before.tensors.at("scaler.state");
  EXPECT_TRUE(same_bits(before.tensors, after.tensors));
  EXPECT_EQ(engine->take_training_sums().predictions, 0);
}

} // namespace
} // namespace temper::train

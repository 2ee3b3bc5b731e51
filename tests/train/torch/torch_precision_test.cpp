// Half precision, the loss scale, and the layout of weights in the engine.
#include <gtest/gtest.h>

#include <cmath>

#include "engine_samples.h"
#include "temper/base/error.h"
#include "tests/half_precision.h"

namespace temper::train {
namespace {

// Relative to the length of b.
double relative(const graph::Weights& a, const graph::Weights& b) {
  graph::Weights nothing;
  for (const auto& [name, tensor] : b)
    nothing[name] = graph::make_tensor(tensor.dtype, tensor.sizes).data;
  return distance(a, b) / distance(b, nothing);
}

graph::Weights gradients(const Sample& sample, const Samples& batch) {
  const auto engine = sample.engine();
  engine->step(batch.batch, order(0));
  return engine->gradients();
}

TEST(TorchPrecision, Bf16IsAsFarFromFp32AsItsBitsAreFew) {
  if (tests::bf16_is_kept_from_onednn()) GTEST_SKIP() << tests::kNoBf16;
  const Samples batch = images(16, 3, 8);
  Sample sample = pictures(plain_sgd(), "cnn");
  const auto plain = gradients(sample, batch);
  sample.precision = config::Precision::bf16;
  const double off = relative(gradients(sample, batch), plain);
  EXPECT_GT(off, 1e-4) << "nothing was computed in half precision";
  // A value on its way to a gradient is rounded seven times a layer: input,
  // weight and result, then the gradient that arrives, the weight again, the
  // gradient handed on and the weight's own. Each is off by 2^-8 at most, and
  // to first order they add up.
  constexpr double kRoundings = 7;
  constexpr double kLayers = 2; // of the cnn
  EXPECT_LT(off, kLayers * kRoundings * std::ldexp(1, -8));
}

TEST(TorchPrecision, Bf16KeepsWeightsAndStateInFloat32) {
  if (tests::bf16_is_kept_from_onednn()) GTEST_SKIP() << tests::kNoBf16;
  Sample sample = pictures(sgd(), "resnet18");
  sample.precision = config::Precision::bf16;
  const auto engine = sample.engine();
  engine->step(images(8, 3, 8).batch, order(0));
  for (const auto& [name, tensor] : engine->capture().tensors) {
    if (!graph::is_floating(tensor.dtype)) continue;
    EXPECT_EQ(tensor.dtype, graph::DType::kFloat32) << name;
  }
}

TEST(TorchPrecision, ChannelsLastComputesTheSame) {
  const Samples batch = images(16, 3, 8);
  Sample sample = pictures(plain_sgd(), "resnet18");
  const auto plain = gradients(sample, batch);
  sample.channels_last = true;
  EXPECT_LT(relative(gradients(sample, batch), plain), 1e-4);
  // And a state goes from one layout to the other.
  const auto last = sample.engine();
  last->step(batch.batch, order(0));
  sample.channels_last = false;
  const auto first = sample.engine();
  first->restore(last->capture());
  EXPECT_TRUE(same_bits(first->weights(), last->weights()));
}

TEST(LossScaling, ChangesNothingWhenNothingOverflows) {
  const Samples batch = rows(16);
  Sample sample = table(sgd());
  const auto plain = sample.engine();
  sample.precision = config::Precision::scaled;
  const auto scaled = sample.engine();
  for (int i = 0; i < 3; ++i) {
    plain->step(batch.batch, order(i, 5));
    EXPECT_TRUE(scaled->step(batch.batch, order(i, 5)));
  }
  EXPECT_TRUE(same_bits(plain->weights(), scaled->weights()));
}

// A number in fp16 on the way: 65536 / 16 samples x 100 is beyond it, and so
// it is until the scale is 8192.
std::unique_ptr<Task> large_loss(const Sample& sample) {
  return std::make_unique<OwnTask>(
      sample.module(), [](Task& task, const TensorBatch& batch) {
        const at::Tensor output = task.model().forward({batch.inputs});
        return output.to(at::kHalf).mul(100).to(at::kFloat).sum();
      });
}

TEST(LossScaling, AnOverflowLeavesTheUpdateOutAndHalvesTheScale) {
  const Samples batch = rows(16);
  Sample sample = table(plain_sgd());
  sample.precision = config::Precision::scaled;
  const auto engine = sample.engine(large_loss(sample));
  const auto before = engine->weights();
  int left_out = 0;
  while (!engine->step(batch.batch, order(0, 0, 1e-3))) {
    EXPECT_TRUE(same_bits(engine->weights(), before));
    ASSERT_LT(++left_out, 16);
  }
  EXPECT_EQ(left_out, 3);
  EXPECT_FALSE(same_bits(engine->weights(), before));
  // The scale that fits is kept, also across a checkpoint.
  const auto resumed = sample.engine(large_loss(sample));
  resumed->restore(engine->capture());
  EXPECT_TRUE(engine->step(batch.batch, order(1, 0, 1e-3)));
  EXPECT_TRUE(resumed->step(batch.batch, order(1, 0, 1e-3)));
  EXPECT_TRUE(same_bits(engine->capture().tensors, resumed->capture().tensors));
}

TEST(LossScaling, AGradientThatNeverFitsEndsTheRun) {
  const Samples batch = rows(16);
  Sample sample = table(plain_sgd());
  sample.precision = config::Precision::scaled;
  const auto engine = sample.engine(std::make_unique<OwnTask>(
      sample.module(), [](Task& task, const TensorBatch& inputs) {
        return task.model().forward({inputs.inputs}).sum() / 0.0;
      }));
  const auto before = engine->weights();
  EXPECT_THROW(
      {
        for (int i = 0; i < 20; ++i)
          engine->step(batch.batch, order(0));
      },
      Error);
  EXPECT_TRUE(same_bits(engine->weights(), before));
}

} // namespace
} // namespace temper::train

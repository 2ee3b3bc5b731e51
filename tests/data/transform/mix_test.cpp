// How mixing draws; what it computes is held against torchvision in
// golden_test.cpp.
#include "temper/data/transform/mix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace temper::data {
namespace {

TEST(Mix, LambdaFollowsTheBetaDistribution) {
  for (const double alpha : {0.2, 1.0, 4.0}) {
    double sum = 0, squares = 0;
    constexpr int kDraws = 20'000;
    for (int i = 0; i < kDraws; ++i) {
      auto random = batch_stream(1, 0, i);
      const double x = draw_lambda(alpha, random);
      ASSERT_GE(x, 0);
      ASSERT_LE(x, 1);
      sum += x;
      squares += x * x;
    }
    const double mean = sum / kDraws;
    const double variance = squares / kDraws - mean * mean;
    EXPECT_NEAR(mean, 0.5, 0.01) << alpha;
    EXPECT_NEAR(variance, 1 / (4 * (2 * alpha + 1)), 0.004) << alpha;
  }
}

TEST(Mix, TinyAlphasGiveNumbers) {
  auto random = batch_stream(1, 0, 0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(std::isnan(draw_lambda(1e-3, random)));
  }
}

struct MixedBatch {
  std::vector<float> inputs, targets;
  MixBatch view(bool channels_last) {
    return {inputs.data(), targets.data(), 4, 8, 8, 3, 4, channels_last};
  }
  // Sample n is all n.
  MixedBatch() : inputs(4 * 8 * 8 * 3), targets(16) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = static_cast<float>(i / 192);
    }
    const std::int64_t labels[] = {0, 1, 2, 3};
    one_hot(labels, 4, 4, 0, targets.data());
  }
};

TEST(Mix, EachSampleMeetsTheOneBeforeIt) {
  MixedBatch batch;
  mixup(batch.view(true), 0.75);
  EXPECT_FLOAT_EQ(batch.inputs[0], 0.75F * 0 + 0.25F * 3);
  EXPECT_FLOAT_EQ(batch.inputs[192], 0.75F * 1 + 0.25F * 0);
  EXPECT_FLOAT_EQ(batch.targets[3], 0.25F);
  EXPECT_FLOAT_EQ(batch.targets[0], 0.75F);
}

TEST(Mix, CutmixTargetsFollowTheAreaInBothLayouts) {
  for (const bool channels_last : {true, false}) {
    MixedBatch batch;
    cutmix(batch.view(channels_last), {2, 4, 4, 2});
    float sum = 0; // of sample 1, whose box became 0
    for (std::size_t i = 192; i < 384; ++i) {
      sum += batch.inputs[i];
    }
    EXPECT_EQ(sum, 192 - 8 * 3);
    EXPECT_FLOAT_EQ(batch.targets[4], 8.0F / 64);
    EXPECT_FLOAT_EQ(batch.targets[5], 56.0F / 64);
    const std::size_t at = channels_last ? (4 * 8 + 2) * 3 : 4 * 8 + 2;
    EXPECT_EQ(batch.inputs[192 + at], 0);
    EXPECT_EQ(batch.inputs[192 + at - 1], 1);
  }
}

TEST(Mix, IsAFunctionOfSeedEpochAndBatch) {
  const auto of = [](std::uint64_t seed, std::uint32_t epoch, int number) {
    MixedBatch batch;
    mix(batch.view(true), {0.8, 1.0}, batch_stream(seed, epoch, number));
    return batch.inputs;
  };
  EXPECT_EQ(of(1, 2, 3), of(1, 2, 3));
  EXPECT_NE(of(1, 2, 3), of(1, 2, 4));
  EXPECT_NE(of(1, 2, 3), of(1, 3, 3));
  MixedBatch untouched, same;
  mix(same.view(true), {}, batch_stream(1, 2, 3));
  EXPECT_EQ(same.inputs, untouched.inputs);
}

TEST(Mix, SmoothedTargetsSumToOne) {
  const std::int64_t labels[] = {2};
  std::vector<float> row(4);
  one_hot(labels, 1, 4, 0.1F, row.data());
  EXPECT_FLOAT_EQ(row[0], 0.025F);
  EXPECT_FLOAT_EQ(row[2], 0.925F);
}

} // namespace
} // namespace temper::data

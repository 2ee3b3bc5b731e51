#include "temper/graph/build/fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/random/philox.h"
#include "tests/graph/float_values.h"

namespace temper::graph {
namespace {

std::vector<float>
drawn(const Fill& fill, std::int64_t count, std::uint64_t seed = 1) {
  return floats(draw(fill, DType::kFloat32, {count}, seed, "fc.weight"));
}

// Mean of the powers, up to the fourth.
struct Moments {
  double mean = 0;
  double variance = 0;
  double fourth = 0; // over variance squared: 3 for a normal, 1.8 for a uniform
};

Moments moments(const std::vector<float>& values) {
  Moments of;
  const double count = static_cast<double>(values.size());
  for (const double value : values)
    of.mean += value / count;
  for (const double value : values)
    of.variance += std::pow(value - of.mean, 2) / count;
  for (const double value : values)
    of.fourth += std::pow(value - of.mean, 4) / count;
  of.fourth /= of.variance * of.variance;
  return of;
}

constexpr std::uint64_t kNormalHash = 0x596E53581E385DF3U;
constexpr std::uint64_t kUniformHash = 0x80B161D83C9EB7D9U;
constexpr std::int64_t kMany = 400'000;

TEST(Fill, ANormalHasItsMeanDeviationAndTails) {
  const std::vector<float> values = drawn(normal(0.02), kMany);
  const Moments of = moments(values);
  EXPECT_NEAR(of.mean, 0, 0.02 * 5 / std::sqrt(kMany));
  EXPECT_NEAR(std::sqrt(of.variance), 0.02, 0.02 * 0.006);
  EXPECT_NEAR(of.fourth, 3, 0.05);
  const auto beyond = std::count_if(values.begin(), values.end(), [](float v) {
    return std::abs(v) > 0.06F;
  });
  EXPECT_NEAR(static_cast<double>(beyond) / kMany, 0.0027, 0.0004);
}

TEST(Fill, ANormalHasNoTiesBetweenNeighbours) {
  const std::vector<float> values = drawn(normal(1), kMany);
  double product = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    product += double{values[i]} * double{values[i - 1]} / kMany;
  EXPECT_NEAR(product, 0, 5 / std::sqrt(kMany));
}

TEST(Fill, ANormalNumberIsBoxAndMullers) {
  // The arithmetic of its own agrees with the C library's, which draws the
  // pair's first number from the same two words.
  RandomStream stream(1, 0, hash64("fc.weight"));
  const std::vector<float> values = drawn(normal(1), 2000);
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const double radius =
        std::sqrt(-2 * std::log((stream.bits() + 1.0) / 4294967296.0));
    const double angle = stream.bits() / 4294967296.0 * 6.283185307179586;
    EXPECT_NEAR(values[i], radius * std::cos(angle), 1e-6);
    EXPECT_NEAR(values[i + 1], radius * std::sin(angle), 1e-6);
  }
}

TEST(Fill, AUniformStaysWithinItsBoundAndReachesIt) {
  const std::vector<float> values = drawn(uniform(0.25), kMany);
  const Moments of = moments(values);
  EXPECT_NEAR(of.mean, 0, 0.001);
  EXPECT_NEAR(std::sqrt(of.variance), 0.25 / std::sqrt(3), 0.001);
  EXPECT_NEAR(of.fourth, 1.8, 0.02);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*low, -0.25F);
  EXPECT_LT(*low, -0.2499F);
  EXPECT_LE(*high, 0.25F);
  EXPECT_GT(*high, 0.2499F);
}

TEST(Fill, ATruncatedNormalDrawsAgainWhatLiesBeyond) {
  const std::vector<float> values = drawn(truncated_normal(1, 1.5), kMany);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*low, -1.5F);
  EXPECT_LE(*high, 1.5F);
  // Its variance is 1 - 2 b phi(b) / (2 Phi(b) - 1).
  EXPECT_NEAR(std::sqrt(moments(values).variance), 0.7427, 0.003);
}

TEST(Fill, AConstantIsTheSameEverywhere) {
  for (const float value : drawn(constant(0.5), 100))
    EXPECT_EQ(value, 0.5F);
}

// These bits were drawn on x86-64 with GCC; another machine must agree.
TEST(Fill, TheSameBitsOnEveryMachine) {
  const std::vector<float> values = drawn(normal(0.02), 100'001);
  EXPECT_EQ(hash64(values.data(), values.size() * sizeof(float)), kNormalHash);
  const std::vector<float> flat = drawn(uniform(0.1), 100'001);
  EXPECT_EQ(hash64(flat.data(), flat.size() * sizeof(float)), kUniformHash);
}

TEST(Fill, SeedAndNameAloneDecide) {
  const auto bits = [](std::uint64_t seed, const char* name) {
    return floats(draw(normal(1), DType::kFloat32, {8}, seed, name));
  };
  EXPECT_EQ(bits(1, "a"), bits(1, "a"));
  EXPECT_NE(bits(1, "a"), bits(2, "a"));
  EXPECT_NE(bits(1, "a"), bits(1, "b"));
  // A longer tensor begins like a shorter one.
  const std::vector<float> longer =
      floats(draw(normal(1), DType::kFloat32, {9}, 1, "a"));
  EXPECT_TRUE(
      std::equal(longer.begin(), longer.begin() + 8, bits(1, "a").begin()));
}

TEST(Fill, FansAreThoseOfPytorch) {
  EXPECT_EQ(fan_in({10, 512}), 512);
  EXPECT_EQ(fan_out({10, 512}), 10);
  EXPECT_EQ(fan_in({64, 3, 7, 7}), 147);
  EXPECT_EQ(fan_out({64, 3, 7, 7}), 3136);
  EXPECT_EQ(fan_in({96, 1, 3, 3}), 9); // of a depthwise convolution
  EXPECT_EQ(uniform_fan_in({10, 64}), uniform(0.125));
}

TEST(Fill, CountersAreWholeNumbersAndOtherTypesAreRefused) {
  const TensorData counter = draw(constant(0), DType::kInt64, {}, 1, "n");
  EXPECT_EQ(counter.byte_count, 8U);
  EXPECT_THROW(draw(normal(1), DType::kFloat16, {2}, 1, "n"), Error);
}

} // namespace
} // namespace temper::graph

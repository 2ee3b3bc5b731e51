#include "temper/train/calibrate/parity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "temper/graph/ir/elements.h"

namespace temper::train {
namespace {

graph::TensorData doubles(const std::vector<double>& values) {
  return graph::tensor_of(
      graph::DType::kFloat64,
      {static_cast<std::int64_t>(values.size())},
      values);
}

Computed computed(double off) {
  Computed made;
  made.gradients["fc.weight"] = doubles({3 + off, 4});
  made.gradients["fc.bias"] = doubles({0, 1});
  made.statistics["bn.running_mean"] = doubles({1, 2});
  made.eval_loss = 2;
  return made;
}

// Float32 is off by that part of a gradient of length 5.
ParityReference reference(double own = 1e-5) {
  return {{computed(0), computed(5 * own)}, computed(0)};
}

TEST(Parity, AgreesWithinAFewTimesFloat32sOwnError) {
  EXPECT_TRUE(
      compare(computed(1e-4), reference(), config::Precision::fp32).agrees);
  const auto parity =
      compare(computed(1e-2), reference(), config::Precision::fp32);
  EXPECT_FALSE(parity.agrees);
  EXPECT_EQ(parity.parameter, "fc.weight");
  EXPECT_NEAR(parity.difference, 2e-3, 1e-9);
  EXPECT_NEAR(parity.allowed, 1e-4, 1e-9);
}

// Ten times float32's error for each type, times 2 for each bit it lacks.
TEST(Parity, AllowsHalfPrecisionItsFewerBits) {
  const ParityReference good = reference(1e-7);
  EXPECT_NEAR(
      compare(computed(0), good, config::Precision::bf16).allowed,
      0.0655,
      1e-4);
  EXPECT_NEAR(
      compare(computed(0), good, config::Precision::fp16).allowed,
      0.0082,
      1e-4);
  EXPECT_TRUE(compare(computed(0.3), good, config::Precision::bf16).agrees);
  EXPECT_FALSE(compare(computed(0.4), good, config::Precision::bf16).agrees);
  EXPECT_FALSE(compare(computed(0.3), good, config::Precision::fp16).agrees);
}

// Ten roundings where float32 has no error to measure, and never so much that
// the network would train on noise.
TEST(Parity, WhatHalfPrecisionIsAllowedHasLimits) {
  const ParityReference exact = reference(0);
  EXPECT_NEAR(
      compare(computed(0), exact, config::Precision::bf16).allowed,
      0.039,
      1e-3);
  EXPECT_NEAR(
      compare(computed(0), exact, config::Precision::fp16).allowed,
      0.0049,
      1e-4);
  EXPECT_FALSE(
      compare(computed(2), reference(), config::Precision::bf16).agrees);
  EXPECT_FALSE(
      compare(computed(2), reference(), config::Precision::fp16).agrees);
}

TEST(Parity, LooksAtStatisticsAndTheEvalLossToo) {
  Computed candidate = computed(0);
  candidate.statistics["bn.running_mean"] = doubles({1, 2.1});
  EXPECT_EQ(
      compare(candidate, reference(), config::Precision::fp32).parameter,
      "bn.running_mean");
  candidate = computed(0);
  candidate.eval_loss = 2.1;
  const auto parity = compare(candidate, reference(), config::Precision::fp32);
  EXPECT_FALSE(parity.agrees);
  EXPECT_EQ(parity.parameter, "the eval loss");
}

TEST(Parity, NanAndMissingGradientsNeverAgree) {
  EXPECT_FALSE(
      compare(computed(std::nan("")), reference(), config::Precision::bf16)
          .agrees);
  Computed candidate = computed(0);
  candidate.gradients.erase("fc.bias");
  const auto parity = compare(candidate, reference(), config::Precision::fp32);
  EXPECT_FALSE(parity.agrees);
  EXPECT_EQ(parity.parameter, "fc.bias");
}

// What is zero but for rounding is measured against the others.
TEST(Parity, AGradientOfNothingMayBeAnyNothing) {
  ParityReference both = reference();
  both.exact.gradients["conv.bias"] = doubles({1e-12});
  for (Computed& plain : both.plain)
    plain.gradients["conv.bias"] = doubles({1e-9});
  Computed candidate = computed(0);
  candidate.gradients["conv.bias"] = doubles({-3e-9});
  EXPECT_TRUE(compare(candidate, both, config::Precision::fp32).agrees);
}

} // namespace
} // namespace temper::train

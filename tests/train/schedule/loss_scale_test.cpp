#include "temper/train/schedule/loss_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "temper/base/error.h"

namespace temper::train {
namespace {

TEST(LossScale, HalvesAtAnOverflowAndCountsAnew) {
  LossScale scale;
  scale.update(false);
  EXPECT_EQ(scale.good_steps(), 1);
  scale.update(true);
  EXPECT_EQ(scale.scale(), 32768);
  EXPECT_EQ(scale.inverse(), 1.0F / 32768);
  EXPECT_EQ(scale.good_steps(), 0);
}

TEST(LossScale, DoublesAfterTwoThousandGoodSteps) {
  LossScale scale;
  for (int i = 0; i < LossScale::kInterval - 1; ++i)
    scale.update(false);
  EXPECT_EQ(scale.scale(), LossScale::kFirst);
  scale.update(false);
  EXPECT_EQ(scale.scale(), 2 * LossScale::kFirst);
  EXPECT_EQ(scale.good_steps(), 0);
}

TEST(LossScale, NeverBecomesInfinite) {
  LossScale scale;
  const float largest = std::ldexp(1.0F, 127);
  scale.restore(largest, LossScale::kInterval - 1);
  scale.update(false);
  EXPECT_EQ(scale.scale(), largest);
}

TEST(LossScale, StopsTheRunBelowOne) {
  LossScale scale;
  scale.restore(2, 0);
  scale.update(true);
  EXPECT_EQ(scale.scale(), 1);
  EXPECT_THROW(scale.update(true), Error);
}

TEST(LossScale, RefusesAStateNoRunCanHaveHad) {
  LossScale scale;
  EXPECT_THROW(scale.restore(3, 0), Error);
  EXPECT_THROW(scale.restore(0.5, 0), Error);
  EXPECT_THROW(scale.restore(std::numeric_limits<float>::infinity(), 0), Error);
  EXPECT_THROW(scale.restore(2, LossScale::kInterval), Error);
  EXPECT_EQ(scale.scale(), LossScale::kFirst);
}

} // namespace
} // namespace temper::train

#include "temper/plan/part_of_batch.h"

#include <gtest/gtest.h>

namespace temper::plan {
namespace {

// A step takes `once_s` and `sample_s` for each of its samples.
struct Cost {
  double once_s = 0;
  double sample_s = 0;
  int asked = 0;

  int samples(int whole, double step_s) {
    return samples_in_time(whole, 4, step_s, [this](int samples) {
      ++asked;
      return once_s + samples * sample_s;
    });
  }
};

TEST(PartOfBatch, IsTheWholeBatchWhereItHasTime) {
  Cost cheap{0.001, 0.001};
  EXPECT_EQ(cheap.samples(128, 1), 128);
  EXPECT_EQ(cheap.asked, 1);
}

// An update of many weights: four samples take hardly less than all of them.
TEST(PartOfBatch, WhatAStepDoesOnceIsNoCostOfASample) {
  Cost update{0.05, 0.001};
  EXPECT_EQ(update.samples(128, 0.2), 128);
  EXPECT_EQ(update.asked, 2);
}

TEST(PartOfBatch, IsAsManySamplesAsTheTimeAllows) {
  Cost cost{0.1, 0.01};
  EXPECT_NEAR(cost.samples(128, 0.5), 40, 1);
  EXPECT_NEAR((Cost{0, 0.1}.samples(16, 1)), 10, 1);
}

TEST(PartOfBatch, IsAFewSamplesAtLeast) {
  EXPECT_EQ((Cost{0, 1}.samples(128, 0.1)), 4);
  EXPECT_EQ((Cost{1, 0}.samples(128, 0.1)), 4);
  EXPECT_EQ((Cost{0, 1}.samples(3, 0.1)), 3);
}

} // namespace
} // namespace temper::plan

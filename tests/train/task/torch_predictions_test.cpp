#include "temper/train/task/predictions.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace temper::train {
namespace {

TEST(Predictions, TiesAndRowsThatAreNotFiniteAreJudgedByTheRule) {
  const float inf = HUGE_VALF;
  const at::Tensor scores =
      at::tensor({1.0F,
                  1.0F,
                  1.0F, // equal: the lowest class is the best
                  1.0F,
                  1.0F,
                  1.0F,
                  0.0F,
                  2.0F,
                  1.0F,
                  inf,
                  0.0F,
                  0.0F,
                  0.0F,
                  NAN,
                  0.0F})
          .reshape({5, 3});
  const at::Tensor labels = at::tensor({0, 1, 2, 0, 0}, at::kLong);
  PredictionCounts counts;
  counts.add(scores, labels, 2, true);
  MetricSums sums;
  counts.read(sums);
  EXPECT_EQ(sums.predictions, 5);
  EXPECT_EQ(sums.correct, 1);
  EXPECT_EQ(sums.correct_top, 3);
}

TEST(Predictions, TokensArePredictionsToo) {
  const at::Tensor scores = at::zeros({2, 4, 3}); // N x classes x tokens
  scores.select(1, 2).fill_(1);
  PredictionCounts counts;
  counts.add(scores, at::full({2, 3}, 2, at::kLong), 0, false);
  MetricSums sums;
  counts.read(sums);
  EXPECT_EQ(sums.predictions, 6);
  EXPECT_EQ(sums.correct, 6);
}

} // namespace
} // namespace temper::train

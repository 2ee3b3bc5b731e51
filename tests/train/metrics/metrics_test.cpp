#include "temper/train/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace temper::train {
namespace {

using testing::ElementsAre;
using testing::Pair;

MetricSums batch(double loss, int samples, int correct) {
  MetricSums sums;
  sums.loss = loss;
  sums.units = samples;
  sums.samples = samples;
  sums.predictions = samples;
  sums.correct = correct;
  return sums;
}

TEST(Metrics, TheyAreSumsOverTheSetAndNotMeansOfMeans) {
  MetricSums sums = batch(64, 64, 64);
  sums.add(batch(9, 1, 0)); // a short last batch
  EXPECT_THAT(
      metrics_of(sums),
      ElementsAre(Pair("loss", 73.0 / 65), Pair("accuracy", 64.0 / 65)));
}

TEST(Metrics, NothingCountedIsNothingShown) {
  EXPECT_TRUE(metrics_of({}).empty());
  EXPECT_TRUE(std::isnan(metric({}, "loss")));
}

TEST(Metrics, TopKIsNamedAfterItsK) {
  MetricSums sums = batch(1, 4, 1);
  sums.top = 5;
  sums.correct_top = 3;
  EXPECT_EQ(metric(sums, "top5"), 0.75);
}

TEST(Metrics, ConfusionAddsUpAndGivesEachClassItsAccuracy) {
  MetricSums first;
  first.classes = 3;
  first.confusion = {2, 1, 0, 0, 4, 0, 0, 0, 0};
  MetricSums sums;
  sums.add(first);
  sums.add(first);
  const auto accuracies = class_accuracies(sums);
  EXPECT_DOUBLE_EQ(accuracies[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(accuracies[1], 1);
  EXPECT_TRUE(std::isnan(accuracies[2]));
}

TEST(Metrics, RegressionHasErrorsAndTheVarianceExplained) {
  // Targets 1, 2, 3, predictions 1, 2, 5.
  MetricSums sums;
  sums.numbers = 3;
  sums.absolute_error = 2;
  sums.squared_error = 4;
  sums.target_sum = 6;
  sums.target_squares = 14;
  EXPECT_DOUBLE_EQ(metric(sums, "mae"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(metric(sums, "rmse"), std::sqrt(4.0 / 3));
  EXPECT_DOUBLE_EQ(metric(sums, "r2"), 1 - 4.0 / 2);
  sums.target_squares = 12; // all the same
  EXPECT_TRUE(std::isnan(metric(sums, "r2")));
}

TEST(Metrics, TokensHaveAPerplexity) {
  MetricSums sums = batch(std::log(8.0) * 20, 20, 0);
  sums.samples = 2;
  EXPECT_NEAR(metric(sums, "perplexity"), 8, 1e-9);
}

TEST(Metrics, NanStaysNan) {
  MetricSums sums = batch(1, 4, 1);
  sums.add(batch(std::nan(""), 4, 1));
  EXPECT_TRUE(std::isnan(metric(sums, "loss")));
}

TEST(Metrics, OnesOwnAreShownAfterTheOthers) {
  MetricSums sums = batch(1, 2, 1);
  sums.own["aux"] = {3, 2};
  MetricSums more;
  more.own["aux"] = {1, 2};
  sums.add(more);
  EXPECT_EQ(metric(sums, "aux"), 1);
  EXPECT_EQ(metrics_of(sums).back().first, "aux");
}

TEST(Metrics, WhichWayIsBetter) {
  EXPECT_TRUE(larger_is_better("val_accuracy"));
  EXPECT_TRUE(larger_is_better("r2"));
  EXPECT_FALSE(larger_is_better("val_loss"));
  EXPECT_FALSE(larger_is_better("rmse"));
}

} // namespace
} // namespace temper::train

#include "temper/train/run/doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace temper::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two classes; rows are the truth.
MetricSums judged(std::vector<std::int64_t> confusion) {
  MetricSums sums;
  sums.classes = 2;
  for (const std::int64_t count : confusion)
    sums.samples += count;
  sums.predictions = sums.samples;
  sums.correct = confusion[0] + confusion[3];
  sums.units = static_cast<double>(sums.samples);
  sums.loss = 0.5 * sums.units;
  sums.confusion = std::move(confusion);
  return sums;
}

MetricSums with_loss(double loss) {
  MetricSums sums = judged({30, 10, 10, 30});
  sums.loss = loss * sums.units;
  return sums;
}

const std::vector<std::string> kClasses{"cat", "dog"};

TEST(Doubts, ARateThatNothingSurvivesIsToldBeforehand) {
  config::Config config;
  EXPECT_THAT(doubts_before(config), IsEmpty());
  config.optimizer.name = "adamw";
  config.optimizer.lr = 1000;
  EXPECT_THAT(
      doubts_before(config),
      ElementsAre(HasSubstr("optimizer.lr = 1e+03 is far too much for adamw")));
  config.optimizer.name = "sgd";
  config.optimizer.lr = 1;
  EXPECT_THAT(doubts_before(config), IsEmpty());
  config.optimizer.lr = 1e-12;
  EXPECT_THAT(
      doubts_before(config), ElementsAre(HasSubstr("nothing will be learnt")));
}

TEST(Doubts, OneClassForAllIsToldByName) {
  EXPECT_THAT(
      doubts_after({}, with_loss(0.6), judged({0, 20, 0, 40}), kClasses),
      ElementsAre(HasSubstr("all 60 validation samples are taken for dog")));
}

TEST(Doubts, AModelAtChanceLevelIsTold) {
  EXPECT_THAT(
      doubts_after({}, with_loss(0.6), judged({24, 26, 25, 25}), kClasses),
      ElementsAre(HasSubstr("49.0 %, is no better than")));
  EXPECT_THAT(
      doubts_after({}, with_loss(0.6), judged({28, 22, 25, 25}), kClasses),
      ElementsAre(HasSubstr("53.0 %, is hardly better than")));
  EXPECT_THAT(
      doubts_after({}, with_loss(0.3), judged({40, 10, 12, 38}), kClasses),
      IsEmpty());
}

TEST(Doubts, AFewSamplesOrASingleClassTellNothing) {
  EXPECT_THAT(
      doubts_after({}, with_loss(0.6), judged({0, 3, 0, 3}), kClasses),
      IsEmpty());
  EXPECT_THAT(
      doubts_after({}, with_loss(0.6), judged({0, 0, 0, 60}), kClasses),
      IsEmpty());
  EXPECT_THAT(doubts_after({}, with_loss(0.6), {}, kClasses), IsEmpty());
}

TEST(Doubts, ALossFarAboveAGuessHasDiverged) {
  const MetricSums fine = judged({40, 10, 12, 38});
  EXPECT_THAT(
      doubts_after({}, with_loss(1e33), fine, kClasses),
      ElementsAre(HasSubstr("ended at 1e+33")));
  EXPECT_THAT(
      doubts_after({}, with_loss(std::nan("")), fine, kClasses),
      ElementsAre(HasSubstr("no number any more")));
  EXPECT_THAT(doubts_after({}, with_loss(1.4), fine, kClasses), IsEmpty());
}

TEST(Doubts, NumbersThatAreWorseThanTheirMeanAreTold) {
  MetricSums numbers;
  numbers.units = numbers.samples = numbers.numbers = 100;
  numbers.target_squares = 100; // variance 1
  numbers.squared_error = numbers.loss = 50;
  EXPECT_THAT(doubts_after({}, numbers, {}, {}), IsEmpty());
  numbers.squared_error = numbers.loss = 5000;
  EXPECT_THAT(
      doubts_after({}, numbers, {}, {}),
      ElementsAre(HasSubstr("far worse than the mean of the targets")));
  EXPECT_TRUE(calmer_rate({}, numbers, {}, 0).has_value());
  // An epoch of a few steps begins with them; what validation says is later.
  MetricSums later = numbers;
  EXPECT_FALSE(doubts_after({}, numbers, later, {}).empty());
  later.squared_error = later.loss = 120;
  EXPECT_THAT(doubts_after({}, numbers, later, {}), IsEmpty());
  EXPECT_FALSE(calmer_rate({}, numbers, later, 0).has_value());
}

} // namespace
} // namespace temper::train

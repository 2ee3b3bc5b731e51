#include "temper/train/loop/progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace temper::train {
namespace {

TEST(Progress, WhatIsNotFiniteIsNeverTheBest) {
  const config::Config config;
  for (const std::string watched : {"val_loss", "val_accuracy"}) {
    Progress progress;
    for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")})
      EXPECT_FALSE(close_epoch(progress, config, watched, value, 1)) << value;
    EXPECT_FALSE(progress.best);
    EXPECT_EQ(progress.epochs_since_best, 3);
    EXPECT_TRUE(close_epoch(progress, config, watched, 0.5, 1));
    EXPECT_EQ(progress.best, 0.5);
  }
}

// A model that predicts one class only has the same accuracy for many epochs.
TEST(Progress, BetweenEqualAccuraciesTheSmallerLossIsBest) {
  const config::Config config;
  Progress progress;
  const auto close = [&](double accuracy, double loss) {
    const bool best =
        close_epoch(progress, config, "val_accuracy", accuracy, loss);
    progress = Progress::from_json(progress.to_json()); // stopped, resumed
    ++progress.epoch;
    return best;
  };
  EXPECT_TRUE(close(0.97, 0.140));
  EXPECT_TRUE(close(0.97, 0.125));
  EXPECT_FALSE(close(0.97, 0.130));
  EXPECT_FALSE(close(0.97, std::nan("")));
  EXPECT_EQ(progress.best_epoch, 1U);
  EXPECT_EQ(progress.epochs_since_best, 3) << "none improved on the accuracy";
  EXPECT_TRUE(close(0.98, 0.2));
  EXPECT_EQ(progress.epochs_since_best, 0);
}

TEST(Progress, WhatAnEpochHasTakenIsKeptWithIt) {
  Progress progress;
  progress.run = {100, 10, 20};
  progress.in_epoch = {7, 0.5};
  const Progress read = Progress::from_json(progress.to_json());
  EXPECT_EQ(read.run.all_s, 100);
  EXPECT_EQ(read.run.waiting_s, 10);
  EXPECT_EQ(read.run.evaluating_s, 20);
  EXPECT_EQ(read.in_epoch.all_s, 7);
  EXPECT_EQ(read.in_epoch.waiting_s, 0.5);
  // A run of before: its share by steps.
  progress.update = 50;
  progress.step = 25;
  auto older = nlohmann::json::parse(progress.to_json());
  older.erase("spent_s");
  EXPECT_EQ(Progress::from_json(older.dump()).in_epoch.all_s, 50);
}

TEST(Progress, ABestThatIsNotFiniteIsForgotten) {
  Progress progress;
  progress.best = HUGE_VAL;
  EXPECT_FALSE(Progress::from_json(progress.to_json()).best);
  progress.best = 0.25;
  EXPECT_EQ(Progress::from_json(progress.to_json()).best, 0.25);
}

} // namespace
} // namespace temper::train

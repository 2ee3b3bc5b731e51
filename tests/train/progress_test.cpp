#include "temper/train/progress.h"

#include <gtest/gtest.h>

#include <cmath>

namespace temper::train {
namespace {

TEST(Progress, what_is_not_finite_is_never_the_best) {
  const config::Config config;
  for (const std::string watched : {"val_loss", "val_accuracy"}) {
    Progress progress;
    for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")})
      EXPECT_FALSE(close_epoch(progress, config, watched, value)) << value;
    EXPECT_FALSE(progress.best);
    EXPECT_EQ(progress.epochs_since_best, 3);
    EXPECT_TRUE(close_epoch(progress, config, watched, 0.5));
    EXPECT_EQ(progress.best, 0.5);
  }
}

TEST(Progress, a_best_that_is_not_finite_is_forgotten) {
  Progress progress;
  progress.best = HUGE_VAL;
  EXPECT_FALSE(Progress::from_json(progress.to_json()).best);
  progress.best = 0.25;
  EXPECT_EQ(Progress::from_json(progress.to_json()).best, 0.25);
}

} // namespace
} // namespace temper::train

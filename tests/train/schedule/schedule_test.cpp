#include "temper/train/schedule/schedule.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "tests/paths.h"

namespace temper::train {
namespace {

config::Config named(const std::string& name) {
  config::Config config;
  config.schedule.name = name;
  config.optimizer.lr = 0.3;
  return config;
}

// reference/schedules.py: 40 updates, drops of a half every 8.
TEST(Schedule, RatesAreThoseOfPytorch) {
  std::ifstream file(tests::fixtures() / "train/schedules.json");
  const auto expected = nlohmann::json::parse(file);
  for (const auto& [name, rates] : expected.items()) {
    config::Config config = named(name);
    config.schedule.gamma = 0.5;
    config.schedule.step = 2; // epochs of 4 updates
    if (name == "linear" || name == "cosine") config.schedule.min_lr = 0.01;
    const Schedule schedule = make_schedule(config, 4, 40);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double rate = rates[i].get<double>();
      EXPECT_NEAR(
          learning_rate(schedule, static_cast<std::int64_t>(i)),
          rate,
          1e-12 + 1e-9 * rate)
          << name << " update " << i;
    }
  }
}

TEST(Schedule, WarmUpComesBeforeAndEndsAtTheFullRate) {
  config::Config config = named("cosine");
  config.schedule.warmup = 0.5;
  const Schedule schedule = make_schedule(config, 20, 100);
  EXPECT_EQ(schedule.warmup_updates, 10);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 0.03);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 9), 0.3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 10), 0.3);
  // Half of what follows the warm-up is over.
  EXPECT_NEAR(learning_rate(schedule, 55), 0.15, 1e-12);
}

TEST(Schedule, PlateauFallsWhenTold) {
  config::Config config = named("plateau");
  config.schedule.min_lr = 0.002;
  const Schedule schedule = make_schedule(config, 10, 100);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 50, 0), 0.3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 50, 1), 0.03);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 50, 9), 0.002);
}

TEST(Schedule, BeyondTheEndTheRateStaysAtTheEnd) {
  const Schedule linear = make_schedule(named("linear"), 10, 100);
  EXPECT_DOUBLE_EQ(learning_rate(linear, 1000), 0);
  const Schedule cycle = make_schedule(named("one-cycle"), 10, 100);
  EXPECT_DOUBLE_EQ(learning_rate(cycle, 1000), learning_rate(cycle, 99));
}

TEST(Schedule, ARunOfOneUpdateHasARate) {
  for (const char* name :
       {"constant", "linear", "cosine", "one-cycle", "exponential", "step"})
    EXPECT_GT(learning_rate(make_schedule(named(name), 1, 1), 0), 0) << name;
}

TEST(Schedule, WhatMakesNoSenseIsRefused) {
  config::Config config = named("cosine");
  config.schedule.min_lr = 1;
  EXPECT_THROW(make_schedule(config, 10, 100), Error);
  config = named("cosine");
  config.schedule.warmup = 10;
  EXPECT_THROW(make_schedule(config, 10, 100), Error);
}

} // namespace
} // namespace temper::train

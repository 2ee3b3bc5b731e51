#include "temper/plan/slowdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::plan {
namespace {

using machine::Pressure;
using machine::Thermal;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// What is told while so many steps take so long.
std::vector<SpeedChange> run(
    SlowdownWatch& watch,
    int steps,
    double step_s,
    const Conditions& now = {}) {
  std::vector<SpeedChange> told;
  for (int i = 0; i < steps; ++i)
    if (const auto change = watch.see(step_s, now)) told.push_back(*change);
  return told;
}

TEST(Slowdown, ASustainedOneIsToldOnceAndSoIsItsEnd) {
  SlowdownWatch watch;
  EXPECT_THAT(run(watch, 100, 0.1), IsEmpty());
  const auto told = run(watch, 500, 0.15);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].slower);
  EXPECT_DOUBLE_EQ(told[0].before_s, 0.1);
  EXPECT_THAT(
      told[0].text,
      AllOf(HasSubstr("1.50x"), HasSubstr("150 ms against 100 ms")));
  const auto after = run(watch, 100, 0.1);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_FALSE(after[0].slower);
  EXPECT_EQ(run(watch, 500, 0.15).size(), 1U); // and may be told again
}

TEST(Slowdown, SingleSlowStepsAndShortSpellsAreNothing) {
  SlowdownWatch watch;
  run(watch, 100, 0.1);
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(run(watch, 1, 5.0), IsEmpty()); // a checkpoint
    EXPECT_THAT(run(watch, 9, 0.1), IsEmpty());
  }
  EXPECT_THAT(run(watch, 40, 0.3), IsEmpty()); // two windows
  EXPECT_THAT(run(watch, 100, 0.1), IsEmpty());
}

TEST(Slowdown, ALittleSlowerIsNotSlow) {
  SlowdownWatch watch;
  run(watch, 100, 0.1);
  EXPECT_THAT(run(watch, 1000, 0.124), IsEmpty());
}

TEST(Slowdown, ASlowStartIsNoYardstick) {
  SlowdownWatch watch;
  run(watch, 20, 0.5);
  run(watch, 100, 0.1);
  const auto told = run(watch, 200, 0.2);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_DOUBLE_EQ(told[0].before_s, 0.1);
}

TEST(Slowdown, AnotherMicroBatchBeginsAnew) {
  SlowdownWatch watch;
  run(watch, 100, 0.1);
  watch.reset();
  EXPECT_THAT(run(watch, 500, 0.3), IsEmpty());
}

TEST(Slowdown, TheCauseIsWhatChangedSinceItWasFast) {
  Conditions before;
  before.thermal = Thermal::nominal;
  before.load = machine::Load{.others = 0.2, .cores = 2, .usable = 2};
  before.swap_used_bytes = std::uint64_t{1} << 30;
  Conditions now = before;
  EXPECT_EQ(likely_cause(before, now), "no gauge shows why");
  now.may_lack_fan = true;
  EXPECT_THAT(likely_cause(before, now), HasSubstr("without a fan"));
  now.may_lack_fan = false;
  now.thermal = Thermal::heavy;
  EXPECT_THAT(
      likely_cause(before, now),
      AllOf(HasSubstr("thermal level heavy"), Not(HasSubstr("swap"))));
  now = before;
  now.load->others = 1.4;
  now.load->average = 12;
  EXPECT_EQ(
      likely_cause(before, now),
      "other programs are using the processor (1.4 of 2 cores, load 12.0)");
  EXPECT_EQ(likely_cause(now, now), likely_cause(before, now)); // all along
  now = before;
  now.swap_used_bytes += std::uint64_t{2} << 30;
  EXPECT_THAT(likely_cause(before, now), HasSubstr("2.0 GiB more are in swap"));
  now = before;
  now.memory_stall = 0.25;
  EXPECT_THAT(likely_cause(before, now), HasSubstr("25 % of the time"));
  now = before;
  now.pressure = Pressure::critical;
  EXPECT_THAT(likely_cause(before, now), HasSubstr("pressure critical"));
}

TEST(Slowdown, TheCauseIsInTheSentence) {
  SlowdownWatch watch;
  Conditions cool;
  cool.thermal = Thermal::nominal;
  Conditions hot;
  hot.thermal = Thermal::critical;
  run(watch, 100, 0.1, cool);
  const auto told = run(watch, 100, 0.2, hot);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].text, HasSubstr("hot (thermal level critical)"));
}

TEST(Slowdown, SeveralThreadsOnABusyMachineAreToldWhatToDo) {
  Conditions busy;
  busy.load = machine::Load{.others = 1.4, .cores = 2, .usable = 2};
  for (const int threads : {1, 2}) {
    SlowdownWatch watch(SlowdownWatch::Limits(), {threads, false});
    run(watch, 100, 0.1);
    const auto told = run(watch, 100, 0.4, busy);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(
        told[0].text.find("--set threads=1") != std::string::npos, threads > 1)
        << told[0].text;
    EXPECT_EQ(told[0].threads, 0) << "the run's bits would be others";
  }
}

Conditions crowded_by(double cores_used, double cores) {
  Conditions now;
  now.load =
      machine::Load{.others = cores_used, .cores = cores, .usable = cores};
  return now;
}

TEST(Slowdown, ARunWhoseBitsAllowItLeavesTheCoresToOthers) {
  SlowdownWatch watch(SlowdownWatch::Limits(), {8, true});
  run(watch, 100, 0.1, crowded_by(0, 8));
  const auto told = run(watch, 100, 0.4, crowded_by(5, 8));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].threads, 3);
  EXPECT_THAT(
      told[0].text,
      AllOf(
          HasSubstr("goes on with 3 threads from the next checkpoint on"),
          Not(HasSubstr("--set threads"))));
}

TEST(Slowdown, AtLeastOneThreadComputesAndOneFewerThanBefore) {
  EXPECT_EQ(fewer_threads(crowded_by(2, 2), 2), 1);
  EXPECT_EQ(fewer_threads(crowded_by(20, 2), 2), 1);
  EXPECT_EQ(fewer_threads(crowded_by(4, 16), 4), 3);
  EXPECT_EQ(fewer_threads(crowded_by(0, 2), 2), 2) << "nobody else computes";
  EXPECT_EQ(fewer_threads(crowded_by(2, 2), 1), 1);
}

TEST(Slowdown, ThePlannedThreadsComeBackWhenTheCoresAreFreeForAWhile) {
  SlowdownWatch watch(SlowdownWatch::Limits(), {2, true});
  run(watch, 100, 0.1, crowded_by(0, 2));
  ASSERT_EQ(run(watch, 100, 0.4, crowded_by(2, 2)).size(), 1U);
  watch.use_threads(1);
  EXPECT_THAT(run(watch, 200, 0.2, crowded_by(2, 2)), IsEmpty());
  EXPECT_THAT(run(watch, 80, 0.2, crowded_by(0, 2)), IsEmpty());
  EXPECT_THAT(run(watch, 20, 0.2, crowded_by(2, 2)), IsEmpty());
  const auto told = run(watch, 400, 0.2, crowded_by(0, 2));
  ASSERT_EQ(told.size(), 1U) << "told once, and only after several windows";
  EXPECT_FALSE(told[0].slower);
  EXPECT_EQ(told[0].threads, 2);
  watch.use_threads(2);
  EXPECT_THAT(run(watch, 400, 0.1, crowded_by(0, 2)), IsEmpty());
}

TEST(Slowdown, OnlyALaptopOfAppleMayHaveNoFan) {
  machine::Machine machine;
  EXPECT_FALSE(surroundings_of(machine).may_lack_fan);
  machine.platform.os = "macos";
  machine.cpu.chip_arch = "arm64";
  machine.platform.model = "MacBookAir10,1";
  EXPECT_TRUE(surroundings_of(machine).may_lack_fan);
  machine.platform.model = "Macmini9,1";
  EXPECT_FALSE(surroundings_of(machine).may_lack_fan);
}

} // namespace
} // namespace temper::plan

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

TEST(Slowdown, a_sustained_one_is_told_once_and_so_is_its_end) {
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

TEST(Slowdown, single_slow_steps_and_short_spells_are_nothing) {
  SlowdownWatch watch;
  run(watch, 100, 0.1);
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(run(watch, 1, 5.0), IsEmpty()); // a checkpoint
    EXPECT_THAT(run(watch, 9, 0.1), IsEmpty());
  }
  EXPECT_THAT(run(watch, 40, 0.3), IsEmpty()); // two windows
  EXPECT_THAT(run(watch, 100, 0.1), IsEmpty());
}

TEST(Slowdown, a_little_slower_is_not_slow) {
  SlowdownWatch watch;
  run(watch, 100, 0.1);
  EXPECT_THAT(run(watch, 1000, 0.124), IsEmpty());
}

TEST(Slowdown, a_slow_start_is_no_yardstick) {
  SlowdownWatch watch;
  run(watch, 20, 0.5);
  run(watch, 100, 0.1);
  const auto told = run(watch, 200, 0.2);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_DOUBLE_EQ(told[0].before_s, 0.1);
}

TEST(Slowdown, another_micro_batch_begins_anew) {
  SlowdownWatch watch;
  run(watch, 100, 0.1);
  watch.reset();
  EXPECT_THAT(run(watch, 500, 0.3), IsEmpty());
}

TEST(Slowdown, the_cause_is_what_changed_since_it_was_fast) {
  Conditions before;
  before.thermal = Thermal::nominal;
  before.others_cpu = 0.3;
  before.swap_used_bytes = std::uint64_t{1} << 30;
  Conditions now = before;
  EXPECT_THAT(likely_cause(before, now), HasSubstr("no gauge shows why"));
  now.thermal = Thermal::heavy;
  EXPECT_THAT(
      likely_cause(before, now),
      AllOf(HasSubstr("thermal level heavy"), Not(HasSubstr("swap"))));
  now = before;
  now.others_cpu = 2.1;
  EXPECT_EQ(likely_cause(before, now), "other programs keep 2.1 cores busy");
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

TEST(Slowdown, the_cause_is_in_the_sentence) {
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

TEST(Slowdown, others_are_the_system_without_this_process) {
  machine::Sample sample;
  EXPECT_FALSE(conditions_of(sample, 8).others_cpu);
  sample.cpu = 0.5;
  sample.process_cpu = 3;
  EXPECT_DOUBLE_EQ(conditions_of(sample, 8).others_cpu.value_or(-1), 1);
  sample.process_cpu = 5; // read a moment apart
  EXPECT_DOUBLE_EQ(conditions_of(sample, 8).others_cpu.value_or(-1), 0);
}

} // namespace
} // namespace temper::plan

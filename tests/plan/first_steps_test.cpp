#include "temper/plan/first_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::plan {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Conditions with_others(double cores, double own = 1) {
  Conditions now;
  now.load =
      machine::Load{.others = cores, .own = own, .cores = 2, .usable = 2};
  return now;
}

// The verdict on so many steps; what comes before a verdict is nothing.
std::optional<FirstStepsVerdict> verdict_on(
    const Expected& expected,
    double step_s,
    const Conditions& now,
    int steps = 30) {
  FirstSteps watch(expected);
  std::optional<FirstStepsVerdict> last;
  for (int i = 0; i < steps; ++i) {
    // The first are slow, and now and then one is.
    const double odd = i < 5 ? 10 : i % 7 == 0 ? 3 : 1;
    if (auto verdict = watch.see(step_s * odd, now)) {
      EXPECT_FALSE(last);
      last = verdict;
    }
  }
  return last;
}

TEST(FirstSteps, ThatAreAsPlannedSayNothing) {
  const auto verdict = verdict_on({0.1, 0.05, 1}, 0.12, with_others(0));
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->agrees);
  EXPECT_FALSE(verdict->forget);
  EXPECT_EQ(verdict->text, "");
  EXPECT_FALSE(verdict_on({0.1, 0.05, 1}, 0.5, with_others(0), 29));
}

TEST(FirstSteps, ThatDisagreeOnAQuietMachineDropThePlan) {
  for (const double step_s : {0.014, 0.33}) {
    const auto verdict = verdict_on({0.1, 0.05, 1}, step_s, with_others(0.1));
    ASSERT_TRUE(verdict);
    EXPECT_FALSE(verdict->agrees);
    EXPECT_TRUE(verdict->forget);
    EXPECT_THAT(verdict->text, HasSubstr("forgotten"));
  }
}

TEST(FirstSteps, SlowerThanPlannedOnABusyMachineNamesTheLoad) {
  const auto two = verdict_on({0.033, 0.05, 2}, 0.405, with_others(1.4));
  ASSERT_TRUE(two);
  EXPECT_FALSE(two->forget);
  EXPECT_THAT(
      two->text,
      AllOf(
          HasSubstr("a step takes 405 ms, and 33.0 ms in the plan"),
          HasSubstr("other programs are using the processor"),
          HasSubstr("2 threads stall"),
          HasSubstr("--set threads=1")));
  const auto one = verdict_on({0.033, 0.05, 1}, 0.09, with_others(1.4));
  ASSERT_TRUE(one);
  EXPECT_THAT(one->text, Not(HasSubstr("stall")));
}

TEST(FirstSteps, FasterThanPlannedDropsThePlanThoughItIsBusy) {
  const auto verdict = verdict_on({0.033, 0.05, 1}, 0.014, with_others(1.4));
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->forget);
}

TEST(FirstSteps, ALoaderOnTheSameCoresIsNoFaultOfThePlan) {
  const auto verdict = verdict_on({0.1, 0.05, 1}, 0.19, with_others(0, 1.95));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->forget);
  EXPECT_THAT(verdict->text, HasSubstr("preparing the data"));
}

TEST(FirstSteps, ANoisyMeasurementAllowsMore) {
  EXPECT_TRUE(verdict_on({0.1, 0.5, 1}, 0.25, with_others(0))->agrees);
  EXPECT_FALSE(verdict_on({0.1, 0.05, 1}, 0.25, with_others(0))->agrees);
}

TEST(FirstSteps, OnlyWholeBatchesOnTheCpuCanBeCompared) {
  Plan plan;
  plan.device = {"cpu", ""};
  plan.layout = {"contiguous", ""};
  plan.threads = {"2", ""};
  plan.precision = {"fp32", ""};
  EXPECT_FALSE(expected_of(plan));
  plan.tried = {{plan.setting(), 0.1, 0.04, TrialVerdict::chosen, ""}};
  ASSERT_TRUE(expected_of(plan));
  EXPECT_EQ(expected_of(plan)->threads, 2);
  plan.part = 0.5;
  EXPECT_FALSE(expected_of(plan));
  plan.part = 1;
  plan.load = *with_others(1.8).load; // told at the start, and not remembered
  EXPECT_FALSE(expected_of(plan));
  plan.remembered = true; // of an earlier run, which asked for that
  EXPECT_TRUE(expected_of(plan));
  plan.load = *with_others(0).load;
  plan.remembered = false;
  EXPECT_TRUE(expected_of(plan));
  plan.threads = {"1", "asked for when the run was resumed"};
  EXPECT_FALSE(expected_of(plan));
}

} // namespace
} // namespace temper::plan

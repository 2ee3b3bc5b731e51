#include "temper/plan/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "temper/base/random/philox.h"
#include "temper/base/text.h"
#include "tests/plan/calibrate_fixture.h"

namespace temper::plan {
namespace {

using fakes::Behaviour;
using fakes::FakeRig;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(Calibrate, TheFastestWinsAndSaysByHowMuch) {
  add(kReference, {.step_s = 0.243});
  add(kLast, {.step_s = 0.171});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kLast);
  EXPECT_EQ(
      plan.layout.reason, "171 ms a step; contiguous: 243 ms, same gradients");
  EXPECT_EQ(tried(plan, kLast).verdict, TrialVerdict::chosen);
  EXPECT_EQ(tried(plan, kReference).verdict, TrialVerdict::slower);
  EXPECT_NEAR(tried(plan, kReference).step_s.value_or(0), 0.243, 1e-9);
  EXPECT_EQ(rig_->checked[to_text(kLast)], 1);
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST_F(Calibrate, FastAndWrongLosesToSlowAndRight) {
  add(kReference, {.step_s = 0.4});
  add(kLast, {.step_s = 0.3});
  add(kMps, {.step_s = 0.05, .agrees = false, .parameter = "conv1.weight"});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kLast);
  EXPECT_EQ(tried(plan, kMps).verdict, TrialVerdict::rejected);
  EXPECT_THAT(tried(plan, kMps).why, HasSubstr("conv1.weight"));
  EXPECT_THAT(
      plan.device.reason,
      AllOf(HasSubstr("mps was rejected"), HasSubstr("conv1.weight")));
  EXPECT_EQ(rig_->checked[to_text(kLast)], 1);
}

TEST_F(Calibrate, TheReferenceNeedsNoCheck) {
  add(kReference, {.step_s = 0.1, .agrees = false});
  add(kMps, {.step_s = 0.5});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_THAT(rig_->checked, IsEmpty());
  EXPECT_THAT(plan.device.reason, HasSubstr("100 ms a step; mps: 500 ms"));
}

TEST_F(Calibrate, WhoeverThrowsIsOutWithTheReason) {
  add(kReference, {.step_s = 0.4});
  add(kMps, {.step_s = 0.1, .throws = true});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_EQ(tried(plan, kMps).verdict, TrialVerdict::failed);
  EXPECT_EQ(tried(plan, kMps).why, "no such kernel");
  EXPECT_THAT(plan.device.reason, HasSubstr("mps failed: no such kernel"));
}

TEST_F(Calibrate, WhoeverHasNoMemoryIsOut) {
  add(kReference, {.step_s = 0.4});
  add(kMps, {.step_s = 0.1, .memory = 5000});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_EQ(tried(plan, kMps).verdict, TrialVerdict::no_memory);
  EXPECT_THAT(plan.device.reason, HasSubstr("mps ran out of memory"));
}

TEST_F(Calibrate, MemoryHeldByOthersIsNotHeldAgainstAnybody) {
  add(kReference, {.step_s = 0.2, .memory = 600});
  add(kLast, {.step_s = 0.1, .memory = 600});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kLast);
  EXPECT_TRUE(tried(plan, kReference).step_s.has_value());
}

// Where memory is short the slowest makes room, and the fastest two are
// compared as carefully as ever.
TEST_F(Calibrate, OnlyAsManyAreOpenAtOnceAsTheRigAllows) {
  add(kReference, {.step_s = 0.2});
  add(kLast, {.step_s = 0.15});
  add(kHalf, {.step_s = 0.16, .agrees = false});
  rig_->may_be_open = 2;
  EXPECT_EQ(measured().setting(), kLast);
  EXPECT_EQ(rig_->most_at_once, 2);
  EXPECT_GT(rig_->steps[to_text(kLast)], 5);
}

TEST_F(Calibrate, OneAtATimeIsEnoughForWhatIsClear) {
  add(kReference, {.step_s = 0.2});
  add(kLast, {.step_s = 0.05});
  rig_->may_be_open = 1;
  EXPECT_EQ(measured().setting(), kLast);
  EXPECT_EQ(rig_->most_at_once, 1);
}

TEST_F(Calibrate, NothingStaysOpen) {
  add(kReference, {.step_s = 0.2, .memory = 1});
  add(kLast, {.step_s = 0.15, .memory = 1});
  add(kHalf, {.step_s = 0.1, .agrees = false, .memory = 1});
  measured();
  EXPECT_EQ(rig_->used(), 0);
}

TEST_F(Calibrate, AReasonBlamesNoValueForTheFaultOfAnother) {
  add(kReference, {.step_s = 0.2});
  add(kLast, {.step_s = 0.1});
  add(kHalf, {.throws = true}); // contiguous, and that is not why
  const Plan plan = measured();
  EXPECT_THAT(plan.layout.reason, Not(HasSubstr("failed")));
  candidates_.asked.precision = std::nullopt;
  EXPECT_THAT(
      measured().precision.reason, HasSubstr("bf16 failed: no such kernel"));
}

TEST_F(Calibrate, TheDefaultStaysUnlessOneIsFasterBeyondTheNoise) {
  add(kLast, {.step_s = 0.100});
  add(kReference, {.step_s = 0.101});
  add(kHalf, {.step_s = 0.0995});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_THAT(
      plan.layout.reason, HasSubstr("channels_last is equal within the noise"));
  EXPECT_EQ(tried(plan, kLast).verdict, TrialVerdict::equal);
  EXPECT_THAT(tried(plan, kLast).why, HasSubstr("within the noise"));
}

TEST_F(Calibrate, TheFirstStepDoesNotCount) {
  add(kReference, {.step_s = 0.2});
  add(kMps, {.step_s = 0.1, .first_s = 2});
  EXPECT_EQ(measured().setting(), kMps);
}

// Finding out how much of a batch is measured takes seconds, and memory that a
// program never had before takes more of them.
TEST_F(Calibrate, WhatTheDefaultDoesBeforeItsSecondStepIsNotHeldAgainstIt) {
  rig_->fitting_s = 2.5;
  add(kReference, {.step_s = 0.1, .first_s = 1.9});
  add(kLast, {.step_s = 0.2});
  const Plan plan = measured(10);
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_NEAR(tried(plan, kReference).step_s.value_or(0), 0.1, 1e-9);
}

TEST_F(Calibrate, ClearlySlowerOnesAreTimedTwice) {
  add(kReference, {.step_s = 0.4});
  add(kLast, {.step_s = 0.1});
  add(kMps, {.step_s = 0.102});
  measured();
  EXPECT_EQ(rig_->steps[to_text(kReference)], 3); // after the warm-up
  EXPECT_GT(rig_->steps[to_text(kLast)], 4);
}

TEST_F(Calibrate, ShortStepsAreTimedManyAtOnce) {
  add(kReference, {.step_s = 0.001});
  add(kOneThread, {.step_s = 0.0005});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kOneThread);
  EXPECT_NEAR(tried(plan, kOneThread).step_s.value_or(0), 0.0005, 1e-9);
  EXPECT_GE(rig_->steps[to_text(kOneThread)], 40);
  EXPECT_EQ(plan.threads.reason, "500 us a step; 4 threads: 1.00 ms");
}

TEST_F(Calibrate, TheBudgetHoldsWithSlowSteps) {
  add(kMps, {.step_s = 0.8});
  add(kLast, {.step_s = 1.3});
  add(kReference, {.step_s = 1.5});
  add(kOneThread, {.step_s = 1.9});
  const double before_s = rig_->clock->now();
  const Plan plan = measured(10);
  EXPECT_LE(rig_->clock->now() - before_s, 10);
  EXPECT_EQ(plan.setting(), kMps);
  EXPECT_EQ(tried(plan, kOneThread).verdict, TrialVerdict::skipped);
  EXPECT_THAT(tried(plan, kOneThread).why, HasSubstr("no time"));
  EXPECT_NEAR(plan.seconds, rig_->clock->now() - before_s, 1e-9);
}

TEST_F(Calibrate, StepsTooLongToBeTimedGiveTheFallback) {
  add(kLast, {.step_s = 7});
  add(kReference, {.step_s = 7});
  const Plan plan = measured(10);
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_THAT(
      tried(plan, kReference).why, HasSubstr("too long to be measured"));
  EXPECT_EQ(rig_->steps[to_text(kLast)], 0);
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("no setting could be")));
}

TEST_F(Calibrate, NobodyLeftGivesTheReferenceWithTheReason) {
  add(kMps, {.throws = true});
  add(kReference, {.throws = true});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_THAT(
      plan.warnings,
      Contains(AllOf(
          HasSubstr("no setting could be measured"),
          HasSubstr("no such kernel"))));
  EXPECT_THAT(plan.device.reason, HasSubstr("no setting could be measured"));
}

TEST_F(Calibrate, WhatWasAskedForIsUsedAndTheDoubtIsTold) {
  candidates_.asked.device = "mps";
  add(kMps, {.agrees = false});
  candidates_.fallback = kMps;
  CalibrateOptions options;
  options.now = [this] { return rig_->clock->now(); };
  const Plan plan = calibrate(candidates_, rig_, options);
  EXPECT_EQ(plan.setting(), kMps);
  EXPECT_EQ(plan.device.reason, "as asked");
  EXPECT_THAT(
      plan.warnings,
      Contains(AllOf(HasSubstr("rejected"), HasSubstr("fc.weight"))));
}

TEST_F(Calibrate, OneSettingThatIsTheReferenceIsNotMeasured) {
  add(kReference, {.throws = true});
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_THAT(rig_->opened, IsEmpty());
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST_F(Calibrate, AMeasurementThatCostsLessThanItCanGainIsMade) {
  add(kReference, {.step_s = 0.05});
  add(kLast, {.step_s = 0.05});
  add(kOneThread, {.step_s = 0.025});
  add(kHalf, {.step_s = 0.05});
  run_steps_ = 220; // 11 s: less than five times plan.seconds
  const double before_s = rig_->clock->now();
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kOneThread);
  EXPECT_LT(rig_->clock->now() - before_s, 2.2);
  for (const Tried& each : plan.tried)
    EXPECT_TRUE(each.step_s) << to_text(each.setting);
}

TEST_F(Calibrate, ARunThatIsTooShortIsNotMeasuredFurther) {
  add(kMps, {.step_s = 0.01});
  add(kLast, {.step_s = 0.1});
  add(kReference, {.step_s = 0.1});
  run_steps_ = 20; // 2 s, and each setting costs 0.5 s to compare
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_EQ(
      plan.layout.reason, "default; the run is too short to measure others");
  EXPECT_THAT(plan.warnings, IsEmpty());
  EXPECT_EQ(rig_->opened[to_text(kLast)], 0);
  EXPECT_THAT(rig_->checked, IsEmpty());
  EXPECT_EQ(rig_->used(), 0);
}

TEST_F(Calibrate, WhatWasFoundCountsThoughTheRunIsShortWithIt) {
  add(kReference, {.step_s = 0.1});
  add(kOneThread, {.step_s = 0.003});
  add(kLast, {.step_s = 0.1});
  run_steps_ = 220; // 22 s by default, 0.7 s with one thread
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kOneThread);
  EXPECT_EQ(rig_->opened[to_text(kLast)], 0);
  EXPECT_THAT(tried(plan, kLast).why, HasSubstr("the run is too short"));
}

// Two threads on a machine with other work: 6.6 s a step, one thread 0.9 s.
TEST_F(Calibrate, AfterAnAbsurdFirstStepFewerThreadsAreTriedNext) {
  add(kReference, {.step_s = 6.6});
  add(kLast, {.step_s = 6.6});
  add({"cpu", Layout::channels_last, 1, Precision::fp32}, {.step_s = 0.9});
  add(kOneThread, {.step_s = 0.9});
  const double before_s = rig_->clock->now();
  const Plan plan = measured(10);
  EXPECT_EQ(plan.threads.value, "1");
  EXPECT_THAT(plan.threads.reason, HasSubstr("4 threads: 6.60 s"));
  EXPECT_LE(rig_->clock->now() - before_s, 10);
  EXPECT_EQ(rig_->steps[to_text(kReference)], 1);
  EXPECT_EQ(rig_->steps[to_text(kLast)], 0);
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST_F(Calibrate, AStallWhileItIsTriedCostsNobodyTheRace) {
  add(kReference, {.step_s = 0.2});
  add(kLast, {.step_s = 0.1, .factor = [](int n) { return n == 1 ? 9. : 1; }});
  EXPECT_EQ(measured().setting(), kLast);
}

TEST_F(Calibrate, ItEndsEarlyWhenTheAnswerIsClear) {
  add(kReference, {.step_s = 0.1});
  add(kLast, {.step_s = 0.07});
  measured(60);
  EXPECT_LE(rig_->steps[to_text(kLast)], 6); // a warm-up and five
}

// The same settings, planned eight times with other noise: one answer.
TEST_F(Calibrate, NoiseThatSlowsAllAlikeDoesNotChangeTheAnswer) {
  add(kReference, {.step_s = 0.030});
  add(kLast, {.step_s = 0.020});
  add(kOneThread, {.step_s = 0.029});
  for (int seed = 1; seed <= 8; ++seed) {
    rig_->slowed = [seed](double now_s) { // spells of 0.7 s, up to 4x
      const auto spell = static_cast<unsigned>(now_s / 0.7) * 2654435761u;
      return 1 + ((spell ^ (static_cast<unsigned>(seed) * 40503u)) >> 8) % 4;
    };
    EXPECT_EQ(measured().setting(), kLast) << seed;
  }
}

TEST_F(Calibrate, SettingsThatOnlyDifferByNoiseKeepTheDefault) {
  add(kReference, {.step_s = 0.030});
  add(kLast, {.step_s = 0.030});
  int misled = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto jitter = [seed](std::uint32_t salt) { // 1x to 1.6x, each step
      return [seed, salt](int n) {
        RandomStream random(seed, salt, static_cast<std::uint64_t>(n));
        return random.uniform(1, 1.6);
      };
    };
    rig_->behaviours[to_text(kReference)].factor = jitter(3);
    rig_->behaviours[to_text(kLast)].factor = jitter(77);
    rig_->steps.clear();
    const Plan plan = measured();
    const bool kept = plan.setting() == kReference;
    misled += kept ? 0 : 1;
    if (kept) {
      EXPECT_EQ(tried(plan, kLast).verdict, TrialVerdict::equal) << seed;
    }
    EXPECT_GT(tried(plan, kReference).spread.value_or(0), 0.02) << seed;
  }
  EXPECT_LE(misled, 2); // of twenty, where steps vary by half
}

TEST_F(Calibrate, LoadThatBeginsInTheMiddleIsNotedInThePlan) {
  add(kReference, {.step_s = 0.03});
  add(kLast, {.step_s = 0.02});
  const double begin_s = rig_->clock->now() + 0.1;
  rig_->slowed = [begin_s](double now_s) { return now_s > begin_s ? 3. : 1; };
  load_ = [this, begin_s]() -> std::optional<machine::Load> {
    machine::Load load{.cores = 2, .usable = 2};
    load.others = rig_->clock->now() > begin_s ? 1.4 : 0;
    return load;
  };
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kLast);
  ASSERT_TRUE(plan.load);
  EXPECT_TRUE(plan.load->busy());
  EXPECT_THAT(
      to_text(plan),
      HasSubstr("other programs are using the processor (1.4 of 2 cores"));
  load_ = [] { return machine::Load{.cores = 2, .usable = 2}; };
  EXPECT_FALSE(measured().load->busy());
}

TEST_F(Calibrate, TimeIsKeptForComparingGradients) {
  add(kReference, {.step_s = 1.0});
  add(kLast, {.step_s = 0.5});
  const double before_s = rig_->clock->now();
  EXPECT_EQ(measured(10).setting(), kLast);
  // Two of each, no rounds (6 s are kept), and a check of one step here.
  EXPECT_NEAR(rig_->clock->now() - before_s, 2 * 1.5 + 0.5, 1e-6);
}

TEST_F(Calibrate, AnInterruptEndsIt) {
  add(kReference, {.step_s = 0.1});
  add(kLast, {.step_s = 0.1});
  candidates_.fallback = kReference;
  CalibrateOptions options;
  options.now = [this] { return rig_->clock->now(); };
  options.stop = [] { return true; };
  const Plan plan = calibrate(candidates_, rig_, options);
  EXPECT_THAT(rig_->opened, IsEmpty());
  EXPECT_THAT(tried(plan, kLast).why, HasSubstr("interrupted"));
}

TEST_F(Calibrate, AHangingDeviceCostsNeitherTheRunNorTheBudget) {
  const Setting other_mps{"mps", Layout::contiguous, 4, Precision::fp16};
  add(kMps, {.hangs = true});
  add(other_mps, {.step_s = 0.001});
  add(kLast, {.step_s = 0.1});
  add(kReference, {.step_s = 0.2});
  const Plan plan = measured(10);
  EXPECT_LE(took_s_, 10);
  EXPECT_EQ(plan.device.value, "cpu");
  EXPECT_EQ(tried(plan, kMps).verdict, TrialVerdict::hung);
  EXPECT_EQ(tried(plan, other_mps).verdict, TrialVerdict::skipped);
  EXPECT_THAT(tried(plan, other_mps).why, HasSubstr("did not come back"));
  EXPECT_EQ(rig_->opened[to_text(other_mps)], 0);
  EXPECT_THAT(plan.device.reason, HasSubstr("mps hung"));
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("never came back")));
  rig_->gate->open();
}

TEST_F(Calibrate, SeveralHangingDevicesLeaveTimeForTheRest) {
  add(kCudaSetting, {.hangs = true});
  add(kMps, {.hangs = true});
  add(kReference, {.step_s = 0.2});
  add(kOneThread, {.step_s = 0.2});
  const Plan plan = measured(12);
  EXPECT_LE(took_s_, 12);
  EXPECT_EQ(tried(plan, kCudaSetting).verdict, TrialVerdict::hung);
  EXPECT_EQ(tried(plan, kMps).verdict, TrialVerdict::hung);
  EXPECT_EQ(plan.device.value, "cpu");
  EXPECT_EQ(tried(plan, plan.setting()).verdict, TrialVerdict::chosen);
  rig_->gate->open();
}

TEST_F(Calibrate, ACheckThatHangsDoesNotWin) {
  add(kMps, {.step_s = 0.1, .hangs_in_parity = true});
  candidates_.fallback = kMps;
  const Plan plan = measured(6);
  EXPECT_LE(took_s_, 6);
  EXPECT_EQ(tried(plan, kMps).verdict, TrialVerdict::hung);
  EXPECT_EQ(plan.setting(), kReference);
  rig_->gate->open();
}

// Every order of the same candidates gives the same plan, word for word.
TEST_F(Calibrate, TheOrderOfCandidatesDoesNotMatter) {
  add(kReference, {.step_s = 0.2});
  add(kOneThread, {.step_s = 0.199});
  add(kLast, {.step_s = 0.11});
  add(kMps, {.step_s = 0.05, .agrees = false});
  add(kCudaSetting, {.step_s = 0.1, .throws = true});
  add(kHalf, {.step_s = 0.109});
  auto& settings = candidates_.settings;
  std::sort(settings.begin(), settings.end(), simpler);
  std::optional<Plan> first;
  int orders = 0;
  do {
    rig_->clock = std::make_shared<fakes::FakeClock>();
    Plan plan = measured(30);
    for (Tried& each : plan.tried) // sums of the clock differ in last bits
      for (auto* number : {&each.step_s, &each.spread})
        if (*number) *number = std::round(**number * 1e6) / 1e6;
    plan.seconds = 0;
    if (!first) first = plan;
    ASSERT_EQ(plan, *first) << to_json(plan) << to_json(*first);
    ++orders;
  } while (std::next_permutation(settings.begin(), settings.end(), simpler));
  EXPECT_EQ(orders, 720);
  EXPECT_EQ(first->setting(), kLast);
}

TEST(WhyNotMeasure, AHandfulOfStepsAndNoTimeDoNotPay) {
  CalibrateOptions options;
  EXPECT_EQ(why_not_measure(options), std::nullopt);
  options.run_steps = 20;
  EXPECT_EQ(why_not_measure(options), std::nullopt);
  options.run_steps = 19;
  EXPECT_THAT(why_not_measure(options).value_or(""), HasSubstr("too short"));
  options.run_steps = std::nullopt;
  options.seconds = 0;
  EXPECT_THAT(why_not_measure(options).value_or(""), HasSubstr("plan.seconds"));
}

TEST_F(Calibrate, APlanThatWasNotMeasuredSaysWhy) {
  candidates_.settings = {kLast, kReference};
  candidates_.fallback = kReference;
  const Plan plan = plan_unmeasured(candidates_, "the run is short");
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_EQ(plan.layout.reason, "default; the run is short");
  EXPECT_THAT(to_text(plan), Not(HasSubstr("measured in")));
}

} // namespace
} // namespace temper::plan

#include "temper/plan/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/fake_rig.h"
#include "tests/temp_folder.h"

namespace temper::plan {
namespace {

using testing::HasSubstr;

class Decide : public testing::Test {
 protected:
  Decide() {
    decision_.candidates.settings = {fast_, reference_};
    decision_.candidates.fallback = reference_;
    decision_.cache = PlanCache(folder_.path());
    decision_.options.now = [clock = clock_] { return clock->now(); };
    decision_.make_rig = [this] {
      ++rigs_;
      auto rig = std::make_shared<fakes::FakeRig>();
      rig->clock = clock_;
      rig->behaviours[to_text(fast_)] = {.step_s = 0.1};
      rig->behaviours[to_text(reference_)] = {.step_s = 0.2};
      return rig;
    };
  }

  const Setting fast_{"cpu", Layout::channels_last, 2, Precision::fp32};
  const Setting reference_{"cpu", Layout::contiguous, 2, Precision::fp32};
  // Of all measurements that follow.
  void others_keep_busy(double cores) {
    decision_.options.load = [cores]() -> std::optional<machine::Load> {
      return machine::Load{.others = cores, .cores = 2, .usable = 2};
    };
  }

  std::shared_ptr<fakes::FakeClock> clock_ =
      std::make_shared<fakes::FakeClock>();
  tests::TempFolder folder_;
  Decision decision_;
  int rigs_ = 0;
};

TEST_F(Decide, TheFirstTimeItMeasuresAndThenItRemembers) {
  const Plan first = decide(decision_);
  EXPECT_EQ(first.setting(), fast_);
  EXPECT_FALSE(first.remembered);
  const Plan second = decide(decision_);
  EXPECT_EQ(second.setting(), fast_);
  EXPECT_TRUE(second.remembered);
  EXPECT_EQ(rigs_, 1);
  decision_.cache = PlanCache(std::filesystem::path());
  EXPECT_FALSE(decide(decision_).remembered);
  EXPECT_EQ(rigs_, 2);
}

TEST_F(Decide, WhatWasMeasuredUnderLoadIsUsedAndNotRemembered) {
  others_keep_busy(1.4);
  EXPECT_EQ(decide(decision_).setting(), fast_);
  EXPECT_FALSE(decide(decision_).remembered);
  EXPECT_EQ(rigs_, 2);
  decision_.measuring.even_busy = true; // whoever insists
  decide(decision_);
  EXPECT_TRUE(decide(decision_).remembered);
  decision_.cache.clear();
  decision_.measuring.even_busy = false;
  others_keep_busy(0.1);
  decide(decision_);
  EXPECT_TRUE(decide(decision_).remembered);
}

TEST_F(Decide, ADryRunReadsWhatIsRememberedAndWritesNothing) {
  decision_.measuring.remember = false;
  decide(decision_);
  EXPECT_TRUE(decision_.cache.list().empty());
  decision_.measuring.remember = true;
  decide(decision_);
  decision_.measuring.remember = false;
  EXPECT_TRUE(decide(decision_).remembered);
}

TEST_F(Decide, OnPurposeItMeasuresAgainAndWhateverTheLength) {
  decide(decision_);
  decision_.options.run_steps = 3;
  decision_.measuring.on_purpose = true;
  const Plan plan = decide(decision_);
  EXPECT_FALSE(plan.remembered);
  EXPECT_EQ(plan.setting(), fast_);
  EXPECT_EQ(rigs_, 2);
}

TEST_F(Decide, NoTimeAndNoChoiceNeedNoRig) {
  decision_.options.seconds = 0;
  EXPECT_EQ(decide(decision_).setting(), reference_);
  EXPECT_THAT(decide(decision_).layout.reason, HasSubstr("plan.seconds is 0"));
  decision_.options.seconds = 10;
  decision_.candidates.settings = {reference_};
  EXPECT_EQ(decide(decision_).setting(), reference_);
  EXPECT_EQ(rigs_, 0);
}

} // namespace
} // namespace temper::plan

// The setting that is most likely the fastest: it is used where nothing is
// measured, and has to be beaten where something is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/calibrate_fixture.h"

namespace temper::plan {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

const Setting kFused{
    "cpu",
    Layout::channels_last,
    4,
    Precision::fp32,
    Kernels::fused};

TEST_F(Calibrate, ThePriorStaysUnlessOneIsFasterBeyondTheNoise) {
  add(kReference, {.step_s = 0.0995});
  add(kFused, {.step_s = 0.100});
  candidates_.prior = kFused;
  EXPECT_EQ(measured().setting(), kFused);
  rig_->behaviours[to_text(kReference)].step_s = 0.08;
  EXPECT_EQ(measured().setting(), kReference);
}

TEST_F(Calibrate, APriorWithWrongGradientsIsOutAsAnybodyIs) {
  add(kFused, {.step_s = 0.05, .agrees = false});
  add(kReference, {.step_s = 0.1});
  candidates_.prior = kFused;
  const Plan plan = measured();
  EXPECT_EQ(plan.setting(), kReference);
  EXPECT_EQ(tried(plan, kFused).verdict, TrialVerdict::rejected);
}

TEST_F(Calibrate, APlanThatWasNotMeasuredTakesThePrior) {
  candidates_.settings = {kFused, kReference};
  candidates_.fallback = kReference;
  candidates_.prior = kFused;
  const Plan plan = plan_unmeasured(candidates_, "the run is short");
  EXPECT_EQ(plan.setting(), kFused);
  EXPECT_EQ(plan.kernels.reason, "default; the run is short");
}

TEST_F(Calibrate, APriorTooSlowToBeMeasuredIsTakenAndABrokenOneIsNot) {
  add(kFused, {.step_s = 7});
  add(kReference, {.step_s = 9});
  candidates_.prior = kFused;
  const Plan slow = measured();
  EXPECT_EQ(slow.setting(), kFused);
  EXPECT_THAT(
      slow.warnings, Contains(HasSubstr("no setting could be measured")));
  rig_->behaviours[to_text(kFused)].throws = true;
  EXPECT_EQ(measured().setting(), kReference);
}

TEST_F(Calibrate, KernelsAreToldByTheirOwnerAndBringTheirLayout) {
  const Setting last{
      "cpu", Layout::channels_last, 4, Precision::fp32, Kernels::stock};
  add(kReference, {.step_s = 0.2});
  add(last, {.step_s = 0.1});
  add(kFused, {.step_s = 0.05});
  candidates_.prior = kFused;
  const Plan plan = measured();
  EXPECT_EQ(plan.layout.reason, "the one that temper's kernels compute in");
  const auto rows = start_rows(plan, false);
  EXPECT_THAT(
      rows,
      Contains(std::pair<std::string, std::string>{
          "kernels",
          "fused, temper's own (50.0 ms a step; LibTorch's: 100 ms, same "
          "gradients)"}));
  EXPECT_THAT(rows.front().second, HasSubstr("fp32, fused kernels; 50.0 ms"));
  EXPECT_THAT(rows, Not(Contains(Key("layout"))));
}

} // namespace
} // namespace temper::plan

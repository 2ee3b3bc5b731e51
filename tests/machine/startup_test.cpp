#include "temper/machine/startup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"

namespace temper::machine {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* kHigh = "PYTORCH_MPS_HIGH_WATERMARK_RATIO";
constexpr const char* kLow = "PYTORCH_MPS_LOW_WATERMARK_RATIO";
constexpr const char* kFallback = "PYTORCH_ENABLE_MPS_FALLBACK";

Machine mac() {
  Machine machine;
  machine.platform.os = "macos";
  machine.cpu.performance = 4;
  machine.cpu.efficiency = 4;
  machine.cpu.physical = 8;
  machine.cpu.usable = 8;
  return machine;
}

TEST(Startup, ThreadsThatComputeSleepSoonUnlessTheUserSaysHowTheyWait) {
  LoadingRequest request;
  EXPECT_THAT(loading_variables(request, {}).variables, IsEmpty());
  request.computes = true;
  const auto variables = [&](const Environment& environment) {
    return loading_variables(request, environment).variables;
  };
  EXPECT_THAT(variables({}), ElementsAre(Pair("GOMP_SPINCOUNT", "1000")));
  EXPECT_THAT(variables({{"GOMP_SPINCOUNT", "7"}}), IsEmpty());
  EXPECT_THAT(variables({{"OMP_WAIT_POLICY", "active"}}), IsEmpty());
}

TEST(Startup, OnAMacMemoryIsLimitedToTheRecommendedWorkingSet) {
  const auto startup = plan_startup({}, {}, mac());
  EXPECT_THAT(startup.variables, Contains(Pair(kHigh, "1.0")));
  // Without it LibTorch stops at "invalid low watermark ratio 1.4".
  EXPECT_THAT(startup.variables, Contains(Pair(kLow, "0.90")));
}

TEST(Startup, TheUsersWatermarkIsKept) {
  const auto both = plan_startup({}, {{kHigh, "0.7"}, {kLow, "0.5"}}, mac());
  EXPECT_THAT(both.variables, IsEmpty());
  const auto high = plan_startup({}, {{kHigh, "0.7"}}, mac());
  EXPECT_THAT(high.variables, ElementsAre(Pair(kLow, "0.63")));
  const auto roomy = plan_startup({}, {{kHigh, "1.7"}}, mac());
  EXPECT_THAT(roomy.variables, IsEmpty());
  const auto off = plan_startup({}, {{kHigh, "0.0"}}, mac());
  EXPECT_THAT(off.variables, IsEmpty());
}

TEST(Startup, OnLinuxNoMpsVariableIsSet) {
  Machine machine = mac();
  machine.platform.os = "linux";
  EXPECT_THAT(plan_startup({}, {}, machine).variables, IsEmpty());
}

TEST(Startup, FallbackIsSetForLoadingUnlessItIsOnAlready) {
  LoadingRequest request;
  request.mps_fallback = true;
  for (const Environment& environment :
       {Environment{}, Environment{{kFallback, "0"}}})
    EXPECT_THAT(
        loading_variables(request, environment).variables,
        ElementsAre(Pair(kFallback, "1")));
  EXPECT_THAT(
      loading_variables(request, {{kFallback, "1"}}).variables, IsEmpty());
}

TEST(Startup, DuplicateOpenmpIsRefusedExceptForInspection) {
  const Environment environment{{"KMP_DUPLICATE_LIB_OK", "TRUE"}};
  EXPECT_THROW(plan_startup({}, environment, mac()), Error);
  StartupRequest inspection;
  inspection.inspect_only = true;
  EXPECT_NO_THROW(plan_startup(inspection, environment, mac()));
}

TEST(Startup, ThreadsAreTheFastCoresThisProcessMayUse) {
  Machine machine = mac();
  EXPECT_EQ(plan_startup({}, {}, machine).threads, 4);
  machine.cpu.usable = 2.5; // a container's quota
  EXPECT_EQ(plan_startup({}, {}, machine).threads, 2);
  machine.cpu.usable = 0.5;
  EXPECT_EQ(plan_startup({}, {}, machine).threads, 1);
  StartupRequest asked;
  asked.threads = 6;
  EXPECT_EQ(plan_startup(asked, {}, machine).threads, 6);
  EXPECT_EQ(plan_startup({}, {}, Machine{}).threads, 1);
}

TEST(Startup, EveryDecisionCarriesItsReason) {
  const auto startup = plan_startup({}, {}, mac());
  EXPECT_THAT(startup.reasons, Contains(HasSubstr("LibTorch threads: 4")));
  EXPECT_THAT(startup.reasons, Contains(HasSubstr("1.0: out of memory is")));
  LoadingRequest request;
  request.computes = true;
  EXPECT_THAT(
      loading_variables(request, {}).reasons,
      ElementsAre(HasSubstr("GOMP_SPINCOUNT=1000: ")));
}

} // namespace
} // namespace temper::machine

// temper's `mps` branches, run on the simulated device.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/libtorch/device_trial.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/mps_memory.h"
#include "temper/libtorch/sim/sim.h"
#include "temper/machine/devices.h"

namespace temper::libtorch {
namespace {

using testing::HasSubstr;

class Mps : public testing::Test {
 protected:
  void TearDown() override {
    sim::set_rules(mps_rules());
  }

  static sim::Rules mps_rules() {
    sim::Rules rules;
    rules.has_float64 = false;
    return rules;
  }

  static std::vector<machine::DeviceReport> devices() {
    machine::Machine machine;
    machine.libtorch = facts();
    return machine::list_devices(machine);
  }
};

TEST_F(Mps, IsSeenAsBuiltIn) {
  EXPECT_TRUE(facts().mps_built);
}

TEST_F(Mps, ThatComputesPassesItsTrialOnTheDeviceItself) {
  const auto before = sim::counts().kernels;
  const DeviceTrial trial = try_device("mps");
  EXPECT_TRUE(trial.works) << trial.why_not;
  EXPECT_GT(sim::counts().kernels, before);
  EXPECT_EQ(sim::counts().live_bytes, 0U)
      << "the trial leaves no tensor behind";
}

TEST_F(Mps, TakesABudgetAndTellsWhatIsUsed) {
  constexpr std::int64_t kMegabyte = 1 << 20;
  if (!limit_mps(64 * kMegabyte))
    GTEST_SKIP() << "this LibTorch has no way to limit MPS";
  const auto bytes = [](std::int64_t count) {
    return at::empty({count}, at::device(at::kMPS).dtype(at::kByte));
  };
  const at::Tensor some = bytes(40 * kMegabyte);
  EXPECT_EQ(
      mps_memory().live_bytes, static_cast<std::uint64_t>(40 * kMegabyte));
  EXPECT_GE(mps_memory().driver_bytes, mps_memory().live_bytes);
  EXPECT_THROW(bytes(40 * kMegabyte), std::exception);
}

TEST_F(Mps, ThatFailsAtTheFirstAllocationIsFoundOut) {
  sim::Rules rules = mps_rules();
  rules.fail_alloc = 1;
  rules.fail_always = true;
  sim::set_rules(rules);
  const DeviceTrial trial = try_device("mps");
  EXPECT_FALSE(trial.works);
  EXPECT_THAT(trial.why_not, HasSubstr("MPS backend out of memory"));
  EXPECT_EQ(machine::choose_device("auto", devices()), "cpu");
  EXPECT_EQ(sim::counts().live_bytes, 0U);
}

TEST_F(Mps, ThatComputesWrongNumbersIsFoundOut) {
  sim::Rules rules = mps_rules();
  rules.fault = "aten::mm:0.01";
  sim::set_rules(rules);
  const DeviceTrial trial = try_device("mps");
  EXPECT_FALSE(trial.works);
  EXPECT_THAT(trial.why_not, HasSubstr("wrong product"));
}

TEST_F(Mps, ThatWorksIsTheDeviceAutoTakes) {
  EXPECT_EQ(machine::choose_device("auto", devices()), "mps");
  EXPECT_EQ(machine::choose_device("gpu", devices()), "mps");
}

} // namespace
} // namespace temper::libtorch

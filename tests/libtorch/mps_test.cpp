// temper's `mps` branches, run on the simulated device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim_mps.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/trial.h"
#include "temper/machine/devices.h"

namespace temper::libtorch {
namespace {

using sim_mps::Fault;
using testing::HasSubstr;

class Mps : public testing::Test {
 protected:
  void TearDown() override {
    sim_mps::set_fault(Fault::none);
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
  const auto before = sim_mps::operators_run();
  const Trial trial = try_device("mps");
  EXPECT_TRUE(trial.works) << trial.why_not;
  EXPECT_GT(sim_mps::operators_run(), before);
  EXPECT_EQ(sim_mps::bytes_in_use(), 0) << "the trial leaves no tensor behind";
}

TEST_F(Mps, ThatFailsAtTheFirstAllocationIsFoundOut) {
  sim_mps::set_fault(Fault::no_memory);
  const Trial trial = try_device("mps");
  EXPECT_FALSE(trial.works);
  EXPECT_THAT(trial.why_not, HasSubstr("MPS backend out of memory"));
  EXPECT_EQ(machine::choose_device("auto", devices()), "cpu");
  EXPECT_EQ(sim_mps::bytes_in_use(), 0);
}

TEST_F(Mps, ThatComputesWrongNumbersIsFoundOut) {
  sim_mps::set_fault(Fault::wrong_numbers);
  const Trial trial = try_device("mps");
  EXPECT_FALSE(trial.works);
  EXPECT_THAT(trial.why_not, HasSubstr("wrong product"));
}

TEST_F(Mps, ThatWorksIsTheDeviceAutoTakes) {
  EXPECT_EQ(machine::choose_device("auto", devices()), "mps");
  EXPECT_EQ(machine::choose_device("gpu", devices()), "mps");
}

} // namespace
} // namespace temper::libtorch

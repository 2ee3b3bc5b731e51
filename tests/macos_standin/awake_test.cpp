#include "temper/machine/awake.h"

#include <gtest/gtest.h>

#include "fake_power.h"
#include "fake_registry.h"

namespace temper::machine {
namespace {

TEST(MacAwake, TheSystemStaysAwakeAndTheDisplayMaySleep) {
  const int objects = fake::live_objects();
  {
    const KeepAwake awake("temper trains net");
    EXPECT_TRUE(awake.held());
    const auto held = fake::live_assertions();
    ASSERT_EQ(held.size(), 1U);
    EXPECT_EQ(held[0].type, "PreventUserIdleSystemSleep");
    EXPECT_EQ(held[0].name, "temper trains net");
    EXPECT_EQ(held[0].level, 255U); // kIOPMAssertionLevelOn
  }
  EXPECT_TRUE(fake::live_assertions().empty());
  EXPECT_EQ(fake::live_objects(), objects);
}

TEST(MacAwake, ARefusalIsNoError) {
  fake::refuse_assertions(true);
  {
    const KeepAwake awake("temper trains net");
    EXPECT_FALSE(awake.held());
  }
  fake::refuse_assertions(false);
  EXPECT_TRUE(fake::live_assertions().empty());
}

} // namespace
} // namespace temper::machine

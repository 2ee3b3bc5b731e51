#include "temper/machine/awake.h"

#include <gtest/gtest.h>

#include "fake_power.h"
#include "fake_registry.h"

namespace temper::machine {
namespace {

TEST(MacAwake, the_system_stays_awake_and_the_display_may_sleep) {
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

TEST(MacAwake, a_refusal_is_no_error) {
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

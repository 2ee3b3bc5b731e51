#include "temper/machine/device_kind.h"

#include <gtest/gtest.h>

namespace temper::machine {
namespace {

TEST(DeviceKind, IsThatOfTheNameBeforeItsNumber) {
  EXPECT_EQ(device_kind("cpu"), DeviceKind::cpu);
  EXPECT_EQ(device_kind("cuda"), DeviceKind::cuda);
  EXPECT_EQ(device_kind("cuda:1"), DeviceKind::cuda);
  EXPECT_EQ(device_kind("mps:0"), DeviceKind::mps);
  EXPECT_EQ(device_kind("sim"), DeviceKind::sim);
  EXPECT_EQ(device_kind("auto"), DeviceKind::other);
  EXPECT_EQ(device_kind("cpus"), DeviceKind::other);
}

} // namespace
} // namespace temper::machine

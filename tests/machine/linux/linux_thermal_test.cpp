#include "temper/machine/linux/linux_thermal.h"

#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "tests/machine/fake_root.h"

namespace temper::machine {
namespace {

void write_zone(const FakeRoot& root, int zone, const char* temperature) {
  const auto name = cat("/sys/class/thermal/thermal_zone", zone, "/");
  root.write(name + "temp", temperature);
  root.write(name + "trip_point_0_type", "passive\n");
  root.write(name + "trip_point_0_temp", "20000\n");
  root.write(name + "trip_point_1_type", "critical\n");
  root.write(name + "trip_point_1_temp", "100000\n");
}

TEST(LinuxThermal, TheLevelIsTheRoomLeftBelowTheLimit) {
  const auto level = [](const char* temperature) {
    FakeRoot root;
    write_zone(root, 0, temperature);
    return LinuxThermal(root.path()).read(0);
  };
  EXPECT_EQ(level("45000\n"), Thermal::nominal);
  EXPECT_EQ(level("86000\n"), Thermal::moderate);
  EXPECT_EQ(level("96000\n"), Thermal::heavy);
  EXPECT_EQ(level("100000\n"), Thermal::critical);
  EXPECT_EQ(level("-274000\n"), Thermal::nominal);
  EXPECT_EQ(level(""), Thermal::unknown);
  EXPECT_EQ(level("hot\n"), Thermal::unknown);
}

TEST(LinuxThermal, TheHottestZoneDecides) {
  FakeRoot root;
  write_zone(root, 0, "45000\n");
  write_zone(root, 1, "96000\n");
  write_zone(root, 2, "45000\n");
  EXPECT_EQ(LinuxThermal(root.path()).read(0), Thermal::heavy);
}

TEST(LinuxThermal, AZoneWithoutALimitSaysNothing) {
  FakeRoot root;
  const std::string zone = "/sys/class/thermal/thermal_zone0/";
  root.write(zone + "temp", "95000\n");
  EXPECT_EQ(LinuxThermal(root.path()).read(0), Thermal::unknown);
  root.write(zone + "trip_point_0_type", "critical\n");
  root.write(zone + "trip_point_0_temp", "-274000\n");
  EXPECT_EQ(LinuxThermal(root.path()).read(0), Thermal::unknown);
}

TEST(LinuxThermal, AChipThatSlowsItselfIsUnderHeavyHeat) {
  FakeRoot root;
  const char* counter =
      "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count";
  root.write(counter, "7\n");
  LinuxThermal thermal(root.path());
  EXPECT_EQ(thermal.read(0), Thermal::nominal) << "was long ago";
  root.write(counter, "8\n");
  EXPECT_EQ(thermal.read(10), Thermal::heavy);
  EXPECT_EQ(thermal.read(20), Thermal::nominal);
}

TEST(LinuxThermal, SensorsAreAskedEveryFewSecondsOnly) {
  FakeRoot root;
  write_zone(root, 0, "45000\n");
  LinuxThermal thermal(root.path());
  EXPECT_EQ(thermal.read(100), Thermal::nominal);
  write_zone(root, 0, "100000\n");
  EXPECT_EQ(thermal.read(101), Thermal::nominal);
  EXPECT_EQ(thermal.read(105), Thermal::critical);
}

} // namespace
} // namespace temper::machine

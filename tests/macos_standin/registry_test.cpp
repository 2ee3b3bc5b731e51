#include <gtest/gtest.h>

#include "fake_registry.h"
#include "temper/machine/mac/mac_registry.h"

namespace temper::machine {
namespace {

TEST(MacRegistry, AcceleratorsAreDescribedByThemselvesOrTheirPciDevice) {
  MacRegistry registry;
  const auto gpus = registry.accelerators();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].class_name, "AGXAcceleratorG13G");
  EXPECT_EQ(gpus[0].model, "Apple M1");
  EXPECT_EQ(gpus[0].cores, 7);
  EXPECT_EQ(gpus[0].vram_mb, std::nullopt);
  EXPECT_EQ(gpus[1].model, "AMD Radeon Pro 5500M");
  EXPECT_EQ(gpus[1].cores, std::nullopt);
  EXPECT_EQ(gpus[1].vram_mb, 8176);
  // Numbers only: a text among them is left out.
  EXPECT_EQ(
      gpus[0].statistics,
      (std::map<std::string, std::int64_t>{
          {"Device Utilization %", 40}, {"recoveryCount", 1}}));
}

TEST(MacRegistry, DrivesAreAddedUp) {
  MacRegistry registry;
  const auto bytes = registry.disk_bytes();
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->read, 2000u);
  EXPECT_EQ(bytes->written, 600u);
}

TEST(MacRegistry, ManyReadsKeepTwoHandlesAndNothingElse) {
  {
    MacRegistry registry;
    for (int read = 0; read < 10; read++) {
      registry.accelerators();
      registry.disk_bytes();
      EXPECT_EQ(fake::live_objects(), 0);
      EXPECT_EQ(fake::live_handles(), 2); // of the two GPUs
    }
  }
  EXPECT_EQ(fake::live_handles(), 0);
}

TEST(MacRegistry, AnUnpluggedGpuIsLetGoAndFoundAgain) {
  MacRegistry registry;
  registry.accelerators();
  fake::unplug_gpus(true);
  for (const MacAccelerator& gpu : registry.accelerators()) {
    EXPECT_TRUE(gpu.statistics.empty());
  }
  EXPECT_EQ(fake::live_handles(), 0);
  fake::unplug_gpus(false);
  EXPECT_EQ(registry.accelerators()[0].statistics.size(), 2u);
}

TEST(MacMetal, TheDeviceIsAskedAndReleased) {
  const auto metal = read_metal();
  ASSERT_TRUE(metal);
  EXPECT_EQ(metal->name, "Apple M1");
  EXPECT_EQ(metal->recommended_bytes, 5726633984u);
  EXPECT_EQ(fake::live_devices(), 0);
  EXPECT_EQ(fake::live_objects(), 0);
}

} // namespace
} // namespace temper::machine

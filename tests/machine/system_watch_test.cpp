#include "temper/machine/system_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::machine {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(SystemWatch, NamesAndUnitsAreMlflows) {
  Sample sample;
  sample.cpu = 0.12345;
  sample.available_bytes = 6'000'000'000;
  sample.rss_bytes = 1'234'567'890;
  sample.swap_used_bytes = 500'000'000;
  sample.process_cpu = 1.5;
  sample.network_in_bytes_per_s = 1;
  sample.network_out_bytes_per_s = 1;
  sample.pressure = Pressure::warning;
  sample.thermal = Thermal::nominal;
  sample.gpus = {{"M2", 0.875, 4'000'000'000, 16'000'000'000, {}}};
  Disk disk;
  disk.total_bytes = 1'000'000'000'000;
  disk.free_bytes = 250'000'000'000;
  EXPECT_THAT(
      system_reading(sample, disk, 8'000'000'000, {1'500'000, 250'000}),
      ElementsAre(
          Pair("cpu_utilization_percentage", 12.3),
          Pair("system_memory_usage_megabytes", 2000),
          Pair("system_memory_usage_percentage", 25),
          Pair("disk_usage_percentage", 75),
          Pair("disk_usage_megabytes", 750'000),
          Pair("disk_available_megabytes", 250'000),
          Pair("network_receive_megabytes", 1.5),
          Pair("network_transmit_megabytes", 0.25),
          Pair("gpu_0_memory_usage_megabytes", 4000),
          Pair("gpu_0_memory_usage_percentage", 25),
          Pair("gpu_0_utilization_percentage", 87.5),
          Pair("process_memory_megabytes", 1234.6),
          Pair("process_cpu_percentage", 150),
          Pair("swap_usage_megabytes", 500),
          Pair("memory_pressure_level", 1),
          Pair("thermal_level", 0)));
}

TEST(SystemWatch, WhatIsNotKnownIsLeftOut) {
  EXPECT_THAT(
      system_reading({}, {}, 0, {}),
      ElementsAre(Pair("swap_usage_megabytes", 0)));
}

TEST(SystemWatch, ReadsWhenItIsTimeAndNotBefore) {
  SystemWatch never(0, 1);
  EXPECT_FALSE(never.due());
  SystemWatch rarely(3600, 1);
  EXPECT_FALSE(rarely.due());
  SystemWatch always(1e-9, 1);
  EXPECT_TRUE(always.due());
}

} // namespace
} // namespace temper::machine

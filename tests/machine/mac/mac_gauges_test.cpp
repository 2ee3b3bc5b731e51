#include "temper/machine/mac/mac_gauges.h"

#include <gtest/gtest.h>

#include "recorded_mac.h"

namespace temper::machine {
namespace {

TEST(MacGauges, PressureLevelsAreOneTwoAndFour) {
  EXPECT_EQ(mac_pressure(1), Pressure::normal);
  EXPECT_EQ(mac_pressure(2), Pressure::warning);
  EXPECT_EQ(mac_pressure(4), Pressure::critical);
  EXPECT_EQ(mac_pressure(0), Pressure::unknown);
  EXPECT_EQ(mac_pressure(3), Pressure::unknown);
  EXPECT_EQ(mac_pressure(std::nullopt), Pressure::unknown);
}

TEST(MacGauges, ThermalLevelsFromTrappingOnAreCritical) {
  EXPECT_EQ(mac_thermal(0), Thermal::nominal);
  EXPECT_EQ(mac_thermal(1), Thermal::moderate);
  EXPECT_EQ(mac_thermal(2), Thermal::heavy);
  EXPECT_EQ(mac_thermal(3), Thermal::critical);
  EXPECT_EQ(mac_thermal(4), Thermal::critical);
  EXPECT_EQ(mac_thermal(5), Thermal::unknown);
  EXPECT_EQ(mac_thermal(std::nullopt), Thermal::unknown);
}

TEST(MacGauges, FilePagesAndPurgeableOnesCountAsAvailable) {
  MacPages pages;
  pages.page_bytes = 16384;
  pages.active = 100;
  pages.inactive = 90;
  pages.wired = 50;
  pages.speculative = 10;
  pages.compressor = 20;
  EXPECT_EQ(mac_available_bytes(pages, 1000 * 16384), (1000 - 270) * 16384u);
  pages.external = 80;
  pages.purgeable = 5;
  EXPECT_EQ(mac_available_bytes(pages, 1000 * 16384), (1000 - 185) * 16384u);
}

TEST(MacGauges, CountsTakenAtDifferentInstantsNeverGoBelowZero) {
  MacPages pages;
  pages.page_bytes = 4096;
  pages.active = 10;
  pages.external = 30;
  EXPECT_EQ(mac_available_bytes(pages, 40960), 40960u);
  pages.wired = 1000;
  EXPECT_EQ(mac_available_bytes(pages, 40960), 0u);
}

TEST(MacGauges, AnAppleGpuReportsUseMemoryAndRecoveries) {
  const RecordedMac mac = m1();
  const GpuGauge gauge = mac_gpu_gauge(mac.gpus[0], 8589934592u);
  EXPECT_EQ(gauge.name, "Apple M1");
  EXPECT_EQ(gauge.utilisation, 0.37);
  EXPECT_EQ(gauge.used_bytes, 1316438016u);
  EXPECT_EQ(gauge.total_bytes, 8589934592u);
  EXPECT_EQ(gauge.recoveries, 2);
}

TEST(MacGauges, ADiscreteGpuHasMemoryOfItsOwn) {
  const RecordedMac mac = intel_i9();
  const GpuGauge gauge = mac_gpu_gauge(mac.gpus[1], 34359738368u);
  EXPECT_EQ(gauge.name, "AMD Radeon Pro 5500M");
  EXPECT_EQ(gauge.utilisation, 0.64);
  EXPECT_EQ(gauge.used_bytes, 3221225472u);
  EXPECT_EQ(gauge.total_bytes, std::uint64_t{8176} << 20);
  EXPECT_EQ(gauge.recoveries, std::nullopt);
}

TEST(MacGauges, AGpuWithoutStatisticsHasANameAndNothingElse) {
  const RecordedMac mac = apple_vm();
  const GpuGauge gauge = mac_gpu_gauge(mac.gpus[0], 7516192768u);
  EXPECT_EQ(gauge.name, "AppleParavirtGPU");
  EXPECT_EQ(gauge.utilisation, std::nullopt);
  EXPECT_EQ(gauge.used_bytes, std::nullopt);
  EXPECT_EQ(gauge.total_bytes, std::nullopt);
  EXPECT_EQ(gauge.recoveries, std::nullopt);
}

TEST(MacGauges, TrafficGrowsAcrossTheWrapOfA32BitCounter) {
  MacTraffic traffic;
  traffic.add({{"en0", 4294967000u, 100}});
  EXPECT_EQ(traffic.in_bytes(), 0u); // what was before is not ours
  traffic.add({{"en0", 704u, 150}});
  EXPECT_EQ(traffic.in_bytes(), 1000u);
  EXPECT_EQ(traffic.out_bytes(), 50u);
}

TEST(MacGauges, ACounterThatWasResetAddsNoTraffic) {
  MacTraffic traffic;
  traffic.add({{"en0", 100000, 100000}});
  traffic.add({{"en0", 10, 20}});
  EXPECT_EQ(traffic.in_bytes(), 0u);
  traffic.add({{"en0", 15, 21}});
  EXPECT_EQ(traffic.in_bytes(), 5u);
  EXPECT_EQ(traffic.out_bytes(), 1u);
}

TEST(MacGauges, TunnelsAndLoopbackAreNotCountedTwice) {
  MacTraffic traffic;
  traffic.add({{"lo0", 0, 0}, {"utun3", 0, 0}, {"en0", 0, 0}, {"en5", 0, 0}});
  traffic.add(
      {{"lo0", 70, 70}, {"utun3", 50, 50}, {"en0", 60, 7}, {"en5", 1, 2}});
  EXPECT_EQ(traffic.in_bytes(), 61u);
  EXPECT_EQ(traffic.out_bytes(), 9u);
}

TEST(MacGauges, AnInterfaceThatComesBackStartsAnew) {
  MacTraffic traffic;
  traffic.add({{"en7", 1000, 1000}});
  traffic.add({});
  traffic.add({{"en7", 5000, 5000}});
  EXPECT_EQ(traffic.in_bytes(), 0u);
}

TEST(MacGauges, AReadFillsTheSampleAndTheCounters) {
  RecordedMac mac = m1();
  MacGauges gauges(mac);
  Sample sample;
  Counters now;
  gauges.read(sample, now);
  EXPECT_EQ(sample.rss_bytes, 900000000u);
  EXPECT_EQ(sample.own_bytes, 900000000u);
  EXPECT_EQ(sample.peak_rss_bytes, 1200000000u);
  EXPECT_EQ(sample.available_bytes, 3494510592u);
  EXPECT_EQ(sample.swap_used_bytes, 1288175616u);
  EXPECT_EQ(sample.pressure, Pressure::normal);
  EXPECT_EQ(sample.thermal, Thermal::nominal);
  EXPECT_EQ(sample.open_files, 31);
  EXPECT_EQ(sample.gpus.size(), 1u);
  EXPECT_EQ(sample.cpu, std::nullopt); // rates are made elsewhere

  ASSERT_EQ(now.cores.size(), 2u);
  EXPECT_EQ(now.cores[0].busy, 160u);
  EXPECT_EQ(now.cores[0].total, 960u);
  EXPECT_EQ(now.cpu.busy, 560u);
  EXPECT_EQ(now.cpu.total, 1960u);
  EXPECT_EQ(now.process_cpu_s, 12.5);
  EXPECT_EQ(now.disk_read_bytes, 7000u);
  EXPECT_EQ(now.disk_write_bytes, 9000u);
  EXPECT_EQ(now.network_in_bytes, 0u);

  (*mac.network)[1].in_bytes += 300;
  Counters later;
  gauges.read(sample = {}, later);
  EXPECT_EQ(later.network_in_bytes, 300u);
  EXPECT_EQ(mac.metal_asked, 0); // too slow for every second
}

TEST(MacGauges, WhatTheSystemDoesNotTellStaysEmpty) {
  RecordedMac mac; // answers nothing
  MacGauges gauges(mac);
  Sample sample;
  Counters now;
  gauges.read(sample, now);
  EXPECT_EQ(sample.rss_bytes, 0u);
  EXPECT_EQ(sample.available_bytes, 0u);
  EXPECT_EQ(sample.pressure, Pressure::unknown);
  EXPECT_EQ(sample.thermal, Thermal::unknown);
  EXPECT_TRUE(sample.gpus.empty());
  EXPECT_TRUE(now.cores.empty());
  EXPECT_EQ(now.disk_read_bytes, std::nullopt);
  EXPECT_EQ(now.network_in_bytes, std::nullopt);
}

} // namespace
} // namespace temper::machine

#include "temper/machine/gauges.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <thread>

namespace temper::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Counters counters(std::uint64_t busy, std::uint64_t total) {
  Counters made;
  made.cpu = {busy, total};
  made.cores = {{busy, total}, {0, total}};
  made.process_cpu_s = static_cast<double>(busy);
  made.disk_read_bytes = busy;
  made.disk_write_bytes = 2 * busy;
  made.network_in_bytes = 3 * busy;
  made.network_out_bytes = 4 * busy;
  return made;
}

TEST(Gauges, RatesAreOverTheTimeBetween) {
  Sample sample;
  fill_rates(sample, counters(100, 200), counters(130, 300), 2);
  EXPECT_DOUBLE_EQ(sample.cpu.value(), 0.3);
  EXPECT_THAT(sample.cores, ElementsAre(0.3, 0));
  EXPECT_DOUBLE_EQ(sample.process_cpu.value(), 15);
  EXPECT_DOUBLE_EQ(sample.disk_read_bytes_per_s.value(), 15);
  EXPECT_DOUBLE_EQ(sample.disk_write_bytes_per_s.value(), 30);
  EXPECT_DOUBLE_EQ(sample.network_in_bytes_per_s.value(), 45);
  EXPECT_DOUBLE_EQ(sample.network_out_bytes_per_s.value(), 60);
}

TEST(Gauges, ACounterThatWentBackwardsGivesNoRate) {
  Sample sample;
  fill_rates(sample, counters(130, 300), counters(100, 400), 2);
  EXPECT_FALSE(sample.cpu);
  EXPECT_THAT(sample.cores, IsEmpty());
  EXPECT_FALSE(sample.process_cpu);
  EXPECT_FALSE(sample.disk_read_bytes_per_s);
  EXPECT_FALSE(sample.disk_write_bytes_per_s);
  EXPECT_FALSE(sample.network_in_bytes_per_s);
  EXPECT_FALSE(sample.network_out_bytes_per_s);
  fill_rates(sample, counters(100, 300), counters(130, 200), 2);
  EXPECT_FALSE(sample.cpu);
}

TEST(Gauges, ACoreThatCameOrWentGivesNoCoreRates) {
  Sample sample;
  auto now = counters(130, 300);
  now.cores.pop_back();
  fill_rates(sample, counters(100, 200), now, 2);
  EXPECT_THAT(sample.cores, IsEmpty());
  EXPECT_TRUE(sample.cpu);
}

TEST(Gauges, WhatIsCountedOnOneSideOnlyGivesNoRate) {
  Sample sample;
  auto now = counters(130, 300);
  now.disk_read_bytes.reset();
  auto before = counters(100, 200);
  before.network_in_bytes.reset();
  fill_rates(sample, before, now, 2);
  EXPECT_FALSE(sample.disk_read_bytes_per_s);
  EXPECT_FALSE(sample.network_in_bytes_per_s);
  EXPECT_TRUE(sample.disk_write_bytes_per_s);
}

TEST(Gauges, WithoutTimeBetweenThereIsNoRate) {
  Sample sample;
  fill_rates(sample, counters(100, 200), counters(130, 300), 0);
  EXPECT_FALSE(sample.cpu);
  EXPECT_FALSE(sample.process_cpu);
}

TEST(Gauges, ShareOfTheCpuIsNeverAboveOne) {
  Sample sample;
  fill_rates(sample, counters(0, 100), counters(50, 120), 1);
  EXPECT_EQ(sample.cpu, 1.0);
}

TEST(Gauges, TheFirstReadHasNoRatesTheSecondDoes) {
  Gauges gauges;
  const Sample first = gauges.read();
  EXPECT_FALSE(first.cpu);
  EXPECT_FALSE(first.process_cpu);
  EXPECT_GT(first.rss_bytes, 0U);
  EXPECT_GE(first.peak_rss_bytes, first.rss_bytes);
  EXPECT_GT(first.available_bytes, 0U);

  // Busy on purpose, so that this process's share cannot be nothing.
  const std::clock_t begin = std::clock(); // of this process
  volatile unsigned spins = 0;
  while (std::clock() - begin < CLOCKS_PER_SEC / 15)
    spins = spins + 1;
  const Sample second = gauges.read();
  EXPECT_GT(second.time_s, first.time_s);
  ASSERT_TRUE(second.process_cpu);
  EXPECT_GT(*second.process_cpu, 0);
  EXPECT_LT(*second.process_cpu, 2 * std::thread::hardware_concurrency());
  ASSERT_TRUE(second.cpu);
  EXPECT_GT(*second.cpu, 0);
  EXPECT_LE(*second.cpu, 1);
}

TEST(Gauges, AnOpenedFileIsCounted) {
  Gauges gauges;
  const int before = gauges.read().open_files;
  const int file = open("/dev/null", O_RDONLY);
  ASSERT_GE(file, 0);
  EXPECT_EQ(gauges.read().open_files, before + 1);
  close(file);
  EXPECT_EQ(gauges.read().open_files, before);
}

TEST(Gauges, LevelsHaveNames) {
  EXPECT_STREQ(to_string(Pressure::unknown), "unknown");
  EXPECT_STREQ(to_string(Pressure::normal), "normal");
  EXPECT_STREQ(to_string(Pressure::warning), "warning");
  EXPECT_STREQ(to_string(Pressure::critical), "critical");
  EXPECT_STREQ(to_string(Thermal::unknown), "unknown");
  EXPECT_STREQ(to_string(Thermal::nominal), "nominal");
  EXPECT_STREQ(to_string(Thermal::moderate), "moderate");
  EXPECT_STREQ(to_string(Thermal::heavy), "heavy");
  EXPECT_STREQ(to_string(Thermal::critical), "critical");
}

} // namespace
} // namespace temper::machine

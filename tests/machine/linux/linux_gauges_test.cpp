#include "temper/machine/linux/linux_gauges.h"

#include <gtest/gtest.h>

#include "tests/machine/fake_root.h"

namespace temper::machine {
namespace {

TEST(LinuxGauges, CpuTimesAreReadForTheSystemAndEachCore) {
  Counters counters;
  parse_cpu_times(
      "cpu  7129 10 3573 141495 2548 1 169 99 50 0\n"
      "cpu0 3160 0 1213 72933 120 0 11 49 0 0\n"
      "cpu1 3969 10 2360 68562 2428 1 158 50 50 0\n"
      "intr 395919 0 0\nctxt 881412\n",
      counters);
  EXPECT_EQ(counters.cpu.busy, 7129U + 10 + 3573 + 1 + 169 + 99);
  EXPECT_EQ(counters.cpu.total, counters.cpu.busy + 141495 + 2548);
  ASSERT_EQ(counters.cores.size(), 2U);
  EXPECT_EQ(counters.cores[0].total, 3160U + 1213 + 72933 + 120 + 11 + 49);
}

TEST(LinuxGauges, BrokenCpuTimesAreLeftOut) {
  Counters counters;
  parse_cpu_times("", counters);
  parse_cpu_times("cpu", counters);
  parse_cpu_times("cpu 1 2 3", counters);
  parse_cpu_times("cpu 1 2 3 x 5\ncpu0 1 -2 3 4 5\n", counters);
  EXPECT_EQ(counters.cpu.total, 0U);
  EXPECT_TRUE(counters.cores.empty());
}

TEST(LinuxGauges, NoByteOfADiskCountsTwice) {
  Counters counters;
  parse_disk_bytes(
      "   7       0 loop0 9 9 999 9 9 9 999 9 0 0 0\n"
      " 259       0 nvme0n1 1 0 100 0 1 0 10 0 0 0 0\n"
      " 259       1 nvme0n1p1 1 0 90 0 1 0 9 0 0 0 0\n"
      " 259       2 nvme0n10 1 0 200 0 1 0 20 0 0 0 0\n"
      " 259       3 nvme0c0n1 1 0 999 0 1 0 999 0 0 0 0\n"
      "   8       0 sda 1 0 1000 0 1 0 100 0 0 0 0\n"
      "   8       1 sda1 1 0 999 0 1 0 99 0 0 0 0\n"
      "  65     160 sdaa 1 0 2000 0 1 0 200 0 0 0 0\n"
      " 253       0 dm-0 1 0 999 0 1 0 999 0 0 0 0\n"
      "   9       0 md0 1 0 999 0 1 0 999 0 0 0 0\n"
      " 254       0 zram0 1 0 999 0 1 0 999 0 0 0 0\n",
      counters);
  EXPECT_EQ(counters.disk_read_bytes, 512U * (100 + 200 + 1000 + 2000));
  EXPECT_EQ(counters.disk_write_bytes, 512U * (10 + 20 + 100 + 200));
}

TEST(LinuxGauges, APartitionWhoseDiskIsNotListedIsADisk) {
  Counters counters;
  parse_disk_bytes(" 202 1 xvda1 1 0 7 0 1 0 3 0 0 0 0\n", counters);
  EXPECT_EQ(counters.disk_read_bytes, 512U * 7);
}

TEST(LinuxGauges, WithoutDisksThereIsNoDiskCounter) {
  Counters counters;
  parse_disk_bytes("", counters);
  parse_disk_bytes("8 0 sda 1 0", counters);
  parse_disk_bytes("8 0 sda 1 0 x 0 1 0 y 0 0 0 0\n", counters);
  parse_disk_bytes("7 0 loop0 9 9 999 9 9 9 999 9 0 0 0\n", counters);
  EXPECT_FALSE(counters.disk_read_bytes);
  EXPECT_FALSE(counters.disk_write_bytes);
}

constexpr const char* kNetHeading =
    "Inter-|   Receive                  |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes\n";

TEST(LinuxGauges, NetworkBytesAreThoseOfRealInterfaces) {
  Counters counters;
  parse_network_bytes(
      std::string(kNetHeading) +
          "    lo: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0\n"
          "  eth0: 100 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n"
          "wlp2s0:200 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n"
          "docker0: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n"
          "veth1a: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n"
          "eth0.100: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n",
      counters);
  EXPECT_EQ(counters.network_in_bytes, 300U);
  EXPECT_EQ(counters.network_out_bytes, 30U);
}

TEST(LinuxGauges, AContainerWithOnlyATunnelCountsTheTunnel) {
  Counters counters;
  parse_network_bytes(
      std::string(kNetHeading) +
          "    lo: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0\n"
          "  tap0: 100 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n",
      counters);
  EXPECT_EQ(counters.network_in_bytes, 100U);
  Counters alone;
  parse_network_bytes("lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n", alone);
  parse_network_bytes("eth0: 1 1 0 0\n", alone);
  EXPECT_FALSE(alone.network_in_bytes);
}

TEST(LinuxGauges, PressureFollowsTheTimeLost) {
  const auto pressure = [](const char* text) {
    Sample sample;
    parse_memory_pressure(text, sample);
    return sample;
  };
  const auto calm = pressure(
      "some avg10=1.50 avg60=0.00 avg300=0.00 total=0\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  EXPECT_EQ(calm.pressure, Pressure::normal);
  EXPECT_DOUBLE_EQ(calm.memory_stall.value(), 0.015);
  EXPECT_EQ(
      pressure("some avg10=10.50 avg60=0\nfull avg10=9.00 avg60=0\n").pressure,
      Pressure::warning);
  EXPECT_EQ(
      pressure("some avg10=40.00 avg60=0\nfull avg10=12.00 avg60=0\n").pressure,
      Pressure::critical);
  for (const char* broken :
       {"",
        "some",
        "some avg10=",
        "some avg60=1",
        "some avg10=x",
        "\xff\xff",
        "some avg10=-1",
        "some avg10=1e9",
        "some avg10=nan"}) {
    EXPECT_EQ(pressure(broken).pressure, Pressure::unknown) << broken;
    EXPECT_FALSE(pressure(broken).memory_stall) << broken;
  }
}

Sample read(const FakeRoot& root) {
  LinuxGauges gauges(root.path());
  Sample sample;
  Counters counters;
  gauges.read(sample, counters);
  return sample;
}

TEST(LinuxGauges, MemoryIsReadForTheProcessAndTheSystem) {
  FakeRoot root;
  root.write("/proc/self/status", "VmHWM:\t    1804 kB\nVmRSS:\t  1000 kB\n");
  root.write(
      "/proc/meminfo",
      "MemTotal: 4096 kB\nMemFree: 10 kB\nMemAvailable:   2048 kB\n"
      "SwapTotal: 1024 kB\nSwapFree: 1000 kB\n");
  const Sample sample = read(root);
  EXPECT_EQ(sample.rss_bytes, 1000U << 10);
  EXPECT_EQ(sample.peak_rss_bytes, 1804U << 10);
  EXPECT_EQ(sample.available_bytes, 2048U << 10);
  EXPECT_EQ(sample.swap_used_bytes, 24U << 10);
}

TEST(LinuxGauges, PagesOfMappedFilesAreNotTheProcesssOwn) {
  FakeRoot root;
  root.write(
      "/proc/self/status",
      "VmRSS:\t  9000 kB\nRssAnon:\t  700 kB\nRssFile:\t  8000 kB\n"
      "RssShmem:\t  300 kB\n");
  EXPECT_EQ(read(root).own_bytes, 1000U << 10);
  EXPECT_EQ(read(root).rss_bytes, 9000U << 10);
  root.write("/proc/self/status", "VmRSS:\t  9000 kB\n"); // an old system
  EXPECT_EQ(read(root).own_bytes, 9000U << 10);
}

TEST(LinuxGauges, AvailableMemoryEndsAtTheGroupsLimit) {
  FakeRoot root;
  root.write("/proc/meminfo", "MemTotal: 4096 kB\nMemAvailable: 2048 kB\n");
  root.write(
      "/proc/self/mountinfo",
      "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.write("/proc/self/cgroup", "0::/job\n");
  root.write("/sys/fs/cgroup/job/memory.max", "1000000\n");
  root.write("/sys/fs/cgroup/job/memory.current", "400000\n");
  root.write("/sys/fs/cgroup/job/memory.stat", "inactive_file 100000\n");
  EXPECT_EQ(read(root).available_bytes, 700000U);
  root.write("/sys/fs/cgroup/job/memory.max", "1000000000\n");
  EXPECT_EQ(read(root).available_bytes, 2048U << 10);
}

TEST(LinuxGauges, NothingReadableIsNothingClaimed) {
  const FakeRoot root;
  const Sample sample = read(root);
  EXPECT_EQ(sample.rss_bytes, 0U);
  EXPECT_EQ(sample.available_bytes, 0U);
  EXPECT_EQ(sample.pressure, Pressure::unknown);
  EXPECT_EQ(sample.thermal, Thermal::unknown);
}

} // namespace
} // namespace temper::machine

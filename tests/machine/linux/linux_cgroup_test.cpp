#include "temper/machine/linux/linux_cgroup.h"

#include <gtest/gtest.h>

#include "temper/machine/linux/linux_facts.h"
#include "tests/machine/fake_root.h"

namespace temper::machine {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr const char* kUnified =
    "25 1 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
constexpr const char* kLegacy =
    "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
    "rw,cpu,cpuacct\n"
    "35 25 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup "
    "rw,memory\n";

std::optional<CgroupLimit> limit(const FakeRoot& root) {
  return memory_limit(linux_cgroups(root.path(), "memory"));
}

std::optional<double> quota(const FakeRoot& root) {
  return cpu_quota(linux_cgroups(root.path(), "cpu"));
}

FakeRoot& unified(FakeRoot& root, const std::string& group) {
  root.write("/proc/self/mountinfo", kUnified);
  root.write("/proc/self/cgroup", "0::" + group + "\n");
  return root;
}

TEST(LinuxCgroup, ALimitOfTheOwnGroupHolds) {
  FakeRoot root;
  unified(root, "/user.slice/job");
  root.write("/sys/fs/cgroup/user.slice/job/memory.max", "1048576\n");
  ASSERT_TRUE(limit(root));
  EXPECT_EQ(limit(root)->bytes, kMiB);
  EXPECT_EQ(limit(root)->source, "cgroup v2 /user.slice/job");
}

TEST(LinuxCgroup, TheTightestLimitOnTheWayUpHolds) {
  FakeRoot root;
  unified(root, "/a/b/c");
  root.write("/sys/fs/cgroup/a/b/c/memory.max", "3000\n");
  root.write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  root.write("/sys/fs/cgroup/a/memory.max", "1000\n");
  root.write("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  root.write("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
  root.write("/sys/fs/cgroup/a/cpu.max", "400000 100000\n");
  EXPECT_EQ(limit(root)->bytes, 1000U);
  EXPECT_EQ(limit(root)->source, "cgroup v2 /a");
  EXPECT_EQ(quota(root), 1.5);
}

TEST(LinuxCgroup, MaxIsNoLimit) {
  FakeRoot root;
  unified(root, "/a");
  root.write("/sys/fs/cgroup/a/memory.max", "max\n");
  root.write("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_FALSE(limit(root));
  EXPECT_FALSE(quota(root));
}

TEST(LinuxCgroup, GarbageIsNoLimit) {
  for (const char* garbage :
       {"",
        "\n",
        "0",
        "-1",
        "12x",
        "99999999999999999999",
        "\x01\x02",
        "1 2 3"}) {
    FakeRoot root;
    unified(root, "/a");
    root.write("/sys/fs/cgroup/a/memory.max", garbage);
    root.write("/sys/fs/cgroup/a/cpu.max", garbage);
    EXPECT_FALSE(limit(root)) << garbage;
    EXPECT_FALSE(quota(root)) << garbage;
  }
  FakeRoot root;
  unified(root, "/a");
  root.write("/sys/fs/cgroup/a/cpu.max", "100000 0\n");
  EXPECT_FALSE(quota(root));
  root.write("/sys/fs/cgroup/a/memory.max", std::string(5 << 20, '1'));
  EXPECT_FALSE(limit(root));
}

TEST(LinuxCgroup, VersionOneHasAFileAndAMountPerController) {
  FakeRoot root;
  root.write("/proc/self/mountinfo", kLegacy);
  root.write(
      "/proc/self/cgroup",
      "12:memory:/batch/job\n4:cpu,cpuacct:/batch\n1:name=systemd:/x\n");
  root.write(
      "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("/sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "2097152\n");
  root.write(
      "/sys/fs/cgroup/memory/batch/job/memory.limit_in_bytes",
      "9223372036854771712\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "50000\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limit(root)->bytes, 2 * kMiB);
  EXPECT_EQ(limit(root)->source, "cgroup v1 /batch");
  EXPECT_EQ(quota(root), 0.5);

  root.write("/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "-1\n");
  EXPECT_FALSE(quota(root));
  root.write(
      "/sys/fs/cgroup/memory/batch/memory.limit_in_bytes",
      "9223372036854771712\n");
  EXPECT_FALSE(limit(root));
}

TEST(LinuxCgroup, BothVersionsMayBeMountedAtOnce) {
  FakeRoot root;
  root.write(
      "/proc/self/mountinfo",
      std::string(kLegacy) +
          "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  root.write("/proc/self/cgroup", "4:memory:/job\n0::/\n");
  root.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096\n");
  EXPECT_EQ(limit(root)->source, "cgroup v1 /job");
}

TEST(LinuxCgroup, InAContainerOfVersionOneTheMountIsTheGroup) {
  FakeRoot root;
  root.write(
      "/proc/self/mountinfo",
      "35 25 0:32 /docker/4f2a /sys/fs/cgroup/memory ro - cgroup cgroup "
      "rw,memory\n");
  root.write("/proc/self/cgroup", "4:memory:/docker/4f2a\n");
  root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(limit(root)->bytes, kMiB);
  EXPECT_EQ(limit(root)->source, "cgroup v1 /docker/4f2a");

  root.write("/proc/self/cgroup", "4:memory:/docker/4f2a/inner\n");
  root.write("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "4096\n");
  EXPECT_EQ(limit(root)->source, "cgroup v1 /docker/4f2a/inner");
}

TEST(LinuxCgroup, AGroupThatIsNotBelowTheMountMeansTheMountItself) {
  for (const char* name :
       {"/", "", "/docker/4f2a", "/../../system.slice", "/..", "relative"}) {
    FakeRoot root;
    unified(root, name);
    root.write("/sys/fs/cgroup/memory.max", "1048576\n");
    root.write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    ASSERT_TRUE(limit(root)) << name;
    EXPECT_EQ(limit(root)->source, "cgroup v2 /") << name;
    EXPECT_EQ(quota(root), 2.0) << name;
  }
}

TEST(LinuxCgroup, AGroupOutsideTheNamespaceIsNotLookedForOutsideTheMount) {
  FakeRoot root;
  unified(root, "/../other");
  root.write("/sys/fs/other/memory.max", "4096\n");
  root.write("/sys/fs/cgroup/memory.max", "1048576\n");
  EXPECT_EQ(limit(root)->bytes, kMiB);
}

TEST(LinuxCgroup, AnEndlessGroupNameIsSurvived) {
  FakeRoot root;
  std::string name;
  for (int i = 0; i < 200'000; ++i)
    name += "/a";
  unified(root, name);
  root.write("/sys/fs/cgroup/memory.max", "1048576\n");
  EXPECT_EQ(limit(root)->bytes, kMiB);
}

TEST(LinuxCgroup, MissingAndBrokenTablesGiveNothing) {
  FakeRoot root;
  EXPECT_TRUE(linux_cgroups(root.path(), "memory").empty());
  for (const char* broken :
       {"",
        "\n",
        "0",
        "0:",
        ":::",
        "\x7f"
        "ELF",
        "x:y"}) {
    root.write("/proc/self/cgroup", broken);
    root.write("/proc/self/mountinfo", broken);
    EXPECT_TRUE(linux_cgroups(root.path(), "memory").empty()) << broken;
    root.write("/proc/self/mountinfo", kUnified);
    EXPECT_TRUE(linux_cgroups(root.path(), "memory").empty()) << broken;
  }
}

TEST(LinuxCgroup, CacheThatCanBeDroppedCountsAsAvailable) {
  FakeRoot root;
  unified(root, "/a/b");
  root.write("/sys/fs/cgroup/a/memory.max", "1000\n");
  root.write("/sys/fs/cgroup/a/memory.current", "900\n");
  root.write(
      "/sys/fs/cgroup/a/memory.stat",
      "anon 500\ninactive_file 300\nactive_file 100\n");
  root.write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  root.write("/sys/fs/cgroup/a/b/memory.current", "999999\n");
  EXPECT_EQ(memory_available(linux_cgroups(root.path(), "memory")), 400U);

  root.write("/sys/fs/cgroup/a/memory.current", "5000\n");
  EXPECT_EQ(memory_available(linux_cgroups(root.path(), "memory")), 0U);
}

TEST(LinuxCgroup, VersionOneCountsTheCacheOfAllChildren) {
  FakeRoot root;
  root.write("/proc/self/mountinfo", kLegacy);
  root.write("/proc/self/cgroup", "12:memory:/job\n");
  root.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n");
  root.write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "900\n");
  root.write(
      "/sys/fs/cgroup/memory/job/memory.stat",
      "inactive_file 1\ntotal_inactive_file 200\n");
  EXPECT_EQ(memory_available(linux_cgroups(root.path(), "memory")), 300U);
}

TEST(LinuxMemory, OnlyALimitBelowPhysicalMemoryCounts) {
  FakeRoot root;
  unified(root, "/a");
  root.write("/proc/meminfo", "MemTotal:       2048 kB\nSwapTotal:  512 kB\n");
  root.write("/sys/fs/cgroup/a/memory.max", "2097152\n");
  auto memory = linux_memory(root.path(), 4096, std::nullopt);
  EXPECT_EQ(memory.physical_bytes, 2 * kMiB);
  EXPECT_EQ(memory.swap_bytes, kMiB / 2);
  EXPECT_EQ(memory.page_bytes, 4096U);
  EXPECT_FALSE(memory.limit_bytes);
  EXPECT_EQ(memory.usable_bytes(), 2 * kMiB);

  root.write("/sys/fs/cgroup/a/memory.max", "1048576\n");
  memory = linux_memory(root.path(), 4096, std::nullopt);
  EXPECT_EQ(memory.limit_bytes, kMiB);
  EXPECT_EQ(memory.limit_source, "cgroup v2 /a");
  EXPECT_EQ(memory.usable_bytes(), kMiB);
}

TEST(LinuxMemory, TheTighterOfGroupAndAddressSpaceIsNamed) {
  FakeRoot root;
  unified(root, "/a");
  root.write("/proc/meminfo", "MemTotal:       2048 kB\n");
  root.write("/sys/fs/cgroup/a/memory.max", "1048576\n");
  EXPECT_EQ(linux_memory(root.path(), 1, 4096).limit_source, "RLIMIT_AS");
  EXPECT_EQ(linux_memory(root.path(), 1, 4096).limit_bytes, 4096U);
  EXPECT_EQ(
      linux_memory(root.path(), 1, 3 * kMiB / 2).limit_source, "cgroup v2 /a");
}

TEST(LinuxMemory, BrokenMeminfoIsUnknownNotWrong) {
  for (const char* broken :
       {"",
        "MemTotal:",
        "MemTotal: 12",
        "MemTotal: 12 k",
        "MemTotal: x kB",
        "MemTotal: -5 kB",
        "MemTotal: 99999999999999999999 kB",
        "MemTotal: 18446744073709551615 kB",
        "XMemTotal: 12 kB"}) {
    FakeRoot root;
    root.write("/proc/meminfo", broken);
    EXPECT_EQ(linux_memory(root.path(), 1, {}).physical_bytes, 0U) << broken;
  }
}

} // namespace
} // namespace temper::machine

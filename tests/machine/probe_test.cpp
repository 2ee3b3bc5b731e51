// probe() on the machine the tests run on, against what the system says by
// other ways.
#include "temper/machine/probe.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "fake_root.h"
#include "tests/emulator.h"

namespace temper::machine {
namespace {

TEST(Probe, CountsTheCpusAsTheSystemDoes) {
  const Machine machine = probe();
  EXPECT_EQ(machine.cpu.logical, sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_LE(machine.cpu.physical, machine.cpu.logical);
  EXPECT_EQ(
      machine.cpu.performance + machine.cpu.efficiency, machine.cpu.physical);
  EXPECT_GT(machine.cpu.usable, 0);
  // Affinity is in both; a container's quota may tighten ours further.
  EXPECT_LE(machine.cpu.usable, std::thread::hardware_concurrency());
}

TEST(Probe, AgreesWithTheSystemOnMemory) {
  const Machine machine = probe();
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  EXPECT_EQ(machine.memory.page_bytes, page_bytes);
  // Within a part in a hundred: a balloon may move between the two readings.
  EXPECT_NEAR(
      static_cast<double>(machine.memory.physical_bytes),
      static_cast<double>(pages * page_bytes),
      0.01 * static_cast<double>(pages * page_bytes));
  EXPECT_LE(machine.memory.usable_bytes(), machine.memory.physical_bytes);
  EXPECT_EQ(
      machine.memory.limit_bytes.has_value(),
      !machine.memory.limit_source.empty());
}

// The address space in use, 0 where the system does not say.
std::uint64_t address_space_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(Probe, SeesALimitOfTheAddressSpace) {
  if (tests::emulated()) GTEST_SKIP() << "the emulator sets no such limit";
  const std::uint64_t limit_bytes = probe().memory.usable_bytes() / 2;
  const std::uint64_t used_bytes = address_space_bytes();
  if (used_bytes == 0 || used_bytes > limit_bytes / 2)
    GTEST_SKIP() << "not safe to set here";
  rlimit saved{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &saved), 0);
  rlimit limited = saved;
  limited.rlim_cur = limit_bytes;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  const Machine machine = probe();
  setrlimit(RLIMIT_AS, &saved);
  EXPECT_EQ(machine.memory.limit_bytes, limit_bytes);
  EXPECT_EQ(machine.memory.limit_source, "RLIMIT_AS");
}

TEST(Probe, NamesThePlatformAndTheVectorLevel) {
  const Machine machine = probe();
  EXPECT_FALSE(machine.platform.os.empty());
  EXPECT_FALSE(machine.platform.kernel.empty());
  EXPECT_FALSE(machine.cpu.arch.empty());
  EXPECT_FALSE(machine.cpu.simd.empty());
}

TEST(Probe, ReadsTheLimitOfOpenFiles) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur == RLIM_INFINITY) GTEST_SKIP() << "no limit";
  EXPECT_EQ(probe().open_files.soft, limit.rlim_cur);
}

TEST(Probe, LooksAtTheDiskOfARunDirectoryThatIsNotThereYet) {
  const FakeRoot root;
  const Machine machine = probe(root.at("/runs/first"));
  EXPECT_EQ(machine.disk.path, root.at("/runs/first").string());
  EXPECT_GT(machine.disk.total_bytes, 0U);
  EXPECT_FALSE(machine.disk.filesystem.empty());
}

} // namespace
} // namespace temper::machine

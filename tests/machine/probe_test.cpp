// probe() on the machine the tests run on, against what the system says by
// other ways.
#include "temper/machine/probe.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "fake_root.h"

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

}  // namespace
}  // namespace temper::machine

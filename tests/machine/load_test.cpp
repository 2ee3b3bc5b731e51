#include "temper/machine/load.h"

#include <gtest/gtest.h>

#include "temper/machine/linux/linux_gauges.h"
#include "tests/machine/fake_root.h"

namespace temper::machine {
namespace {

Cpu cpu_of(int cores, double usable) {
  Cpu cpu;
  cpu.logical = cores;
  cpu.usable = usable;
  return cpu;
}

Sample sample_of(double system, double own) {
  Sample sample;
  sample.cpu = system;
  sample.process_cpu = own;
  return sample;
}

TEST(Load, OthersAreTheSystemWithoutThisProcess) {
  EXPECT_FALSE(load_of(Sample{}, cpu_of(8, 8)));
  EXPECT_FALSE(load_of(sample_of(0.5, 1), Cpu{}));
  EXPECT_DOUBLE_EQ(load_of(sample_of(0.5, 3), cpu_of(8, 8))->others, 1);
  // Read a moment apart.
  EXPECT_DOUBLE_EQ(load_of(sample_of(0.5, 5), cpu_of(8, 8))->others, 0);
}

TEST(Load, CoresThatNobodyNeedsAreNotMissed) {
  // A container with 2 of 64 cores, on a host that is half busy.
  EXPECT_FALSE(load_of(sample_of(0.5, 2), cpu_of(64, 2))->busy());
  EXPECT_TRUE(load_of(sample_of(1, 1), cpu_of(64, 2))->busy());
  EXPECT_TRUE(load_of(sample_of(1, 1), cpu_of(2, 2))->busy());
  EXPECT_FALSE(load_of(sample_of(0.6, 1), cpu_of(2, 2))->busy());
}

TEST(Load, TimeThatTheHypervisorTookCountsAndIsNamed) {
  Sample sample = sample_of(1, 1);
  sample.stolen = 0.4;
  const auto load = load_of(sample, cpu_of(2, 2));
  EXPECT_DOUBLE_EQ(load->stolen, 0.8);
  EXPECT_NEAR(load->others, 0.2, 1e-12);
  EXPECT_TRUE(load->busy());
  EXPECT_EQ(
      to_text(*load),
      "other guests of the host are using the processor (0.8 of 2 cores)");
}

TEST(Load, AQuotaThatRanOutCountsAndIsNamed) {
  Sample sample = sample_of(0.2, 1.5);
  sample.throttled = 0.4;
  const auto load = load_of(sample, cpu_of(8, 1.5));
  EXPECT_TRUE(load->busy());
  EXPECT_EQ(
      to_text(*load),
      "the container's limit of 1.5 cores holds it back 40 % of the time");
}

TEST(Load, TheWordsHaveTheLoadAverage) {
  Sample sample = sample_of(1, 0.6);
  sample.load_average = 12.04;
  EXPECT_EQ(
      to_text(*load_of(sample, cpu_of(2, 2))),
      "other programs are using the processor (1.4 of 2 cores, load 12.0)");
  sample.cpu = 0.35;
  EXPECT_EQ(
      to_text(*load_of(sample, cpu_of(2, 2))),
      "0.1 of 2 cores used by others, load 12.0");
}

// As /proc has it on a guest whose host is busy: 200 ticks went by, 60 of them
// stolen.
TEST(Load, StolenTicksAreReadFromTheSystem) {
  Counters before;
  Counters now;
  parse_cpu_times("cpu 100 0 50 800 0 0 0 10 0 0\n", before);
  parse_cpu_times("cpu 160 0 70 860 0 0 0 70 0 0\n", now);
  Sample sample;
  fill_rates(sample, before, now, 1);
  EXPECT_DOUBLE_EQ(sample.stolen.value_or(-1), 0.3);
  EXPECT_DOUBLE_EQ(sample.cpu.value_or(-1), 0.7);
}

TEST(Load, TheAverageIsTheFirstNumber) {
  EXPECT_EQ(load_average("12.53 8.10 3.00 5/812 4711\n"), 12.53);
  EXPECT_FALSE(load_average(""));
  EXPECT_FALSE(load_average("many\n"));
}

TEST(Load, PeriodsOfAQuotaAreReadFromTheGroupHeldBackMost) {
  tests::TempFolder folder;
  for (const char* name : {"a", "b", "c"})
    std::filesystem::create_directories(folder.path() / name);
  folder.write("a/cpu.stat", "usage_usec 5\nnr_periods 50\nnr_throttled 1\n");
  folder.write("b/cpu.stat", "nr_periods 80\nnr_throttled 20\nrubbish\n");
  folder.write("c/cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\n");
  const auto group = [&](const char* name) {
    return Cgroup{2, folder.path() / name, name};
  };
  const auto seen = cpu_throttling({group("a"), group("b"), group("c")});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->periods, 80U);
  EXPECT_EQ(seen->throttled, 20U);
  EXPECT_FALSE(cpu_throttling({group("c")}));
  EXPECT_FALSE(cpu_throttling({}));
}

// The real one, whatever runs here: within what the machine has.
TEST(Load, IsReadOnlyAfterAWhile) {
  Cpu cpu = cpu_of(4, 4);
  const auto read = watch_load(cpu);
  EXPECT_FALSE(read()); // at once
}

} // namespace
} // namespace temper::machine

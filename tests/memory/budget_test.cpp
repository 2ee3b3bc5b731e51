#include "temper/memory/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::memory {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

machine::Machine machine_with(std::uint64_t bytes) {
  machine::Machine machine;
  machine.memory.physical_bytes = bytes;
  return machine;
}

TEST(Budget, TheConfigComesFirst) {
  const auto machine = machine_with(16 * kGiB);
  BudgetRequest request{"cpu", machine, {}, 4 * kGiB, {}, kGiB};
  EXPECT_EQ(budget_for(request).bytes, 4 * kGiB);
  EXPECT_EQ(budget_for(request).why, "memory.budget");
}

TEST(Budget, OnTheCpuIsAPartOfMemory) {
  const auto machine = machine_with(10 * kGiB);
  const Budget budget = budget_for({"cpu", machine, {}, {}, {}, 0});
  EXPECT_EQ(budget.bytes, 8 * kGiB);
  EXPECT_THAT(budget.why, HasSubstr("80 % of 10.0 GiB of memory"));
}

TEST(Budget, AContainersLimitIsTighter) {
  auto machine = machine_with(100 * kGiB);
  machine.memory.limit_bytes = 10 * kGiB;
  machine.memory.limit_source = "cgroup v2 /user.slice";
  const Budget budget = budget_for({"cpu", machine, {}, {}, {}, 0});
  EXPECT_EQ(budget.bytes, 8 * kGiB);
  EXPECT_THAT(budget.why, HasSubstr("cgroup v2"));
}

TEST(Budget, AnAddressSpaceLeavesRoomForLibraries) {
  auto machine = machine_with(100 * kGiB);
  machine.memory.limit_bytes = 10 * kGiB;
  machine.memory.limit_source = "RLIMIT_AS";
  EXPECT_EQ(budget_for({"cpu", machine, {}, {}, {}, 0}).bytes, 6 * kGiB);
}

TEST(Budget, WhatOthersUseIsNotOurs) {
  const auto machine = machine_with(100 * kGiB);
  machine::Sample now;
  now.available_bytes = 9 * kGiB;
  now.rss_bytes = kGiB;
  const Budget budget = budget_for({"cpu", machine, now, {}, {}, 0});
  EXPECT_EQ(budget.bytes, 9 * kGiB);
  EXPECT_THAT(budget.why, HasSubstr("free now"));
}

TEST(Budget, BatchesMadeAheadAreTakenOff) {
  const auto machine = machine_with(10 * kGiB);
  EXPECT_EQ(budget_for({"cpu", machine, {}, {}, {}, kGiB}).bytes, 7 * kGiB);
}

TEST(Budget, OnAppleIsWhatMetalRecommends) {
  auto machine = machine_with(16 * kGiB);
  machine.gpus.push_back({"apple", "Apple M1", 8, 16 * kGiB, 10 * kGiB});
  const Budget budget = budget_for({"mps", machine, {}, {}, {}, 0});
  EXPECT_EQ(budget.bytes, 9 * kGiB);
  EXPECT_THAT(budget.why, HasSubstr("Metal"));
}

TEST(Budget, UnifiedMemoryThatIsNotFreeIsNotThere) {
  auto machine = machine_with(16 * kGiB);
  machine.gpus.push_back({"apple", "Apple M1", 8, 16 * kGiB, 10 * kGiB});
  machine::Sample now;
  now.available_bytes = 4 * kGiB;
  now.rss_bytes = kGiB;
  EXPECT_LT(budget_for({"mps", machine, now, {}, {}, 0}).bytes, 5 * kGiB);
}

TEST(Budget, OnCudaIsThatDevicesOwn) {
  auto machine = machine_with(8 * kGiB);
  machine.gpus.push_back({"nvidia", "A", 0, 10 * kGiB, 0});
  machine.gpus.push_back({"nvidia", "B", 0, 20 * kGiB, 0});
  EXPECT_EQ(budget_for({"cuda:1", machine, {}, {}, {}, 0}).bytes, 18 * kGiB);
}

TEST(Budget, ADeviceThatSaysItsLimitIsTakenAtItsWord) {
  const auto machine = machine_with(8 * kGiB);
  EXPECT_EQ(
      budget_for({"sim", machine, {}, {}, 2 * kGiB, kGiB}).bytes, 2 * kGiB);
}

TEST(Budget, NothingKnownIsNoBudget) {
  EXPECT_EQ(budget_for({"cpu", machine::Machine{}, {}, {}, {}, 0}).bytes, 0U);
}

} // namespace
} // namespace temper::memory

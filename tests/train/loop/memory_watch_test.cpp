#include "temper/train/loop/memory_watch.h"

#include <gtest/gtest.h>

namespace temper::train {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// What was told of a run that takes so many bytes more with every step.
std::vector<journal::Event> events_of(
    std::uint64_t own_bytes,
    std::uint64_t mapped_bytes) {
  std::vector<journal::Event> told;
  MemoryWatch watch(
      {}, "cpu", [&](const auto& event) { told.push_back(event); });
  Progress progress;
  for (; progress.update < 2000; ++progress.update) {
    const auto steps = static_cast<std::uint64_t>(progress.update);
    MemoryWatch::Seen seen;
    seen.machine.own_bytes = 500 * kMiB + steps * own_bytes;
    seen.machine.rss_bytes = seen.machine.own_bytes + steps * mapped_bytes;
    watch.after_step(progress, seen);
  }
  return told;
}

TEST(MemoryWatch, DataThatIsMappedAndReadIsNoLeak) {
  EXPECT_TRUE(events_of(0, kMiB).empty());
}

TEST(MemoryWatch, MemoryOfItsOwnThatGrowsIs) {
  const auto told = events_of(kMiB, kMiB);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front().kind, "leak");
  EXPECT_EQ(told.front().text("suspect"), "outside");
}

} // namespace
} // namespace temper::train

#include "temper/memory/leak_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "sizes.h"
#include "temper/base/random/philox.h"

namespace temper::memory {
namespace {

using testing::HasSubstr;

LeakSample flat(std::int64_t update) {
  LeakSample sample;
  sample.update = update;
  sample.process_bytes = 1000 * kMiB;
  sample.tensor_bytes = 400 * kMiB;
  sample.tensors = 300;
  sample.loader_bytes = 100 * kMiB;
  return sample;
}

// What a run of so many steps said first.
std::optional<Leak> run(
    LeakWatch& watch,
    int steps,
    const std::function<void(LeakSample&)>& change) {
  std::optional<Leak> first;
  for (int i = 0; i < steps; ++i) {
    LeakSample sample = flat(i);
    change(sample);
    const auto found = watch.see(sample);
    if (found && !first) first = found;
  }
  return first;
}

std::uint64_t per_step(const LeakSample& sample, std::uint64_t bytes) {
  return static_cast<std::uint64_t>(sample.update) * bytes;
}

TEST(LeakWatch, SaysNothingOfARunThatStaysAsItIs) {
  LeakWatch watch;
  EXPECT_FALSE(run(watch, 5000, [](LeakSample&) {}));
}

TEST(LeakWatch, SpikesAndNoiseAreNoLeak) {
  LeakWatch watch;
  RandomStream random(1, 2, 3);
  EXPECT_FALSE(run(watch, 5000, [&](LeakSample& sample) {
    sample.process_bytes +=
        static_cast<std::uint64_t>(random.uniform(0, 300)) * kMiB;
    if (sample.update % 100 == 0) sample.process_bytes += 3000 * kMiB;
  }));
}

TEST(LeakWatch, AStepUpwardsIsNoLeak) {
  LeakWatch watch;
  EXPECT_FALSE(run(watch, 5000, [](LeakSample& sample) {
    if (sample.update > 40) sample.process_bytes += 800 * kMiB;
  }));
}

TEST(LeakWatch, ACacheThatFillsIsNoLeak) {
  LeakWatch watch;
  EXPECT_FALSE(run(watch, 5000, [](LeakSample& sample) {
    sample.process_bytes +=
        std::min<std::uint64_t>(per_step(sample, 20 * kMiB), 1000 * kMiB);
  }));
}

TEST(LeakWatch, FindsTensorsThatStayAlive) {
  LeakWatch watch;
  const auto leak = run(watch, 400, [](LeakSample& sample) {
    sample.tensor_bytes += per_step(sample, 2 * kMiB);
    sample.tensors += static_cast<std::uint64_t>(sample.update);
    sample.process_bytes += per_step(sample, 2 * kMiB);
  });
  ASSERT_TRUE(leak);
  EXPECT_EQ(leak->suspect, Suspect::tensors);
  EXPECT_NEAR(leak->bytes_per_step, 2.0 * kMiB, 1);
  EXPECT_THAT(leak->why, HasSubstr("detach"));
  EXPECT_FALSE(leak->restart);
}

TEST(LeakWatch, FindsTheLoader) {
  LeakWatch watch;
  const auto leak = run(watch, 400, [](LeakSample& sample) {
    sample.loader_bytes += per_step(sample, 3 * kMiB);
    sample.process_bytes += per_step(sample, 3 * kMiB);
  });
  ASSERT_TRUE(leak);
  EXPECT_EQ(leak->suspect, Suspect::loader);
}

TEST(LeakWatch, FindsWhatBelongsToNobody) {
  LeakWatch watch;
  const auto leak = run(watch, 400, [](LeakSample& sample) {
    sample.process_bytes += per_step(sample, 3 * kMiB);
  });
  ASSERT_TRUE(leak);
  EXPECT_EQ(leak->suspect, Suspect::outside);
  EXPECT_FALSE(leak->restart);
}

TEST(LeakWatch, FindsASlowLeakInALongRun) {
  LeakWatch watch;
  const auto leak = run(watch, 20000, [](LeakSample& sample) {
    sample.process_bytes += per_step(sample, kMiB / 64);
  });
  ASSERT_TRUE(leak);
  EXPECT_NEAR(leak->bytes_per_step, kMiB / 64.0, 1);
}

TEST(LeakWatch, TheDriversGapIsFoundOnADevice) {
  LeakWatch watch({"mps", 8000 * kMiB});
  const auto leak = run(watch, 400, [](LeakSample& sample) {
    sample.driver_bytes = 500 * kMiB + per_step(sample, 10 * kMiB);
    sample.process_bytes += per_step(sample, 10 * kMiB);
  });
  ASSERT_TRUE(leak);
  EXPECT_EQ(leak->suspect, Suspect::driver);
}

TEST(LeakWatch, OnMpsAsksForAFreshProcessWhenAQuarterOfTheBudgetIsGone) {
  LeakWatch watch({"mps", 1000 * kMiB});
  const auto leak = run(watch, 400, [](LeakSample& sample) {
    sample.process_bytes += per_step(sample, 10 * kMiB);
  });
  ASSERT_TRUE(leak);
  EXPECT_TRUE(leak->restart);
}

TEST(LeakWatch, TellsAgainOnlyWhenItHasDoubled) {
  LeakWatch watch;
  int told = 0;
  for (int i = 0; i < 10000; ++i) {
    LeakSample sample = flat(i);
    sample.process_bytes += per_step(sample, 3 * kMiB);
    told += watch.see(sample).has_value() ? 1 : 0;
  }
  EXPECT_GT(told, 2);
  EXPECT_LT(told, 12);
}

TEST(LeakWatch, ItsOwnMemoryIsBounded) {
  LeakWatch watch;
  run(watch, 100000, [](LeakSample&) {});
  EXPECT_LE(watch.points(), 64U);
}

TEST(TheilSen, IsNotMovedByOutliers) {
  std::vector<double> x, y;
  for (int i = 0; i < 20; ++i) {
    x.push_back(i);
    y.push_back(i % 5 == 4 ? 1000 : 3 * i);
  }
  EXPECT_DOUBLE_EQ(theil_sen(x, y).median, 3);
  EXPECT_EQ(theil_sen({}, {}).median, 0);
}

} // namespace
} // namespace temper::memory

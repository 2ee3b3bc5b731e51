#include "temper/machine/run_delay.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace temper::machine {
namespace {

TEST(RunDelay, IsThatOfTheThreadThatWaitedLongestSinceTheLastLook) {
  ThreadWaits waits{{1, 5.0}, {2, 7.0}};
  RunDelay delay([&] { return waits; });
  EXPECT_EQ(delay.since_last_s(), 0);
  waits = {{1, 5.5}, {2, 9.0}};
  EXPECT_EQ(delay.since_last_s(), 2);
  waits = {{1, 6.5}, {2, 9.0}};
  EXPECT_EQ(delay.since_last_s(), 1);
}

TEST(RunDelay, ThreadsThatComeAndGoCountForNothing) {
  ThreadWaits waits{{1, 5.0}};
  RunDelay delay([&] { return waits; });
  waits = {{2, 100.0}};
  EXPECT_EQ(delay.since_last_s(), 0);
  waits = {};
  EXPECT_EQ(delay.since_last_s(), 0);
}

#ifdef __linux__
TEST(RunDelay, TheKernelTellsItOfEveryThread) {
  if (!std::filesystem::exists("/proc/self/schedstat"))
    GTEST_SKIP() << "this kernel does not keep it";
  EXPECT_EQ(thread_waits().count(this_thread()), 1U);
}
#endif

} // namespace
} // namespace temper::machine

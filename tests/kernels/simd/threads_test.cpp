#include "temper/kernels/simd/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "temper/kernels/simd/scratch.h"

namespace temper::kernels {
namespace {

// Three threads while it lives.
struct ThreeThreads {
  ThreeThreads() {
    set_thread_count([] { return 3; });
  }
  ~ThreeThreads() {
    set_thread_count(nullptr);
  }
};

TEST(Threads, EveryChunkIsDoneOnceCallAfterCall) {
  const ThreeThreads three;
  for (int call = 0; call < 2000; ++call) {
    const int chunks = call % 17;
    std::vector<std::atomic<int>> done(17);
    for_each_chunk(chunks, [&](std::int64_t chunk) {
      ++done[static_cast<std::size_t>(chunk)];
    });
    for (int i = 0; i < 17; ++i)
      ASSERT_EQ(done[static_cast<std::size_t>(i)], i < chunks ? 1 : 0);
  }
}

// Both chunks wait for each other, which one thread alone could never end.
TEST(Threads, ChunksRunOnSeveralThreadsAtOnce) {
  const ThreeThreads three;
  std::mutex mutex;
  std::condition_variable met;
  int here = 0;
  std::set<std::thread::id> seen;
  for_each_chunk(2, [&](std::int64_t) {
    std::unique_lock lock(mutex);
    seen.insert(std::this_thread::get_id());
    ++here;
    met.notify_all();
    met.wait(lock, [&] { return here == 2; });
  });
  EXPECT_EQ(seen.size(), 2);
  EXPECT_EQ(seen.count(std::this_thread::get_id()), 1);
}

// A chunk that a helper took may be the caller's the next time.
TEST(Scratch, WhatAChunkAskedForCountsForEveryThread) {
  const ThreeThreads three;
  constexpr std::size_t kFloats = 3'000'000;
  const auto caller = std::this_thread::get_id();
  std::barrier both(2);
  for_each_chunk(2, [&](std::int64_t) {
    if (std::this_thread::get_id() != caller)
      scratch(kScratchSlots - 1, kFloats);
    both.arrive_and_wait();
  });
  EXPECT_GE(scratch_bytes_with(2), 2 * kFloats * sizeof(float));
}

// The cores that the calling thread may run on, as Linux writes them.
std::string cores_of_this_thread() {
  std::ifstream status("/proc/thread-self/status");
  std::string word;
  while (status >> word)
    if (word == "Cpus_allowed_list:") {
      status >> word;
      return word;
    }
  return "";
}

TEST(Threads, HelpersStayOffTheCallersCore) {
  const std::string callers = cores_of_this_thread();
  if (callers.find_first_of(",-") == std::string::npos)
    GTEST_SKIP() << "one core, or a system that tells no cores";
  const ThreeThreads three;
  std::barrier together(2);
  std::mutex mutex;
  std::string helpers;
  for_each_chunk(2, [&, caller = std::this_thread::get_id()](std::int64_t) {
    together.arrive_and_wait();
    if (std::this_thread::get_id() == caller) return;
    const std::scoped_lock lock(mutex);
    helpers = cores_of_this_thread();
  });
  EXPECT_NE(helpers, callers);
  EXPECT_NE(helpers, "");
  EXPECT_EQ(cores_of_this_thread(), callers);
}

TEST(Threads, OneThreadIsTheCallersOwn) {
  set_thread_count([] { return 1; });
  for_each_chunk(8, [caller = std::this_thread::get_id()](std::int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
  set_thread_count(nullptr);
}

TEST(Threads, WhatAChunkThrowsReachesTheCallerAndTheNextCallWorks) {
  const ThreeThreads three;
  for (int call = 0; call < 200; ++call) {
    EXPECT_THROW(
        for_each_chunk(
            9,
            [](std::int64_t chunk) {
              if (chunk % 4 == 3) throw std::runtime_error("a chunk");
            }),
        std::runtime_error);
    std::atomic<int> done{0};
    for_each_chunk(9, [&](std::int64_t) { ++done; });
    EXPECT_EQ(done, 9);
  }
}

TEST(Threads, ACallInsideACallIsDone) {
  const ThreeThreads three;
  std::atomic<int> done{0};
  for_each_chunk(5, [&](std::int64_t) {
    for_each_chunk(7, [&](std::int64_t) { ++done; });
  });
  EXPECT_EQ(done, 35);
}

TEST(Threads, CallsOfSeveralThreadsAreDone) {
  const ThreeThreads three;
  std::atomic<int> done{0};
  const auto calls = [&] {
    for (int call = 0; call < 300; ++call)
      for_each_chunk(11, [&](std::int64_t) { ++done; });
  };
  std::thread other(calls);
  calls();
  other.join();
  EXPECT_EQ(done, 2 * 300 * 11);
}

} // namespace
} // namespace temper::kernels

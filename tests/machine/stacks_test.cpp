#include "temper/machine/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/emulator.h"

namespace temper::machine {
namespace {

using testing::HasSubstr;

TEST(Stacks, EveryThreadHasOneAndNoneIsDisturbed) {
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<int> waiting{0};
  bool done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      ++waiting;
      wake.wait(lock, [&] { return done; });
    });
  while (waiting < 3)
    std::this_thread::yield();
  const auto stacks = all_stacks();
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  wake.notify_all();
  for (auto& thread : threads)
    thread.join();

  ASSERT_GE(stacks.size(), 4U);
  int deep = 0;
  // An emulator has a thread of its own, which is deaf to our signals.
  int deaf = tests::emulated() ? 1 : 0;
  for (const auto& stack : stacks) {
    if (stack.frames.empty() && deaf-- > 0) continue;
    EXPECT_FALSE(stack.frames.empty()) << stack.name;
    if (stack.frames.size() >= 2) ++deep;
  }
  EXPECT_GE(deep, 3);
  EXPECT_THAT(to_text(stacks), HasSubstr("thread "));
}

TEST(Stacks, AThreadThatDoesNotAnswerIsNamed) {
  std::atomic<bool> blocked{false};
  std::atomic<bool> done{false};
  std::thread thread([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    blocked = true;
    while (!done)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  while (!blocked)
    std::this_thread::yield();
  const std::string text = to_text(all_stacks());
  done = true;
  thread.join();
  EXPECT_THAT(text, HasSubstr("does not answer"));
}

} // namespace
} // namespace temper::machine

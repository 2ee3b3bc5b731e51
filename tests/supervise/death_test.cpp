#include "temper/supervise/death.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "temper/supervise/system.h"

namespace temper::supervise {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Death, ACrashHasItsSignalItsStepAndItsPhase) {
  Death death;
  death.signal = SIGSEGV;
  death.update = 11;
  death.doing = "computing the backward pass";
  EXPECT_EQ(
      describe(death),
      "died of SIGSEGV in step 12 while computing the backward pass: it "
      "crashed");
}

TEST(Death, MemoryIsBlamedWhenTheKernelCountedAKill) {
  Death death;
  death.signal = SIGKILL;
  EXPECT_THAT(
      describe(death),
      AllOf(HasSubstr("before its first step"), HasSubstr("somebody")));
  death.memory_kills = 1;
  death.memory_bytes.assign(12, 1U << 30);
  death.memory_bytes.back() = 3U << 30;
  EXPECT_THAT(
      describe(death),
      AllOf(
          HasSubstr("the kernel killed it because memory ran out"),
          HasSubstr("it used 3.0 GiB, and 1.0 GiB 10 s before"),
          Not(HasSubstr("somebody"))));
}

TEST(Death, TheEventHasWhatIsKnownAndNothingElse) {
  Death death;
  death.code = kStartAgain;
  death.update = 4;
  const auto event = death_event(death);
  EXPECT_EQ(event.kind, "death");
  EXPECT_EQ(event.count("code"), 86);
  EXPECT_EQ(event.count("update"), 4);
  EXPECT_EQ(event.find("signal"), nullptr);
  EXPECT_EQ(event.find("memory_bytes"), nullptr);
  EXPECT_EQ(event.find("kernel"), nullptr);
}

// As the kernel writes them.
TEST(KernelLog, TheLastWordsAboutAProcessAreFound) {
  const std::string log =
      "6,1,100,-;usb 1-1: new device\n"
      "4,2,101,-;temper[4242]: segfault at 0 ip 00007f sp 00007f error 4\n"
      "3,3,102,-;Out of memory: Killed process 4243 (temper) "
      "total-vm:9000kB, anon-rss:8000kB\n"
      "6,4,103,-;Memory cgroup out of memory: Killed process 42 (x)\n";
  EXPECT_THAT(words_about(log, 4242), HasSubstr("segfault"));
  EXPECT_EQ(
      words_about(log, 4243),
      "Out of memory: Killed process 4243 (temper) total-vm:9000kB, "
      "anon-rss:8000kB");
  EXPECT_EQ(words_about(log, 424), "");
  EXPECT_EQ(words_about(log, 4), "");
  EXPECT_EQ(words_about("", 1), "");
}

TEST(System, ThisProcessHasMemoryAndOneThatIsNotThereHasNone) {
  EXPECT_GT(memory_of(::getpid()).value_or(0), 1U << 20);
  EXPECT_FALSE(memory_of(999'999'999));
}

} // namespace
} // namespace temper::supervise

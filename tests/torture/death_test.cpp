// A trainer that dies by itself: why is said, and the same step is not tried
// for ever.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "temper/base/file/descriptor.h"
#include "temper/base/text.h"
#include "tests/temp_folder.h"
#include "training.h"

namespace temper::torture {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Deaths : public testing::Test {
 protected:
  Deaths() {
    write_small_network(folder_ / "net.pt2");
  }
  SmallRun small(const std::string& name) const {
    SmallRun run;
    run.folder = folder_.path();
    run.name = name;
    run.steps = 40;
    return run;
  }
  // In the middle of step 12, whoever trains it.
  static Environment dies_in_step_12(int signal) {
    return {
        {"LD_PRELOAD", TEMPER_HANG_SHIM},
        {"HANG_CALL", "line"},
        {"HANG_PATH", "\"step\":12,"},
        {"HANG_SIGNAL", cat(signal)}};
  }
  static std::vector<journal::Event> deaths_of(const SmallRun& run) {
    std::vector<journal::Event> found;
    for (auto& event : journal_of(run))
      if (event.kind == "death") found.push_back(std::move(event));
    return found;
  }
  tests::TempFolder folder_;
};

TEST_F(Deaths, ThreeInTheSameStepEndTheRunWithAnExplanation) {
  const SmallRun undisturbed = small("reference");
  {
    Training training(undisturbed);
    ASSERT_EQ(training.wait(), 0) << training.output();
  }
  int done = 0;
  for (const int signal : {SIGKILL, SIGSEGV}) {
    const SmallRun run = small(cat("dies-", signal));
    const std::string name = signal == SIGKILL ? "SIGKILL" : "SIGSEGV";
    {
      Training training(run, dies_in_step_12(signal));
      EXPECT_EQ(training.wait(), 1) << training.output();
      EXPECT_THAT(
          training.output(),
          AllOf(
              HasSubstr(cat("the trainer died of ", name, " in step 12")),
              HasSubstr("started again now, from "),
              HasSubstr("It is not started again: it died 3 times in a row in "
                        "step 12."),
              HasSubstr("What to do")));
    }
    const auto deaths = deaths_of(run);
    ASSERT_EQ(deaths.size(), 3U);
    for (const auto& death : deaths) {
      EXPECT_EQ(death.text("signal"), name);
      EXPECT_EQ(death.count("update"), 11);
      EXPECT_TRUE(death.text("phase"));
    }
    const auto end = journal_of(run).back();
    EXPECT_EQ(end.kind, "end");
    EXPECT_EQ(end.text("status"), "failed");
    EXPECT_THAT(end.text("why").value_or(""), HasSubstr(name));
    // Once the cause is gone it goes on.
    Training again(run, Training::resume_of(run), {});
    EXPECT_EQ(again.wait(), 0) << again.output();
    EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
    EXPECT_EQ(state_of(run), state_of(undisturbed));
    EXPECT_EQ(deaths_of(run).size(), 3U);
    ++done;
  }
  RecordProperty("cases", done);
}

TEST_F(Deaths, WhatIsKnownOfOneIsSaid) {
  SmallRun run = small("known");
  run.steps = 1'000'000'000;
  Training training(run);
  ASSERT_TRUE(training.reach(5)) << training.output();
  const auto trainer = training.trainer();
  ASSERT_TRUE(trainer);
  // Its memory is looked at once a second.
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  ::kill(*trainer, SIGKILL);
  ASSERT_TRUE(training.reach_event("death")) << training.output();
  const auto death = deaths_of(run).front();
  EXPECT_GT(death.count("memory_bytes").value_or(0), 10 << 20);
  EXPECT_THAT(
      death.text("why").value_or(""),
      AllOf(
          HasSubstr("died of SIGKILL in step "),
          HasSubstr("somebody killed it, or a system that was short of memory; "
                    "it used ")));
}

// Where the kernel's log may be read, what it said is there, too.
TEST_F(Deaths, TheKernelsWordsArePassedOn) {
  const Descriptor log(::open("/dev/kmsg", O_RDONLY | O_CLOEXEC));
  if (!log.open()) GTEST_SKIP() << "the kernel's log is not for us to read.";
  // It has other numbers for the processes of a container.
  std::error_code failed;
  if (std::filesystem::read_symlink("/proc/self/ns/pid", failed) !=
      "pid:[4026531836]")
    GTEST_SKIP() << "the kernel's log is that of the host.";
  const SmallRun run = small("kernel");
  Training training(run, dies_in_step_12(SIGSEGV));
  EXPECT_EQ(training.wait(), 1) << training.output();
  std::string words; // it does not log each of many
  for (const auto& death : deaths_of(run))
    words += death.text("kernel").value_or("");
  EXPECT_THAT(words, HasSubstr("segfault"));
}

} // namespace
} // namespace temper::torture

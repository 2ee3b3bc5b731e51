// The supervisor with a shell for a trainer: what it starts, how often, and
// what is left behind.
#include "temper/supervise/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "temper/journal/restart_log.h"
#include "tests/emulator.h"
#include "tests/temp_folder.h"

namespace temper::supervise {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Supervised : public testing::Test {
 protected:
  Supervised() {
    assignment_.program = [] { return "/bin/sh"; };
    assignment_.resume = [this](const fs::path& run) {
      return std::vector<std::string>{"-c", again_, "sh", run.string()};
    };
    assignment_.begin = [this] { ++starts_; };
    assignment_.ask = [this] { return where_; };
    assignment_.say = [this](const std::string& line) { said_ += line + "\n"; };
    assignment_.wait_scale = 0;
  }

  SupervisedEnd run(
      const std::string& first,
      const std::string& again = "exit 0") {
    assignment_.arguments = {"-c", first};
    again_ = again;
    return supervise(assignment_);
  }

  // A run that has begun to train.
  void make_run() {
    where_.run = folder_ / "run";
    fs::create_directories(*where_.run);
    journal::Journal(directory().journal()).append({"run", 1, {}});
  }
  journal::RunDirectory directory() const {
    return {folder_ / "run"};
  }
  std::string flag(const std::string& name) const {
    return folder_.text(name);
  }

  tests::TempFolder folder_;
  TrainerStart assignment_;
  Whereabouts where_;
  std::string again_;
  std::string said_;
  int starts_ = 0;
};

TEST_F(Supervised, ExitCodesPassThrough) {
  for (const int code : {0, 1, 2, 75, 130}) {
    const auto ending = run(cat("exit ", code));
    EXPECT_EQ(ending.code, code);
    EXPECT_EQ(ending.signal, 0);
  }
  EXPECT_EQ(starts_, 5);
  EXPECT_EQ(said_, "");
}

TEST_F(Supervised, AKilledTrainerGoesOnAndItsDeathIsKept) {
  make_run();
  where_.update = 6;
  where_.saved = 5;
  where_.doing = "validating";
  const auto ending =
      run("kill -9 $$", cat("echo \"$1\" >", flag("resumed"), "; exit 0"));
  EXPECT_EQ(ending.code, 0);
  EXPECT_EQ(starts_, 2);
  EXPECT_EQ(tests::read_bytes(flag("resumed")), folder_.text("run") + "\n");
  const auto events = journal::all_aside(directory());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, "death");
  EXPECT_EQ(events[0].text("signal"), "SIGKILL");
  EXPECT_EQ(events[0].count("update"), 6);
  EXPECT_EQ(events[0].text("phase"), "validating");
  EXPECT_THAT(
      said_,
      AllOf(
          HasSubstr("died of SIGKILL in step 7 while validating"),
          HasSubstr("started again now, from step 5.")));
}

TEST_F(Supervised, ATrainerThatSaysWhyItEndsIsNotQuotedTwice) {
  make_run();
  // What its watchdog writes.
  const std::string line =
      journal::to_line({"hang", 2, {{"number", std::int64_t{1}}}});
  const auto ending = run(
      cat("echo '",
          line,
          "' >",
          folder_.text("run"),
          "/restarts.jsonl; ",
          "exit 86"));
  EXPECT_EQ(ending.code, 0);
  EXPECT_EQ(starts_, 2);
  const auto events = journal::all_aside(directory());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, "hang");
}

TEST_F(Supervised, ThreeDeathsInOneStepEndItWithAnExplanation) {
  make_run();
  where_.update = 3;
  const auto ending = run("kill -SEGV $$", "kill -SEGV $$");
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(starts_, 3);
  EXPECT_THAT(said_, HasSubstr("3 times in a row in step 4"));
  const auto events = journal::read_journal(directory().journal());
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[1].kind, "death");
  EXPECT_EQ(events[3].count("number"), 3);
  EXPECT_EQ(events[4].kind, "artifact");
  EXPECT_TRUE(fs::exists(directory().path / *events[4].text("path")));
  EXPECT_EQ(events[5].kind, "end");
  EXPECT_EQ(events[5].text("status"), "failed");
  EXPECT_THAT(*events[5].text("why"), HasSubstr("SIGSEGV"));
}

TEST_F(Supervised, WhatDiedBeforeItsJournalBeginsAnew) {
  where_.run = folder_ / "run";
  folder_.write("run/config.toml", "seed = 1\n");
  const std::string first =
      cat("if [ -e ",
          flag("once"),
          " ]; then exit 0; fi; touch ",
          flag("once"),
          "; kill -9 $$");
  EXPECT_EQ(run(first, "exit 9").code, 0);
  EXPECT_EQ(starts_, 2);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(Supervised, ARunThatLostItsJournalGoesOnFromItsCheckpoint) {
  where_.run = folder_ / "run";
  folder_.write("run/config.toml", "seed = 1\n");
  folder_.write("run/checkpoints/step-4/state.json", "{}");
  EXPECT_EQ(run("kill -9 $$", "exit 9").code, 9);
  EXPECT_TRUE(fs::exists(directory().config()));
}

TEST_F(Supervised, AFolderWithSomethingElseInItIsLeftAlone) {
  where_.run = folder_ / "run";
  folder_.write("run/config.toml", "seed = 1\n");
  folder_.write("run/mine.txt", "hello");
  const std::string first =
      cat("if [ -e ",
          flag("once"),
          " ]; then exit 0; fi; touch ",
          flag("once"),
          "; kill -9 $$");
  EXPECT_EQ(run(first, "exit 9").code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "run/mine.txt"));
}

TEST_F(Supervised, AWishToEndIsNoAccident) {
  const auto ending = run("kill -TERM $$");
  EXPECT_EQ(ending.signal, SIGTERM);
  EXPECT_EQ(starts_, 1);
}

// Sends a signal to this process once the trainer has made its file.
class SendWhenReady {
 public:
  SendWhenReady(std::string file, int signal)
      : thread_([file, signal] {
          while (!fs::exists(file))
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          ::kill(::getpid(), signal);
        }) {}
  ~SendWhenReady() {
    thread_.join();
  }

 private:
  std::thread thread_;
};

TEST_F(Supervised, ASignalThatReachedOnlyTheSupervisorIsPassedOn) {
  const SendWhenReady send(flag("ready"), SIGTERM);
  const auto ending = run(
      cat("trap 'exit 75' TERM; touch ",
          flag("ready"),
          "; while :; do sleep 0.02; done"));
  EXPECT_EQ(ending.code, 75);
}

// Between the decision to start it and its first instruction, say.
TEST_F(Supervised, OneThatCameBeforeTheTrainerIsNotLost) {
  assignment_.begin = [this] {
    if (++starts_ == 1) ::raise(SIGTERM);
  };
  const auto ending =
      run("trap 'exit 75' TERM; i=0; while [ $i -lt 200 ]; do sleep 0.05; "
          "i=$((i+1)); done; exit 3");
  EXPECT_TRUE(ending.code == 75 || ending.signal == SIGTERM) << ending.code;
  EXPECT_EQ(starts_, 1);
}

// One that never listens ends by itself, and not of the signal.
TEST_F(Supervised, WhatListensLateIsNotEndedBeforeItDoes) {
  assignment_.listens_late = true;
  assignment_.program = [] { return "/bin/sleep"; };
  assignment_.arguments = {"1.5"};
  assignment_.begin = [] { ::raise(SIGTERM); };
  const auto ending = supervise(assignment_);
  EXPECT_EQ(ending.code, 0);
  EXPECT_EQ(ending.signal, 0);
}

TEST_F(Supervised, OneThatReachedBothIsNotDoubled) {
  assignment_.noticed = [&](int) { return 1; };
  const SendWhenReady send(flag("ready"), SIGTERM);
  const auto ending = run(
      cat("trap 'exit 75' TERM; touch ",
          flag("ready"),
          "; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; exit 3"));
  EXPECT_EQ(ending.code, 3);
}

TEST_F(Supervised, WhatDiesWhileItIsToStopStaysDown) {
  make_run();
  where_.update = 9;
  where_.saved = 8;
  const SendWhenReady send(flag("ready"), SIGTERM);
  const auto ending = run(
      cat("trap 'kill -9 $$' TERM; touch ",
          flag("ready"),
          "; while :; do sleep 0.02; done"));
  EXPECT_EQ(ending.code, 75);
  EXPECT_EQ(starts_, 1);
  EXPECT_THAT(said_, HasSubstr("--resume goes on from step 8"));
}

TEST_F(Supervised, AProgramThatIsNotThereIsAnError) {
  if (tests::emulated()) GTEST_SKIP() << "the emulator hides it";
  assignment_.program = [&] { return folder_.text("nothing"); };
  EXPECT_THROW(run("exit 0"), Error);
}

} // namespace
} // namespace temper::supervise

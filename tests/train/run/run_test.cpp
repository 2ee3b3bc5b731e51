#include "temper/train/run/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/file/atomic_file.h"
#include "tests/train/run/counting_run.h"
#include "tests/train/run/observers.h"

namespace temper::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The verbs that it is told, each once in a row.
class Verbs : public RunObserver {
 public:
  void measuring(const std::string&) override {
    note("measuring");
  }
  void opening_directory() override {
    note("opening_directory");
  }
  void directory_ready(const journal::RunDirectory&) override {
    note("directory_ready");
  }
  void started(
      const journal::RunDirectory&,
      const RunOverview&,
      const config::Config&) override {
    note("started");
  }
  void event(const journal::Event& event) override {
    if (event.kind == "run" || event.kind == "end") note(event.kind);
  }
  void step(const Glimpse&) override {
    note("step");
  }
  std::vector<std::string> finishing(const RunResult&) override {
    note("finishing");
    return {"artifacts/mine.txt"};
  }
  void ended(const Outcome&) override {
    note("ended");
  }
  void finished(const RunResult&) override {
    note("finished");
  }

  std::vector<std::string> told;

 private:
  void note(const std::string& verb) {
    if (told.empty() || told.back() != verb) told.push_back(verb);
  }
};

class RunTest : public CountingRun {
 protected:
  std::filesystem::path checkpoints() const {
    return directory().checkpoints();
  }
};

TEST_F(RunTest, AnUpdateThatFailedHalfWayIsBegunAgainElsewhere) {
  breaks_at(5);
  const RunResult broken = run(request_);
  EXPECT_TRUE(broken.outcome.start_again);
  EXPECT_EQ(broken.outcome.ending, Ending::kStopped);
  EXPECT_THAT(said_, HasSubstr("an update failed half way. Resume the run."));
  EXPECT_EQ(checkpoint::Store(checkpoints()).load_latest()->update, 4);
  breaks_at(-1);
  request_.resume = folder_ / "runs/x";
  const RunResult done = run(request_);
  EXPECT_EQ(done.outcome.ending, Ending::kDone);
  EXPECT_EQ(done.outcome.updates, 16);
}

// Killed when its last checkpoint had its name, and nothing named it yet.
TEST_F(RunTest, AFinishedRunThatGoesOnNamesItsLastCheckpoint) {
  ASSERT_EQ(run(request_).outcome.updates, 16);
  ASSERT_EQ(tests::read_bytes(checkpoints() / "latest"), "step-16\n");
  write_file_atomically(checkpoints() / "latest", "step-14\n");
  request_.resume = folder_ / "runs/x";
  EXPECT_EQ(run(request_).outcome.ending, Ending::kDone);
  EXPECT_EQ(tests::read_bytes(checkpoints() / "latest"), "step-16\n");
}

TEST_F(RunTest, AnObserverIsToldInTheOrderOfARun) {
  Verbs verbs;
  request_.observer = &verbs;
  run(request_);
  EXPECT_THAT(
      verbs.told,
      ElementsAre(
          "opening_directory",
          "directory_ready",
          "run",
          "started",
          "step",
          "finishing",
          "end",
          "ended",
          "finished"));
  EXPECT_THAT(
      tests::read_bytes(directory().journal()),
      HasSubstr("\"path\":\"artifacts/mine.txt\""));
}

// A run that is resumed has its directory before anything is prepared.
TEST_F(RunTest, WhatAnObserverThrowsEndsTheRunAndItCanBeResumed) {
  tests::WhenStarted leaving([] { throw Error("enough"); });
  request_.observer = &leaving;
  EXPECT_THROW(run(request_), Error);
  Verbs verbs;
  request_.observer = &verbs;
  request_.resume = directory().path;
  EXPECT_EQ(run(request_).outcome.updates, 16);
  ASSERT_GE(verbs.told.size(), 3U);
  EXPECT_EQ(verbs.told[0], "opening_directory");
  EXPECT_EQ(verbs.told[1], "directory_ready");
  EXPECT_EQ(verbs.told[2], "started");
}

} // namespace
} // namespace temper::train

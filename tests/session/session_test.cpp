// One call gives a C++ program what the command has.
#include "temper/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "temper/base/process/process.h"
#include "temper/journal/journal.h"
#include "temper/journal/restart_log.h"
#include "tests/emulator.h"
#include "tests/train/run/counting_run.h"
#include "tests/train/run/observers.h"

namespace temper::session {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class SessionTest : public train::CountingRun {
 protected:
  SessionTest() {
    request_.config.track.mlflow = "off";
    request_.config.track.tensorboard = folder_.text("board");
    request_.config.watchdog.seconds = 0;
  }
  Request asked() const {
    Request request;
    static_cast<train::RunRequest&>(request) = request_;
    return request;
  }
  std::vector<journal::Event> events(const std::string& kind) const {
    std::vector<journal::Event> found;
    for (auto& event : journal::read_journal(directory().journal()))
      if (event.kind == kind) found.push_back(event);
    return found;
  }
};

class Places : public train::RunObserver {
 public:
  void delivering(const std::vector<std::string>& places, double) override {
    waited_for = places;
  }
  void delivered(const std::string& place) override {
    complete.push_back(place);
  }
  std::vector<std::string> waited_for;
  std::vector<std::string> complete;
};

TEST_F(SessionTest, ARunIsTrackedAndLeavesArtifacts) {
  Places places;
  request_.observer = &places;
  Request request = asked();
  request.command = {"mine", "--epochs", "2"};
  const Result result = train(request);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.outcome.ending, train::Ending::kDone);
  ASSERT_EQ(result.tracked.size(), 1U);
  EXPECT_EQ(places.waited_for, result.tracked);
  EXPECT_EQ(places.complete, result.tracked);
  EXPECT_FALSE(std::filesystem::is_empty(folder_ / "board"));
  std::vector<std::string> paths;
  for (const auto& event : events("artifact"))
    paths.push_back(*event.text("path"));
  EXPECT_THAT(paths, Contains("artifacts/checkpoints.json"));
  for (const std::string& path : paths)
    EXPECT_TRUE(std::filesystem::exists(directory().path / path)) << path;
  EXPECT_THAT(
      tests::read_bytes(directory().journal()), HasSubstr("mine --epochs 2"));
}

TEST_F(SessionTest, ACallerThatWantsNoArtifactsGetsNone) {
  Request request = asked();
  request.artifacts = false;
  train(request);
  for (const auto& event : events("artifact"))
    EXPECT_EQ(event.text("path"), "artifacts/trace.json");
}

TEST_F(SessionTest, ASignalStopsTheRunWithACheckpoint) {
  const auto before = std::signal(SIGTERM, SIG_DFL);
  tests::WhenStarted observer([] { std::raise(SIGTERM); });
  request_.observer = &observer;
  const Result result = train(asked());
  EXPECT_EQ(result.exit_code, 75);
  EXPECT_EQ(result.outcome.ending, train::Ending::kStopped);
  EXPECT_EQ(std::signal(SIGTERM, before), SIG_DFL);
  request_.observer = nullptr;
  request_.resume = directory().path;
  EXPECT_EQ(train(asked()).exit_code, 0);
}

volatile std::sig_atomic_t own_count = 0;

TEST_F(SessionTest, ASignalThatTheProgramHandlesIsLeftToIt) {
  own_count = 0;
  const auto before = std::signal(SIGTERM, [](int) { own_count = 1; });
  tests::WhenStarted observer([] { std::raise(SIGTERM); });
  request_.observer = &observer;
  EXPECT_EQ(train(asked()).exit_code, 0);
  EXPECT_EQ(own_count, 1);
  std::signal(SIGTERM, before);
}

TEST_F(SessionTest, WhatGoesWrongIsThrownAfterItWasDelivered) {
  fails_at(3, [] { throw Error("[test] it broke.", "Mend it."); });
  EXPECT_THROW(train(asked()), Error);
  ASSERT_EQ(events("end").size(), 1U);
  EXPECT_EQ(events("end")[0].text("status"), "failed");
  EXPECT_FALSE(std::filesystem::is_empty(folder_ / "board"));
}

TEST_F(SessionTest, AProgramThatIsKilledIsStartedAgainAndGoesOn) {
  if (tests::emulated()) GTEST_SKIP() << "the kernel cannot start arm64 code";
  ProcessLimits limits;
  limits.time = std::chrono::seconds(120);
  const auto ended = run_process(
      {"env",
       "TEMPER_SUPERVISE=1",
       TEMPER_SUPERVISED_PROGRAM,
       folder_.text("runs/x")},
      "",
      limits);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("It is started again"));
  EXPECT_EQ(events("run").size(), 1U);
  ASSERT_EQ(events("resume").size(), 1U);
  EXPECT_EQ(events("resume")[0].count("update"), 4);
  ASSERT_EQ(events("end").size(), 1U);
  EXPECT_EQ(events("end")[0].text("status"), "done");
  // By the first process, which outlived it.
  EXPECT_FALSE(std::filesystem::is_empty(folder_ / "runs/board"));
}

} // namespace
} // namespace temper::session

// Runs whose directory has lost files, and go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "tests/complaint.h"
#include "tests/train/run/counting_run.h"

namespace temper::train {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RunRemains : public CountingRun {
 protected:
  // A run that broke after its checkpoint of update 4, and goes on now.
  void break_off() {
    breaks_at(5);
    ASSERT_TRUE(run(request_).outcome.start_again);
    breaks_at(-1);
    request_.resume = directory().path;
    said_.clear();
  }
  void expect_done(std::int64_t since) {
    const RunResult done = run(request_);
    EXPECT_EQ(done.outcome.ending, Ending::kDone);
    EXPECT_EQ(done.outcome.updates, 16);
    const auto resumes = events("resume");
    ASSERT_FALSE(resumes.empty());
    EXPECT_EQ(resumes.back().count("update"), since);
    EXPECT_EQ(events("run").size(), 1U);
    EXPECT_EQ(events("end").size(), 1U);
  }
  std::vector<journal::Event> events(const std::string& kind) const {
    std::vector<journal::Event> found;
    for (auto& event : journal::read_journal(directory().journal()))
      if (event.kind == kind) found.push_back(event);
    return found;
  }
};

TEST_F(RunRemains, AnUndamagedRunGoesOnWithoutAWarning) {
  break_off();
  expect_done(4);
  EXPECT_EQ(said_, "");
}

TEST_F(RunRemains, WithoutItsJournalItGoesOnFromItsCheckpoint) {
  break_off();
  fs::remove(directory().journal());
  expect_done(4);
  EXPECT_THAT(
      said_,
      AllOf(
          HasSubstr("the journal is gone: it begins again"),
          HasSubstr("until update 4")));
  EXPECT_EQ(journal::read_journal(directory().journal())[0].kind, "run");
}

TEST_F(RunRemains, WithoutItsConfigTheCheckpointsCounts) {
  break_off();
  const std::string config = tests::read_bytes(directory().config());
  fs::remove(directory().config());
  expect_done(4);
  EXPECT_THAT(
      said_,
      HasSubstr("config.toml is gone: it is written again as its check"));
  EXPECT_EQ(tests::read_bytes(directory().config()), config);
}

TEST_F(RunRemains, AConfigThatIsNotTomlGivesWayToTheCheckpoints) {
  break_off();
  const std::string config = tests::read_bytes(directory().config());
  tests::write_bytes(directory().config(), config + "\n[train\n");
  expect_done(4);
  EXPECT_THAT(
      said_,
      AllOf(HasSubstr("is not TOML"), HasSubstr("as its checkpoint has it")));
  EXPECT_EQ(tests::read_bytes(directory().config()), config);
  EXPECT_EQ(
      tests::read_bytes(directory().path / "config.toml.damaged"),
      config + "\n[train\n");
}

TEST_F(RunRemains, WithoutConfigAndCheckpointsTheJournalsCounts) {
  break_off();
  const std::string config = tests::read_bytes(directory().config());
  tests::write_bytes(directory().config(), "");
  fs::remove_all(directory().checkpoints());
  expect_done(0);
  EXPECT_THAT(said_, HasSubstr("as its journal has it"));
  EXPECT_EQ(tests::read_bytes(directory().config()), config);
}

TEST_F(RunRemains, WithoutAnyCopyOfItsConfigItSaysSo) {
  break_off();
  fs::remove(directory().config());
  fs::remove_all(directory().checkpoints());
  tests::write_bytes(directory().journal(), "rubbish\n");
  EXPECT_THAT(
      tests::complaint([&] { run(request_); }),
      HasSubstr("neither a checkpoint nor the journal has a copy"));
}

TEST_F(RunRemains, LostSettingsAreTheCheckpointsOrTheJournals) {
  for (const bool checkpoints : {true, false}) {
    request_.config.run.name = checkpoints ? "one" : "two";
    request_.config.threads = 3;
    request_.resume.reset();
    break_off();
    fs::remove(directory().machine());
    tests::write_bytes(directory().plan(), "{\"settings\":");
    if (checkpoints)
      fs::remove(directory().journal());
    else
      fs::remove_all(directory().checkpoints());
    const RunResult done = run(request_);
    EXPECT_EQ(done.overview.settings.setting().threads, 3);
    EXPECT_THAT(
        said_,
        AllOf(
            HasSubstr(
                "plan.json is damaged: the run goes on with the settings"),
            Not(HasSubstr("last bits"))));
    EXPECT_TRUE(fs::exists(directory().machine()));
    EXPECT_THAT(tests::read_bytes(directory().plan()), HasSubstr("settings"));
  }
}

TEST_F(RunRemains, SettingsThatNobodyRemembersAreChosenAnew) {
  break_off();
  fs::remove(directory().plan());
  fs::remove_all(directory().checkpoints());
  tests::write_bytes(directory().journal(), "rubbish\n");
  expect_done(0);
  EXPECT_THAT(
      said_, HasSubstr("plan.json is gone: the settings are chosen anew"));
}

TEST_F(RunRemains, ALossOfAllCheckpointsIsTold) {
  for (const bool folder : {true, false}) {
    request_.config.run.name = folder ? "one" : "two";
    request_.resume.reset();
    run(request_); // to its end: one that breaks off may not tell of its last
    request_.resume = directory().path;
    said_.clear();
    fs::remove_all(directory().checkpoints());
    if (folder) fs::create_directory(directory().checkpoints());
    expect_done(0);
    EXPECT_THAT(
        said_,
        AllOf(
            HasSubstr("no checkpoint is left in "),
            HasSubstr("it begins again")));
  }
}

TEST_F(RunRemains, ALossOfAllCheckpointsAfterTheJournalsIsTold) {
  run(request_);
  request_.resume = directory().path;
  fs::remove(directory().journal());
  expect_done(16);
  said_.clear();
  fs::remove_all(directory().checkpoints());
  expect_done(0);
  EXPECT_THAT(said_, HasSubstr("no checkpoint is left in "));
}

TEST_F(RunRemains, ARunThatNeverHadACheckpointHasLostNone) {
  request_.config.checkpoint.every_steps = 0;
  break_off();
  expect_done(0);
  EXPECT_EQ(said_, "");
}

TEST_F(RunRemains, AJournalWithLinesOfOthersEndsNoRun) {
  break_off();
  const std::string whole = tests::read_bytes(directory().journal());
  const auto second = whole.find('\n') + 1;
  tests::write_bytes(
      directory().journal(),
      cat(whole.substr(0, second), "rubbish\n", whole.substr(second)));
  expect_done(4);
  EXPECT_THAT(said_, HasSubstr("the journal was altered"));
}

// A limit of the process stands in for a full disk.
TEST_F(RunRemains, WhatEndedARunIsToldThoughItsJournalIsFull) {
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  fails_at(3, [&] {
    const struct rlimit full { 1, before.rlim_max };
    ::setrlimit(RLIMIT_FSIZE, &full);
    throw Error("[train] it broke.", "Mend it.");
  });
  const std::string said = tests::complaint([&] { run(request_); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, ignored);
  EXPECT_EQ(said, "[train] it broke. Mend it.");
}

} // namespace
} // namespace temper::train

#include "temper/track/follow/journal_delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "temper/base/text.h"
#include "tests/temp_folder.h"
#include "tests/track/journal_samples.h"

namespace temper::track {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Keeps what it is given; may be told to fail.
class FakeTracker : public Tracker {
 public:
  std::string where() const override {
    return "here";
  }
  bool begin(const RunFacts& run, const std::string& memory) override {
    facts = run;
    const bool made = memory.empty() || emptied;
    emptied = false;
    begun = true;
    return made;
  }
  void deliver(const Delivery& batch) override {
    ++deliveries;
    if (fail_before) throw Unavailable("[track] down.");
    for (const Point& point : batch.points)
      points.push_back(point);
    for (const Pair& tag : batch.tags)
      tags.push_back(tag);
    if (batch.status) status.push_back(batch.status->status);
    if (fail_after) throw Unavailable("[track] the answer was lost.");
  }
  std::string memory() const override {
    return begun ? "run-1" : "";
  }
  std::size_t lines_at_once() const override {
    if (before_read) std::exchange(before_read, nullptr)();
    return lines;
  }

  std::vector<std::string> seen(const std::string& key) const {
    std::vector<std::string> out;
    for (const Point& point : points)
      if (point.key == key) out.push_back(cat(point.step, ":", point.value));
    return out;
  }

  RunFacts facts;
  std::vector<Point> points;
  std::vector<Pair> tags;
  std::vector<Status> status;
  int deliveries = 0;
  std::size_t lines = 3;
  bool fail_before = false;
  bool fail_after = false;
  bool emptied = false;
  bool begun = false;
  mutable std::function<void()> before_read; // once
};

class FollowTest : public testing::Test {
 protected:
  FollowTest()
      : run_(made_run(folder_.path() / "runs", "a")),
        journal_(run_.journal()) {}

  // As a new process would.
  void pump_all() {
    JournalDelivery follow(run_, tracker_, "x");
    while (follow.pump()) {
    }
  }
  void write_steps(std::int64_t first, std::int64_t last, double more = 0) {
    for (std::int64_t step = first; step <= last; ++step)
      journal_.append(step_event(step, static_cast<double>(step) / 10 + more));
  }
  void cut(std::uint64_t checkpoint) {
    journal_.truncate(checkpoint);
    journal_.append({"resume", 1'700'000'050, {}});
  }

  tests::TempFolder folder_;
  journal::RunDirectory run_;
  journal::Journal journal_;
  FakeTracker tracker_;
};

TEST_F(FollowTest, NothingHappensBeforeTheRunIsWritten) {
  JournalDelivery follow(run_, tracker_, "x");
  EXPECT_FALSE(follow.pump());
  EXPECT_FALSE(tracker_.begun);
}

TEST_F(FollowTest, EachPointIsDeliveredOnceOverManySessions) {
  journal_.append(run_event());
  for (int session = 0; session < 5; ++session) {
    write_steps(session * 4 + 1, session * 4 + 4);
    pump_all();
    pump_all();
  }
  EXPECT_EQ(tracker_.points.size(), 40U); // loss and lr
  EXPECT_EQ(tracker_.seen("loss").front(), "1:0.1");
  EXPECT_EQ(tracker_.seen("loss").back(), "20:2");
}

TEST_F(FollowTest, WhatFailedComesAgainAndNothingIsLost) {
  journal_.append(run_event());
  write_steps(1, 10);
  JournalDelivery follow(run_, tracker_, "x");
  EXPECT_TRUE(follow.pump());
  tracker_.fail_before = true;
  EXPECT_THROW(follow.pump(), Unavailable);
  EXPECT_THROW(follow.pump(), Unavailable);
  EXPECT_EQ(follow.behind(), 8);
  tracker_.fail_before = false;
  while (follow.pump()) {
  }
  EXPECT_EQ(follow.behind(), 0);
  EXPECT_EQ(tracker_.seen("loss").size(), 10U);
}

TEST_F(FollowTest, ADeliveryWhoseAnswerWasLostIsTheSameTheSecondTime) {
  journal_.append(run_event());
  journal_.append(system_event(1'700'000'100, 12.5));
  write_steps(1, 1);
  tracker_.fail_after = true;
  {
    JournalDelivery follow(run_, tracker_, "x");
    EXPECT_THROW(follow.pump(), Unavailable);
  }
  tracker_.fail_after = false;
  pump_all();
  ASSERT_EQ(tracker_.points.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(tracker_.points[i], tracker_.points[i + 3]);
}

TEST_F(FollowTest, AResumedRunDeliversNoStepTwice) {
  journal_.append(run_event());
  write_steps(1, 4);
  const auto checkpoint = journal_.offset();
  write_steps(5, 8); // delivered, then cut off
  pump_all();
  journal_.truncate(checkpoint);
  journal_.append({"resume", 1'700'000'050, {{"update", std::int64_t{4}}}});
  // Before the place that was reached, and new all the same.
  journal_.append(epoch_event(5, 0.75));
  write_steps(5, 12);
  pump_all();
  EXPECT_THAT(tracker_.seen("val_loss"), ElementsAre("5:0.75"));
  EXPECT_THAT(
      tracker_.seen("loss"),
      ElementsAre(
          "1:0.1",
          "2:0.2",
          "3:0.3",
          "4:0.4",
          "5:0.5",
          "6:0.6",
          "7:0.7",
          "8:0.8",
          "9:0.9",
          "10:1",
          "11:1.1",
          "12:1.2"));
}

// The same in one process: the supervisor's follower outlives the training.
TEST_F(FollowTest, AJournalCutUnderItsHandsIsNoticedAtTheSameLength) {
  journal_.append(run_event());
  write_steps(1, 4);
  const auto checkpoint = journal_.offset();
  write_steps(5, 8);
  const auto full = journal_.offset();
  JournalDelivery follow(run_, tracker_, "x");
  while (follow.pump()) {
  }
  journal_.truncate(checkpoint);
  for (std::int64_t step = 5; step <= 8; ++step) {
    auto event = step_event(
        step, static_cast<double>(step) / 10, 1'700'000'501.0 + double(step));
    event.fields[3].first = "mr"; // a metric that was not there
    journal_.append(event);
  }
  ASSERT_EQ(journal_.offset(), full);
  write_steps(9, 9);
  while (follow.pump()) {
  }
  EXPECT_EQ(tracker_.seen("loss").size(), 9U);
  EXPECT_EQ(tracker_.seen("loss").back(), "9:0.9");
  EXPECT_EQ(tracker_.seen("mr").size(), 4U);
}

// Between the look for a cut and the read: the process was stopped there.
TEST_F(FollowTest, AJournalCutBeforeItIsReadIsNoticed) {
  journal_.append(run_event());
  const auto checkpoint = journal_.offset();
  write_steps(1, 4);
  JournalDelivery follow(run_, tracker_, "x");
  while (follow.pump()) {
  }
  tracker_.before_read = [&] {
    journal_.truncate(checkpoint);
    for (std::int64_t update = 1; update <= 4; ++update)
      journal_.append(epoch_event(update, 0.5));
    write_steps(1, 6);
  };
  while (follow.pump()) {
  }
  EXPECT_EQ(tracker_.seen("val_loss").size(), 4U);
  EXPECT_EQ(tracker_.seen("loss").size(), 6U);
}

// The updates count down at a rollback, and what comes then is new.
TEST_F(FollowTest, ACutAfterARollbackLosesNoStep) {
  journal_.append(run_event());
  write_steps(1, 6);
  journal_.append(rollback_event(6, 2));
  write_steps(3, 3, 100);
  pump_all();
  const auto checkpoint = journal_.offset();
  write_steps(4, 4, 100);
  pump_all();
  tracker_.points.clear();
  cut(checkpoint);
  write_steps(4, 7, 100);
  pump_all();
  EXPECT_THAT(
      tracker_.seen("loss"), ElementsAre("5:100.5", "6:100.6", "7:100.7"));
}

TEST_F(FollowTest, ARollbackAfterACutLosesNoStep) {
  journal_.append(run_event());
  const auto checkpoint = journal_.offset();
  write_steps(1, 4);
  pump_all();
  cut(checkpoint);
  write_steps(1, 4);
  pump_all();
  tracker_.points.clear();
  journal_.append(rollback_event(5, 2));
  write_steps(3, 5, 100);
  pump_all();
  EXPECT_THAT(
      tracker_.seen("loss"), ElementsAre("3:100.3", "4:100.4", "5:100.5"));
}

// The second time the same step went well, or the state gone back to was older.
TEST_F(FollowTest, ACutBeforeARollbackThatIsAnotherThenLosesNoStep) {
  journal_.append(run_event());
  const auto checkpoint = journal_.offset();
  write_steps(1, 4);
  journal_.append(rollback_event(4, 3));
  write_steps(4, 6, 100);
  pump_all();
  tracker_.points.clear();
  cut(checkpoint);
  write_steps(1, 5);
  journal_.append(rollback_event(5, 1));
  write_steps(2, 4, 200);
  pump_all();
  EXPECT_THAT(
      tracker_.seen("loss"),
      ElementsAre("5:0.5", "2:200.2", "3:200.3", "4:200.4"));
}

TEST_F(FollowTest, SystemMetricsCountOnAcrossAResume) {
  journal_.append(run_event());
  const auto checkpoint = journal_.offset();
  journal_.append(system_event(1'700'000'100, 1));
  journal_.append(system_event(1'700'000'110, 2));
  pump_all();
  journal_.truncate(checkpoint);
  journal_.append(system_event(1'700'000'200, 3));
  pump_all();
  EXPECT_THAT(
      tracker_.seen("system/cpu_utilization_percentage"),
      ElementsAre("0:1", "1:2", "2:3"));
}

TEST_F(FollowTest, APlaceThatWasEmptiedGetsEverythingAgain) {
  journal_.append(run_event());
  write_steps(1, 4);
  pump_all();
  tracker_.points.clear();
  tracker_.emptied = true;
  pump_all();
  EXPECT_EQ(tracker_.seen("loss").size(), 4U);
}

TEST_F(FollowTest, TheEndOfARunIsItsStatusThere) {
  journal_.append(run_event());
  pump_all();
  journal_.append(end_event("done"));
  pump_all();
  EXPECT_THAT(tracker_.status, ElementsAre(Status::running, Status::finished));
  JournalDelivery follow(run_, tracker_, "x");
  follow.close(Status::killed); // it ended already
  EXPECT_EQ(tracker_.status.size(), 2U);
}

TEST_F(FollowTest, ARunThatWasKilledIsClosedFromOutside) {
  journal_.append(run_event());
  write_steps(1, 2);
  pump_all();
  JournalDelivery follow(run_, tracker_, "x");
  follow.close(Status::killed);
  EXPECT_EQ(tracker_.status.back(), Status::killed);
  journal_.append({"resume", 1'700'000'050, {{"update", std::int64_t{2}}}});
  while (follow.pump()) {
  }
  EXPECT_EQ(tracker_.status.back(), Status::running);
}

TEST_F(FollowTest, TwoAtOnceAreRefused) {
  journal_.append(run_event());
  JournalDelivery follow(run_, tracker_, "x");
  EXPECT_THROW(JournalDelivery(run_, tracker_, "x"), Error);
  FakeTracker other;
  JournalDelivery elsewhere(run_, other, "y");
}

TEST_F(FollowTest, ADamagedMemoryIsAnErrorThatNamesTheFile) {
  tests::write_bytes(run_.path / "track-x.json", "{\"key\": 3}");
  try {
    JournalDelivery follow(run_, tracker_, "x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("track-x.json"));
  }
}

TEST_F(FollowTest, TheFactsAreOfTheFirstEvent) {
  journal_.append(run_event());
  pump_all();
  const RunFacts& facts = tracker_.facts;
  EXPECT_EQ(facts.name, "a");
  EXPECT_EQ(facts.user, "ada");
  EXPECT_EQ(facts.start_ms, 1'700'000'000'500);
  EXPECT_EQ(facts.key.size(), 32U);
  EXPECT_THAT(
      facts.params,
      testing::UnorderedElementsAre(
          Pair{"seed", "7"},
          Pair{"train.batch", "64"},
          Pair{"optimizer.name", "adamw"}));
  EXPECT_THAT(
      facts.tags,
      testing::IsSupersetOf(
          {Pair{"mlflow.runName", "a"},
           Pair{"mlflow.source.git.commit", "0123abcd"},
           Pair{"mlflow.source.git.dirty", "True"}}));
  ASSERT_EQ(facts.datasets.size(), 2U);
  EXPECT_EQ(facts.datasets[0].context, "training");
  EXPECT_NE(facts.datasets[0].digest, facts.datasets[1].digest);
}

TEST(Translate, KeysBecomeWhatMlflowTakes) {
  EXPECT_EQ(clean_key("val_loss"), "val_loss");
  EXPECT_EQ(clean_key("my metric (%)"), "my metric ___");
  EXPECT_EQ(clean_key("/a//../b/"), "a/b");
  EXPECT_EQ(clean_key(".."), "_");
  EXPECT_EQ(clean_key(std::string(300, 'x')).size(), 250U);
}

TEST(Translate, TextIsCutBetweenLetters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("ab\xC3\xA4", 3), "ab");
}

TEST(Translate, AnArtifactOutsideTheRunIsLeftAlone) {
  tests::TempFolder folder;
  const auto run = made_run(folder.path(), "a");
  tests::write_bytes(folder.path() / "secret", "s");
  Marks marks;
  Delivery batch;
  for (const char* path : {"../secret", "/etc/passwd", "a/../../secret", ""})
    translate(
        {"artifact", 1, {{"path", std::string(path)}}}, run, marks, batch);
  EXPECT_THAT(batch.artifacts, IsEmpty());
}

} // namespace
} // namespace temper::track

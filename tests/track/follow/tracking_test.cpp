#include "temper/track/follow/tracking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "tests/temp_folder.h"
#include "tests/track/journal_samples.h"
#include "tests/track/mlflow/sqlite_rows.h"
#include "tests/wait_until.h"

namespace temper::track {
namespace {

using testing::HasSubstr;

class TrackingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_sqlite3()) GTEST_SKIP() << "there is no sqlite3 program";
  }
  void write(const journal::RunDirectory& run, int steps) {
    journal::Journal journal(run.journal());
    for (int step = 1; step <= steps; ++step) {
      journal.append(step_event(step, 0.5));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  tests::TempFolder folder_;
  std::filesystem::path store_ = folder_.path() / "mlflow.db";
};

TEST_F(TrackingTest, TwoRunsAtOnceArriveWhole) {
  std::vector<std::thread> training;
  for (const char* name : {"one", "two"})
    training.emplace_back([this, name] {
      const auto run = made_run(folder_.path() / "runs", name);
      {
        journal::Journal journal(run.journal());
        journal.append(run_event());
      }
      Options options;
      options.tensorboard = "on";
      const auto tracking = start(run.path, options);
      write(run, 300);
      journal::Journal(run.journal()).append(end_event("done"));
      for (const Lag& lag : tracking->finish(60))
        EXPECT_EQ(lag.command, "") << lag.why;
    });
  for (auto& thread : training)
    thread.join();
  EXPECT_EQ(
      rows(
          store_,
          "SELECT r.name, r.status, count(*) FROM runs r JOIN metrics m "
          "ON m.run_uuid=r.run_uuid WHERE m.key='loss' GROUP BY 1 ORDER BY 1"),
      (std::vector<std::string>{"one|FINISHED|300", "two|FINISHED|300"}));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "runs/one/tensorboard"));
}

TEST_F(TrackingTest, ARunWithoutAnEndIsEndedFromOutside) {
  const auto run = made_run(folder_.path() / "runs", "killed");
  {
    journal::Journal journal(run.journal());
    journal.append(run_event());
  }
  write(run, 3);
  {
    const auto tracking = start(run.path, {});
    tracking->finish(60, Status::killed);
  }
  EXPECT_EQ(
      row(store_, "SELECT status, end_time IS NOT NULL FROM runs"), "KILLED|1");
  // It is resumed, and gets to its end.
  {
    journal::Journal journal(run.journal());
    journal.append({"resume", 0, {{"update", std::int64_t{3}}}});
  }
  {
    const auto tracking = start(run.path, {});
    write(run, 1);
    tests::wait_until(
        [&] { return row(store_, "SELECT status FROM runs") == "RUNNING"; });
    EXPECT_EQ(row(store_, "SELECT status, end_time FROM runs"), "RUNNING|");
    journal::Journal(run.journal()).append(end_event("stopped early"));
    tracking->finish(60);
  }
  EXPECT_EQ(row(store_, "SELECT status FROM runs"), "FINISHED");
  EXPECT_EQ(row(store_, "SELECT count(*) FROM runs"), "1");
}

TEST_F(TrackingTest, APlaceThatRestsIsNotSilent) {
  const auto run = made_run(folder_.path() / "runs", "a");
  journal::Journal(run.journal()).append(run_event());
  Options options;
  options.slow_s = 0; // any call at all
  const auto tracking = start(run.path, options);
  const auto wait_for = [](const auto& holds) {
    for (int i = 0; i < 1000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  };
  const auto state = run.path /
      cat("track-", parse_target("sqlite:///" + store_.string()).id(), ".json");
  ASSERT_TRUE(wait_for([&] { return std::filesystem::exists(state); }));
  EXPECT_TRUE(wait_for([&] { return tracking->silent().empty(); }));
}

// Training must not notice: the journal is written at full speed.
TEST_F(TrackingTest, AFullDiskOrForbiddenPlaceIsALag) {
  const auto sink = log::set_sink({});
  const auto run = made_run(folder_.path() / "runs", "a");
  {
    journal::Journal journal(run.journal());
    journal.append(run_event());
  }
  tests::write_bytes(folder_.path() / "file", "");
  Options options;
  options.mlflow = "sqlite:///" + folder_.text("file/below/x.db");
  {
    const auto tracking = start(run.path, options);
    write(run, 5);
    const auto left = tracking->finish(0.5);
    ASSERT_EQ(left.size(), 1U);
    EXPECT_THAT(left[0].why, HasSubstr("cannot open"));
    EXPECT_EQ(left[0].lines, 6);
    EXPECT_THAT(left[0].command, HasSubstr("temper runs export"));
  }
  log::set_sink(sink);
}

TEST(Backoff, DoublesUpToTwoMinutesAndListensToTheServer) {
  for (int tries = 1; tries < 20; ++tries) {
    const double wait_s = backoff_s(tries, 0);
    const double least = std::min(std::pow(2.0, tries), 120.0);
    EXPECT_GE(wait_s, least);
    EXPECT_LE(wait_s, least + 1);
  }
  EXPECT_GE(backoff_s(1, 60), 60);
  EXPECT_LE(backoff_s(1, 1e9), 121);
}

} // namespace
} // namespace temper::track

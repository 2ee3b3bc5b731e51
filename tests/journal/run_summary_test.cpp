#include "temper/journal/run_summary.h"

#include <gtest/gtest.h>

#include <optional>

#include "temper/journal/journal.h"
#include "temper/journal/run_lock.h"
#include "tests/temp_folder.h"

namespace temper::journal {
namespace {

class Summary : public testing::Test {
 protected:
  Summary() : run_(make_run_directory(folder_ / "runs", "x", "mlp", "made")) {}

  void append(Event event) const {
    Journal(run_.journal()).append(std::move(event));
  }
  void begin() const {
    append(
        {"run",
         1000,
         {{"config", "[train]\nepochs = 5\nmax_steps = 0\n"},
          {"plan",
           Json{
               R"({"model":"mlp","source":"made","updates_per_epoch":313})"}}}});
  }
  void step(
      std::int64_t update,
      double loss,
      double time_s,
      double samples_per_s = 0) const {
    append(
        {"step",
         time_s,
         {{"step", update}, {"loss", loss}, {"samples_per_s", samples_per_s}}});
  }

  tests::TempFolder folder_;
  RunDirectory run_;
};

TEST_F(Summary, ARunUnderWaySaysWhereItIs) {
  begin();
  step(150, 0.4, 1007);
  std::optional<RunLock> trained(run_);
  RunSummary live = summarise(run_);
  EXPECT_EQ(live.status, "running");
  EXPECT_EQ(live.updates, 150);
  EXPECT_EQ(live.total_updates, 1565);
  EXPECT_EQ(live.loss, 0.4);
  EXPECT_EQ(live.seconds, 7);
  trained.reset();
  EXPECT_EQ(summarise(run_).status, "unfinished");
}

TEST_F(Summary, TheSpeedIsThatOfTheStepsUntilAnEpochHasEnded) {
  begin();
  EXPECT_EQ(summarise(run_).samples_per_s, 0);
  step(10, 0.4, 1001, 90);
  step(20, 0.4, 1002, 110);
  EXPECT_EQ(summarise(run_).samples_per_s, 110);
  append({"epoch", 1003, {{"epoch", 0}, {"samples_per_s", 100.0}}});
  step(330, 0.4, 1004, 7);
  EXPECT_EQ(summarise(run_).samples_per_s, 100);
}

TEST_F(Summary, ALookAtARunKeepsNobodyFromTrainingIt) {
  begin();
  EXPECT_FALSE(is_trained_now(run_)); // it has no lock file yet
  const RunLock lock(run_);
  EXPECT_TRUE(is_trained_now(run_));
}

// Nobody trained it between its two sessions.
TEST_F(Summary, TimeBetweenTwoSessionsDoesNotCount) {
  begin();
  step(10, 0.5, 1010);
  append({"resume", 5000, {{"update", std::int64_t{10}}}});
  step(20, 0.4, 5004);
  EXPECT_EQ(summarise(run_).seconds, 14);
  append({"end", 5005, {{"status", "done"}, {"seconds", 13.5}}});
  append({"note", 9000, {}});
  EXPECT_EQ(summarise(run_).seconds, 13.5);
}

TEST_F(Summary, MaxStepsIsTheLengthWhereItIsShorter) {
  append(
      {"run",
       1000,
       {{"config", "[train]\nepochs = 5\nmax_steps = 40\n"},
        {"plan", Json{R"({"model":"mlp","updates_per_epoch":313})"}}}});
  EXPECT_EQ(summarise(run_).total_updates, 40);
}

} // namespace
} // namespace temper::journal

// The loop on a fake engine: its epochs, its rates and how it ends.
#include "loop_fakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::Contains;

TEST_F(LoopTest, EveryEpochIsTrainedValidatedJournaledAndKept) {
  engine_.accuracies = {5, 8, 7, 6};
  const Outcome outcome = run();
  EXPECT_EQ(outcome.ending, Ending::kDone);
  EXPECT_EQ(outcome.updates, 12);
  EXPECT_EQ(outcome.best_metric, "val_accuracy");
  EXPECT_EQ(outcome.best, 0.8);
  EXPECT_EQ(outcome.best_epoch, 1U);
  EXPECT_EQ(events("step").size(), 12U);
  ASSERT_EQ(events("epoch").size(), 4U);
  EXPECT_EQ(events("epoch")[1].number("val_accuracy"), 0.8);
  EXPECT_EQ(events("epoch")[1].flag("best"), true);
  EXPECT_EQ(events("epoch")[2].flag("best"), false);
  const checkpoint::Store store(folder_ / "checkpoints");
  // One that waited may have been left out for a newer one.
  EXPECT_THAT(store.list(), AllOf(Contains(6), Contains(12)));
  EXPECT_EQ(store.load_best()->update, 6);
}

TEST_F(LoopTest, TheRateFollowsTheSchedule) {
  config_.schedule.name = "linear";
  config_.optimizer.lr = 1.2;
  run();
  ASSERT_EQ(engine_.rates.size(), 12U);
  EXPECT_DOUBLE_EQ(engine_.rates[0], 1.2);
  EXPECT_NEAR(engine_.rates[11], 0.1, 1e-12);
}

TEST_F(LoopTest, MaxStepsEndsItAndTheScheduleKnows) {
  config_.train.max_steps = 5;
  config_.schedule.name = "linear";
  config_.optimizer.lr = 1;
  EXPECT_EQ(run().updates, 5);
  EXPECT_NEAR(engine_.rates.back(), 0.2, 1e-12);
}

TEST_F(LoopTest, ItStopsEarlyWhenNoEpochIsBetter) {
  config_.train.epochs = 20;
  config_.train.early_stop = 3;
  engine_.accuracies = {4, 6, 5, 5, 5, 9};
  const Outcome outcome = run();
  EXPECT_EQ(outcome.ending, Ending::kEarly);
  EXPECT_EQ(outcome.updates, 15);
  EXPECT_EQ(outcome.best_epoch, 1U);
}

TEST_F(LoopTest, WithoutValidationTheTrainingLossIsWatched) {
  validate_ = false;
  EXPECT_EQ(run().best_metric, "train_loss");
  config_.checkpoint.metric = "val_loss";
  EXPECT_THROW(run(), Error);
}

TEST_F(LoopTest, AGeneratorWithoutAnEndNeedsALengthForItsSchedule) {
  batches_.known = false;
  EXPECT_THROW(run(), Error);
  config_.schedule.name = "constant";
  EXPECT_EQ(run().updates, 12);
}

TEST_F(LoopTest, AccumulatedBatchesAreComputedInTheirParts) {
  config_.train.accumulate = 4;
  config_.train.batch = 16;
  run();
  EXPECT_EQ(engine_.micro_batch, 16);
}

// The batch is spent, the update is not counted, and the schedule waits.
TEST_F(LoopTest, AnUpdateThatOverflowedIsLeftOutAndTold) {
  run();
  const auto rates = engine_.rates;
  engine_ = {};
  engine_.overflows_at = 2;
  engine_.overflows = 2;
  std::filesystem::remove_all(folder_ / "checkpoints");
  std::filesystem::remove(folder_ / "journal.jsonl");
  const Outcome outcome = run();
  const auto told = events("incident");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].text("what"), "overflow");
  EXPECT_EQ(told[0].count("update"), 2);
  EXPECT_EQ(outcome.updates, static_cast<std::int64_t>(rates.size()) - 2);
  for (std::size_t i = 0; i < engine_.rates.size(); ++i)
    EXPECT_EQ(engine_.rates[i], rates[i]) << i;
}

// The engine's steps take microseconds: a plan of hours cannot be right.
TEST_F(LoopTest, APlanThatTheFirstStepsBelieIsForgottenAndTold) {
  config_.train.epochs = 12; // of three steps
  run();
  EXPECT_EQ(plans_forgotten_, 0);
  EXPECT_TRUE(events("incident").empty());
  forget();
  planned_ = plan::Expected{3600, 0.04, 1};
  run();
  EXPECT_EQ(plans_forgotten_, 1);
  const auto told = events("incident");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].text("what"), "not as planned");
  EXPECT_EQ(told[0].number("before_s"), 3600);
  EXPECT_EQ(told[0].flag("forgotten"), true);
  EXPECT_EQ(told[0].count("update"), 29);
}

// Losses of the live line, as they pass.
class LiveLosses final : public RunObserver {
 public:
  void step(const Glimpse& glimpse) override {
    if (!glimpse.validating) seen.push_back(glimpse.loss);
  }
  std::vector<double> seen;
};

TEST_F(LoopTest, SlowStepsShowTheirOwnLossAndAreReportedAsOthersAre) {
  config_.train.log_every = 10;
  config_.train.epochs = 1; // of three steps
  LiveLosses quick;
  observer_ = &quick;
  oldest_loss_s_ = 3600;
  run();
  const std::size_t reported = events("step").size();
  const auto epochs = told_of(events("epoch"));
  ASSERT_EQ(quick.seen.size(), 3U);
  EXPECT_EQ(quick.seen[0], quick.seen[1]);
  forget();
  LiveLosses slow;
  observer_ = &slow;
  oldest_loss_s_ = 0; // every step is
  run();
  ASSERT_EQ(slow.seen.size(), 3U);
  EXPECT_NE(slow.seen[0], slow.seen[1]);
  EXPECT_EQ(slow.seen[2], quick.seen[2]); // the last is reported
  EXPECT_EQ(events("step").size(), reported);
  EXPECT_EQ(told_of(events("epoch")), epochs);
}

} // namespace
} // namespace temper::train

#include "temper/train/loop/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loop_fakes.h"
#include "temper/base/error.h"

namespace temper::train {
namespace {

using testing::HasSubstr;

class RecoveryTest : public testing::Test {
 protected:
  Recovery& recovery() {
    if (!recovery_)
      recovery_.emplace(RecoveryParts{
          config_, engine_, batches_, progress_, [this](const auto& event) {
            told_.push_back(event);
          }});
    return *recovery_;
  }
  // As the loop does it. True: committed, as far as is known.
  bool step(bool report = false) {
    const data::HostBatch* batch = batches_.next();
    StepOrder order{0, progress_.update, 1.0};
    order.report = report;
    recovery().arm(order);
    rates_.push_back(order.lr);
    try {
      engine_.step(*batch, order);
    } catch (const NotFinite& bad) {
      recovery().not_finite(bad, &order);
      return false;
    }
    ++progress_.update;
    ++progress_.step;
    recovery().committed(order);
    return true;
  }
  std::string told(std::size_t number, const char* field) const {
    return told_.at(number).text(field).value_or("");
  }

  config::Config config_;
  FakeEngine engine_;
  FakeBatches batches_;
  Progress progress_;
  std::vector<journal::Event> told_;
  std::vector<double> rates_;
  std::optional<Recovery> recovery_;
};

TEST_F(RecoveryTest, TheBatchOfABadUpdateIsSpentAndTheUpdateWaits) {
  recovery().begin();
  engine_.fails_at = 1;
  engine_.failures = 1;
  EXPECT_TRUE(step());
  EXPECT_FALSE(step());
  EXPECT_EQ(progress_.update, 1);
  EXPECT_EQ(progress_.step, 2);
  EXPECT_EQ(batches_.state(), "2") << "the data goes on";
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].kind, "incident");
  EXPECT_EQ(told(0, "then"), "skip");
  EXPECT_EQ(told_[0].count("update"), 1);
}

// Two updates were trained since: they changed nothing and are trained again.
TEST_F(RecoveryTest, ABadUpdateThatShowsLateRewindsBehindItsBatch) {
  engine_.late = true;
  recovery().begin();
  engine_.fails_at = 0;
  engine_.failures = 1;
  EXPECT_TRUE(step());
  EXPECT_TRUE(step());
  EXPECT_EQ(progress_.update, 2);
  EXPECT_FALSE(recovery().settle());
  EXPECT_EQ(progress_.update, 0);
  EXPECT_EQ(progress_.step, 1);
  EXPECT_EQ(batches_.state(), "1") << "behind the batch that was bad";
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].json("samples"), "[7,8]");
}

TEST_F(RecoveryTest, WhatWasReadIsNotRewound) {
  engine_.late = true;
  recovery().begin();
  EXPECT_TRUE(step());
  EXPECT_TRUE(step(true)); // both are read here
  engine_.fails_at = 2;
  engine_.failures = 1;
  EXPECT_TRUE(step());
  EXPECT_FALSE(recovery().settle());
  EXPECT_EQ(progress_.update, 2);
  EXPECT_EQ(progress_.step, 3);
}

TEST_F(RecoveryTest, SettlingTakesTheSumsIntoTheEpoch) {
  recovery().begin();
  step();
  step();
  EXPECT_TRUE(recovery().settle());
  EXPECT_EQ(progress_.epoch_sums.samples, 8);
  EXPECT_EQ(engine_.sums.samples, 0);
  EXPECT_TRUE(recovery().settle());
  EXPECT_EQ(progress_.epoch_sums.samples, 8);
}

TEST_F(RecoveryTest, ARollbackTakesTheEngineBackAndTheDataGoesOn) {
  config_.guard.nan = "rollback";
  config_.guard.rollback_every = 100;
  recovery().begin();
  const double before = engine_.state;
  step();
  engine_.fails_at = 1;
  engine_.failures = 1;
  EXPECT_FALSE(step());
  EXPECT_EQ(engine_.state, before);
  EXPECT_EQ(progress_.update, 0);
  EXPECT_EQ(batches_.state(), "2");
  EXPECT_EQ(progress_.epoch_sums.samples, 4) << "what was trained counts";
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told(0, "then"), "rollback");
  EXPECT_EQ(told_[1].kind, "rollback");
  EXPECT_EQ(told_[1].count("from"), 1);
  EXPECT_EQ(told_[1].count("to"), 0);
}

TEST_F(RecoveryTest, ASecondRollbackCutsTheRateOfTheOrdersSince) {
  config_.guard.nan = "rollback";
  config_.guard.rollback_every = 100;
  recovery().begin();
  engine_.fails_at = 0;
  engine_.failures = 2;
  EXPECT_FALSE(step());
  EXPECT_FALSE(step());
  EXPECT_TRUE(step());
  EXPECT_THAT(rates_, testing::ElementsAre(1, 1, 0.5));
}

TEST_F(RecoveryTest, ToldToStopItThrowsWhatHappenedAndWhy) {
  config_.guard.nan = "stop";
  recovery().begin();
  engine_.fails_at = 0;
  try {
    step();
    FAIL() << "it went on";
  } catch (const NotFinite& stopped) {
    EXPECT_THAT(
        stopped.what(), HasSubstr("the loss became nan. The run stops"));
    EXPECT_EQ(stopped.update, 0);
  }
  EXPECT_EQ(told(0, "then"), "stop");
}

TEST_F(RecoveryTest, SamplesThatHoldNanAreNamed) {
  recovery().begin();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> inputs{1, 2, nan};
  const std::vector<std::int64_t> indices{40, 41, 42};
  data::HostBatch batch;
  batch.size = 3;
  batch.shape = {1};
  batch.inputs = inputs.data();
  batch.indices = indices.data();
  const StepOrder order;
  recovery().not_finite(NotFinite("the loss became nan."), &order, &batch);
  EXPECT_EQ(told_.at(0).json("samples"), "[42]");
  EXPECT_THAT(told(0, "cause"), HasSubstr("42"));
}

TEST_F(RecoveryTest, AGuardThatWatchesLossesHasEveryStepReported) {
  StepOrder order{0, 0, 1.0};
  recovery().arm(order);
  EXPECT_FALSE(order.report);
  EXPECT_TRUE(std::isinf(order.loss_limit));
  config_.guard.loss_spike = 8;
  recovery_.reset();
  recovery().arm(order);
  EXPECT_TRUE(order.report);
}

TEST_F(RecoveryTest, GoodStatesComeBackFromACheckpoint) {
  config_.guard.nan = "rollback";
  config_.guard.rollback_every = 1;
  recovery().begin();
  step();
  const double kept = engine_.state;
  graph::Weights saved;
  recovery().save(saved);
  EXPECT_FALSE(saved.empty());
  recovery_.reset();
  recovery().restore(saved);
  engine_.state = 77;
  engine_.fails_at = 1;
  engine_.failures = 1;
  EXPECT_FALSE(step());
  EXPECT_EQ(engine_.state, kept);
  EXPECT_EQ(progress_.update, 1);
}

TEST_F(RecoveryTest, WithoutMemoryTheFirstStateIsAnErrorALaterNo) {
  engine_.no_memory_from = 1;
  EXPECT_THROW(recovery().begin(), Error);
  engine_.no_memory_from = 1 << 30;
  recovery_.reset();
  config_.guard.rollback_every = 1;
  recovery().begin();
  engine_.no_memory_from = 1;
  const auto quiet = log::set_sink([](log::Level, const std::string&) {});
  EXPECT_TRUE(step());
  log::set_sink(quiet);
  EXPECT_EQ(progress_.update, 1);
}

} // namespace
} // namespace temper::train

// Updates that are not finite: passed over, gone back from, or the end.
#include "loop_fakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::train {
namespace {

using testing::HasSubstr;

TEST_F(LoopTest, WhatIsNotFiniteIsAnIncidentAndStopsIfAskedTo) {
  config_.guard.nan = "stop";
  engine_.fails_at = 4;
  EXPECT_THROW(run(), NotFinite);
  ASSERT_EQ(events("incident").size(), 1U);
  EXPECT_EQ(events("incident")[0].count("update"), 4);
  EXPECT_EQ(events("incident")[0].text("then"), "stop");
  EXPECT_THAT(*events("incident")[0].text("why"), HasSubstr("nan"));
}

// The batch is spent; the update, and with it the rate, waits.
TEST_F(LoopTest, ABatchThatIsNotFiniteIsPassedOver) {
  engine_.fails_at = 4;
  engine_.failures = 1;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.updates, 11);
  EXPECT_EQ(engine_.rates.size(), 11U);
  ASSERT_EQ(events("incident").size(), 1U);
  EXPECT_EQ(events("incident")[0].text("then"), "skip");
  EXPECT_EQ(events("epoch")[1].count("samples"), 6) << "4 of 10 were not used";
}

// However late a device tells: the same batches trained at the same rates.
TEST_F(LoopTest, ALateDeviceEndsWhereOneThatTellsAtOnceDoes) {
  for (const int log_every : {1, 4, 100})
    for (int fails_at = 0; fails_at < 11; ++fails_at) {
      double ends[2];
      std::int64_t updates[2];
      std::int64_t samples[2];
      for (const bool late : {false, true}) {
        std::filesystem::remove_all(folder_ / "checkpoints");
        std::filesystem::remove(folder_ / "journal.jsonl");
        config_.train.log_every = log_every;
        engine_ = {};
        batches_ = {};
        engine_.late = late;
        engine_.fails_at = fails_at;
        engine_.failures = 1;
        const Outcome outcome = run();
        ends[late] = engine_.state;
        updates[late] = outcome.updates;
        EXPECT_EQ(events("incident").size(), 1U);
        EXPECT_EQ(events("incident")[0].count("update"), fails_at);
        samples[late] = outcome.train.samples;
      }
      EXPECT_EQ(ends[0], ends[1]) << fails_at << " of " << log_every;
      EXPECT_EQ(updates[0], updates[1]) << fails_at;
      EXPECT_EQ(samples[0], samples[1]) << fails_at;
    }
}

TEST_F(LoopTest, ARunGoesBackToAGoodStateAndOnWithNewData) {
  config_.guard.rollback_every = 4;
  for (const bool late : {false, true}) {
    std::filesystem::remove_all(folder_ / "checkpoints");
    std::filesystem::remove(folder_ / "journal.jsonl");
    engine_ = {};
    batches_ = {};
    engine_.late = late;
    engine_.fails_at = 6;
    engine_.failures = 3; // the patience of skip
    const Outcome outcome = run();
    EXPECT_EQ(events("incident").size(), 3U);
    ASSERT_EQ(events("rollback").size(), 1U);
    EXPECT_EQ(events("rollback")[0].count("from"), 6);
    EXPECT_EQ(events("rollback")[0].count("to"), 4);
    EXPECT_EQ(events("rollback")[0].number("lr_factor"), 1);
    // 12 batches: 6 committed, 3 spent, 3 committed after the state of 4.
    EXPECT_EQ(outcome.updates, 7);
  }
}

// What the guard counts goes through the checkpoint: two batches were passed
// over before the stop, and the third rolls back.
TEST_F(LoopTest, AResumedRunIsAsPatientAsTheUndisturbedOne) {
  config_.guard.rollback_every = 100;
  engine_.fails_at = 4;
  engine_.failures = 3;
  validate_ = false; // after which it is asked, too
  int steps = 0;
  run(nullptr, [&] { return ++steps == 6; });
  EXPECT_EQ(events("incident").size(), 2U);
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->update, 4);
  run(&*snapshot);
  EXPECT_EQ(events("incident").size(), 3U);
  EXPECT_EQ(events("incident")[2].text("then"), "rollback");
}

// Wherever it was stopped, it goes back to the same states: for who asks for
// rollbacks they are in the checkpoint.
TEST_F(LoopTest, AResumedRunGoesBackAsFarAsTheUndisturbedOne) {
  config_.guard.nan = "rollback";
  config_.guard.rollback_every = 3;
  const auto fail = [&](int failures) {
    engine_ = {};
    engine_.fails_at = 8;
    engine_.failures = failures;
  };
  fail(2);
  run();
  const double undisturbed = engine_.state;
  ASSERT_EQ(events("rollback").size(), 2U);
  EXPECT_EQ(events("rollback")[0].count("to"), 6);
  EXPECT_EQ(events("rollback")[1].count("to"), 3);
  for (std::size_t steps = 1; steps <= 10; ++steps) {
    forget();
    fail(2);
    run(nullptr, [&] { return engine_.rates.size() == steps; });
    const auto snapshot =
        checkpoint::Store(folder_ / "checkpoints").load_latest();
    ASSERT_TRUE(snapshot);
    fail(engine_.failures);
    batches_ = {};
    EXPECT_EQ(run(&*snapshot).ending, Ending::kDone);
    EXPECT_EQ(engine_.state, undisturbed) << "stopped after " << steps;
  }
}

TEST_F(LoopTest, ACheckpointHasNoGoodStatesThatNobodyAskedFor) {
  run();
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->tensors.size(), 1U);
}

TEST_F(LoopTest, ARunThatFailsAgainAndAgainStopsAndSaysSo) {
  config_.train.epochs = 100;
  config_.guard.rollback_every = 2;
  engine_.fails_at = 5;
  std::string told;
  try {
    run();
  } catch (const NotFinite& error) {
    told = error.what();
  }
  EXPECT_THAT(told, HasSubstr("went back 2 times"));
  ASSERT_EQ(events("rollback").size(), 2U);
  EXPECT_EQ(events("rollback")[0].count("to"), 4);
  EXPECT_EQ(events("rollback")[1].count("to"), 2);
  EXPECT_EQ(events("rollback")[1].number("lr_factor"), 0.5);
  EXPECT_EQ(events("incident").back().text("then"), "stop");
  // At half the rate since.
  EXPECT_EQ(engine_.rates.back(), 0.5 * engine_.rates[4]);
}

} // namespace
} // namespace temper::train

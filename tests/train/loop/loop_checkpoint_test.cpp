// What the loop saves, and what it does when there is no memory or no disk
// for it.
#include "loop_fakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "temper/base/error.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

// One capture is the guard's, before the first step.
TEST_F(LoopTest, ACopyThatHasNoMemoryIsACheckpointThatFailed) {
  run();
  const double undisturbed = engine_.state;
  forget();
  config_.checkpoint.keep_last = 9;
  engine_.no_memory_from = 3; // after the second epoch, and once more
  engine_.no_memory_until = 5;
  EXPECT_EQ(run().ending, Ending::kDone);
  EXPECT_EQ(engine_.state, undisturbed);
  const auto failed = events("checkpoint_failed");
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].count("update"), 6);
  EXPECT_THAT(failed[0].text("why").value(), HasSubstr("no memory"));
  EXPECT_THAT(
      checkpoint::Store(folder_ / "checkpoints").list(),
      AllOf(Contains(3), ::testing::Not(Contains(6)), Contains(12)));
}

TEST_F(LoopTest, ACopyFindsMemoryOnceOthersAreWritten) {
  engine_.no_memory_from = 3;
  engine_.no_memory_until = 4;
  config_.train.epochs = 2;
  run();
  EXPECT_TRUE(events("checkpoint_failed").empty());
  EXPECT_THAT(checkpoint::Store(folder_ / "checkpoints").list(), Contains(6));
}

TEST_F(LoopTest, AStopWithoutMemoryForACopyKeepsTheLastOne) {
  engine_.no_memory_from = 3;
  const auto after_four = [&] { return engine_.rates.size() == 4; };
  EXPECT_EQ(run(nullptr, after_four).ending, Ending::kStopped);
  EXPECT_EQ(events("checkpoint_failed").size(), 1U);
  forget();
  engine_.no_memory_from = 2;
  EXPECT_THROW(run(nullptr, after_four), Error); // there is none
}

TEST_F(LoopTest, ARunWithoutMemoryForAGoodStateGoesOnWithTheLast) {
  config_.guard.rollback_every = 3;
  config_.checkpoint.every_seconds = 0;
  // The guard's first, then its second and the one of the first epoch.
  engine_.no_memory_from = 2;
  engine_.no_memory_until = 3;
  EXPECT_EQ(run().ending, Ending::kDone);
  forget();
  engine_.no_memory_from = 1;
  EXPECT_THROW(run(), Error);
}

// Each checkpoint is preceded by the gradients of the update it was made
// after, and nobody who does not want them pays for them.
TEST_F(LoopTest, GradientsAreJournaledAtCheckpointsWhenAskedFor) {
  run();
  EXPECT_EQ(engine_.gradients_asked, 0);
  EXPECT_TRUE(events("gradients").empty());
  forget();
  config_.track.histograms = true;
  config_.checkpoint.every_steps = 3;
  run();
  std::vector<std::int64_t> updates;
  for (const auto& event : events("gradients")) {
    updates.push_back(event.count("update").value_or(-1));
    const auto told = nlohmann::json::parse(event.json("histograms").value());
    EXPECT_EQ(told.at("w").at("low"), updates.back());
  }
  EXPECT_THAT(updates, ::testing::ElementsAre(3, 6, 9, 12));
  // A slow disk passes over some of them.
  for (const auto& event : events("checkpoint"))
    EXPECT_THAT(updates, Contains(event.count("update").value_or(-1)));
}

TEST_F(LoopTest, HowOftenItIsSavedChangesNothing) {
  config_.train.log_every = 2;
  run();
  const double state = engine_.state;
  const auto epochs = told_of(events("epoch"));
  for (const std::int64_t every : {1, 2, 3, 5}) {
    forget();
    config_.checkpoint.every_steps = every;
    run();
    EXPECT_EQ(engine_.state, state) << every;
    EXPECT_EQ(told_of(events("epoch")), epochs) << every;
    EXPECT_GE(events("checkpoint").size(), 2U);
  }
}

TEST_F(LoopTest, ADiskThatTakesNothingEndsTheRunOnlyAtItsEnd) {
  folder_.write("checkpoints", "in the way");
  config_.checkpoint.every_steps = 1;
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(events("epoch").size(), 4U);
  EXPECT_GE(events("checkpoint_failed").size(), 2U);
  // As long as there is room at the end, all is well.
  forget();
  folder_.write("checkpoints", "in the way");
  EXPECT_EQ(
      run(nullptr,
          [&] {
            if (engine_.rates.size() == 11)
              std::filesystem::remove(folder_ / "checkpoints");
            return false;
          })
          .ending,
      Ending::kDone);
  EXPECT_EQ(
      checkpoint::Store(folder_ / "checkpoints").load_latest()->update, 12);
}

} // namespace
} // namespace temper::train

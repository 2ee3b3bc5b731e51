// A run that was stopped goes on as if it had never been.
#include "loop_fakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace temper::train {
namespace {

// Wherever it is stopped: the same state, journal and rates as undisturbed.
TEST_F(LoopTest, ARunThatWasStoppedAnywhereEndsAsIfItWasNot) {
  run();
  const double undisturbed = engine_.state;
  std::vector<double> losses;
  for (const auto& event : events("step"))
    losses.push_back(*event.number("loss"));
  for (int stop_after = 1; stop_after < 12; ++stop_after) {
    forget();
    const Outcome stopped = run(nullptr, [&] {
      return engine_.rates.size() == static_cast<std::size_t>(stop_after);
    });
    EXPECT_EQ(stopped.ending, Ending::kStopped);
    finish_from(stop_after);
    EXPECT_EQ(engine_.state, undisturbed) << "stopped after " << stop_after;
    std::vector<double> again;
    for (const auto& event : events("step"))
      again.push_back(*event.number("loss"));
    EXPECT_EQ(again, losses) << "stopped after " << stop_after;
    EXPECT_EQ(events("epoch").size(), 4U);
    EXPECT_EQ(events("epoch")[3].count("samples"), 10);
  }
}

// Also after the last step, when its epoch is not validated yet.
TEST_F(LoopTest, StoppedAfterItsLastStepItStillClosesTheEpoch) {
  for (const int max_steps : {3, 5, 6}) {
    forget();
    config_.train.max_steps = max_steps;
    run();
    const double undisturbed = engine_.state;
    const auto epochs = told_of(events("epoch"));
    forget();
    const Outcome stopped = run(nullptr, [&] {
      return engine_.rates.size() == static_cast<std::size_t>(max_steps);
    });
    EXPECT_EQ(stopped.ending, Ending::kStopped);
    finish_from(max_steps);
    EXPECT_TRUE(engine_.rates.empty()) << "it was trained further";
    EXPECT_EQ(engine_.state, undisturbed);
    EXPECT_EQ(told_of(events("epoch")), epochs);
  }
}

// Between two steps there is a state to save, however long the wait.
TEST_F(LoopTest, StoppedWhileItWaitsForDataItGoesOnFromThere) {
  run();
  const double undisturbed = engine_.state;
  for (const int stuck_at : {0, 1, 2}) {
    forget();
    batches_.stuck_at = stuck_at;
    int asked = 0;
    const Outcome stopped = run(nullptr, [&] { return ++asked > 5; });
    EXPECT_EQ(stopped.ending, Ending::kStopped);
    EXPECT_EQ(stopped.updates, stuck_at);
    finish_from(stuck_at);
    EXPECT_EQ(engine_.state, undisturbed) << "stuck at " << stuck_at;
    EXPECT_EQ(events("step").size(), 12U);
  }
}

// An update left out by an overflow, a rate that dropped on a plateau, sums
// that were only half reported, and a journal that went on behind the
// checkpoint, as kill -9 leaves it.
TEST_F(LoopTest, FromEveryCheckpointItEndsAsIfNothingHadHappened) {
  config_.schedule.name = "plateau";
  config_.schedule.step = 1;
  config_.train.log_every = 2;
  const auto begin = [&](std::size_t epoch, bool overflow) {
    engine_ = {};
    batches_ = {};
    engine_.accuracies = {5, 4, 6, 6};
    engine_.epochs = epoch;
    engine_.overflows_at = 4;
    engine_.overflows = overflow ? 1 : 0; // the scale remembers it
  };
  begin(0, true);
  run();
  const double state = engine_.state;
  const auto epochs = told_of(events("epoch"));
  const auto rates = engine_.rates;
  EXPECT_LT(rates.back(), rates.front());
  for (std::size_t updates = 1; updates < 11; ++updates) {
    SCOPED_TRACE(updates);
    forget();
    begin(0, true);
    run(nullptr, [&] { return engine_.rates.size() == updates; });
    const auto snapshot =
        checkpoint::Store(folder_ / "checkpoints").load_latest();
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(snapshot->update, static_cast<std::int64_t>(updates));
    journal::Journal(folder_ / "journal.jsonl").append({"epoch", 0, {}});
    const bool before = engine_.overflows > 0;
    begin(snapshot->epoch, before);
    EXPECT_EQ(run(&*snapshot).ending, Ending::kDone);
    EXPECT_EQ(engine_.state, state);
    EXPECT_EQ(told_of(events("epoch")), epochs);
    EXPECT_TRUE(std::equal(
        engine_.rates.rbegin(), engine_.rates.rend(), rates.rbegin()));
  }
}

TEST_F(LoopTest, StoppedWhileValidatingItValidatesAgain) {
  engine_.accuracies = {5, 8, 7, 6};
  run();
  const double state = engine_.state;
  const auto epochs = told_of(events("epoch"));
  forget();
  engine_.accuracies = {0, 5, 8, 7, 6}; // the first is what was broken off
  const Outcome stopped =
      run(nullptr, [&] { return engine_.evaluations == 2; });
  EXPECT_EQ(stopped.ending, Ending::kStopped);
  EXPECT_EQ(events("epoch").size(), 0U);
  batches_ = {};
  engine_.state = 0;
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->update, 3);
  EXPECT_EQ(run(&*snapshot).best, 0.8);
  EXPECT_EQ(engine_.state, state);
  EXPECT_EQ(told_of(events("epoch")), epochs);
}

// What is left of the epoch after a resume takes no time at all: alone it would
// give a speed of millions.
TEST_F(LoopTest, TheSpeedOfAResumedEpochIsThatOfAllItsSteps) {
  config_.train.epochs = 1;
  run(nullptr, [&] { return engine_.evaluations == 2; });
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  ASSERT_TRUE(snapshot);
  auto loop = nlohmann::json::parse(snapshot->loop);
  EXPECT_GT(loop.at("spent_s").at("epoch").get<double>(), 0);
  loop["seconds"] = 70;
  loop["spent_s"] = {
      {"epoch", 60}, {"epoch_waiting", 6}, {"waiting", 7}, {"evaluating", 8}};
  checkpoint::Snapshot before = *snapshot;
  before.loop = loop.dump();
  batches_ = {};
  const Outcome outcome = run(&before);
  ASSERT_EQ(events("epoch").size(), 1U);
  const journal::Event epoch = events("epoch")[0];
  const double seconds = epoch.number("seconds").value_or(0);
  EXPECT_GE(seconds, 60);
  EXPECT_GE(epoch.number("wait_s").value_or(0), 6);
  EXPECT_EQ(
      epoch.number("samples_per_s"),
      static_cast<double>(epoch.count("samples").value_or(0)) / seconds);
  EXPECT_GE(outcome.waiting_s, 7);
  EXPECT_GE(outcome.evaluating_s, 8);
}

// Killed after its last checkpoint: there is nothing left to train.
TEST_F(LoopTest, ARunThatStoppedEarlyDoesNotGoOnByItself) {
  config_.train.epochs = 20;
  config_.train.early_stop = 2;
  engine_.accuracies = {4, 6, 5, 5, 9};
  run();
  const double state = engine_.state;
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  const Outcome again = run(&*snapshot);
  EXPECT_EQ(again.ending, Ending::kEarly);
  EXPECT_EQ(again.best_metric, "val_accuracy");
  EXPECT_EQ(engine_.state, state);
}

} // namespace
} // namespace temper::train

#include "temper/train/watch/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/journal/restart_log.h"
#include "temper/train/watch/hang.h"
#include "tests/temp_folder.h"
#include "tests/thread_count.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Verdict = Silence::Verdict;

TEST(Silence, ItWarnsAtHalfTheTimeAndEndsAtAllOfItOnceEach) {
  Silence silence(10);
  EXPECT_EQ(silence.see(1, Phase::forward, 1), Verdict::fine);
  EXPECT_EQ(silence.see(1, Phase::forward, 4), Verdict::fine);
  EXPECT_EQ(silence.see(1, Phase::forward, 1), Verdict::slow);
  EXPECT_EQ(silence.see(1, Phase::forward, 4), Verdict::fine);
  EXPECT_EQ(silence.see(1, Phase::forward, 1), Verdict::hung);
  EXPECT_EQ(silence.silent_s(), 10);
  EXPECT_EQ(silence.see(1, Phase::forward, 100), Verdict::fine);
}

TEST(Silence, ABeatBeginsItAnew) {
  Silence silence(10);
  for (std::uint64_t i = 1; i < 100; ++i)
    EXPECT_EQ(silence.see(i, Phase::backward, 4), Verdict::fine);
  EXPECT_EQ(silence.see(99, Phase::backward, 5), Verdict::slow);
  EXPECT_EQ(silence.see(100, Phase::backward, 5), Verdict::fine);
  EXPECT_EQ(silence.see(100, Phase::backward, 5), Verdict::slow);
}

// A terminal that is held (Ctrl-S, a pager) and a thread without work are fine
// for as long as they like.
TEST(Silence, RestingAndTellingAreExcused) {
  Silence silence(10);
  for (const Phase phase : {Phase::resting, Phase::telling})
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(silence.see(1, phase, 100), Verdict::fine);
  EXPECT_EQ(silence.see(1, Phase::data_wait, 9), Verdict::slow);
}

TEST(Silence, WhatOthersHadOfTheProcessorIsTakenOff) {
  Silence silence(10);
  EXPECT_EQ(silence.see(1, Phase::forward, 1), Verdict::fine);
  EXPECT_EQ(silence.see(1, Phase::forward, 4), Verdict::fine);
  // A wait is known when it is over: four of the seconds above were one.
  EXPECT_EQ(silence.see(1, Phase::forward, 1 - 4), Verdict::fine);
  EXPECT_EQ(silence.silent_s(), 1);
  EXPECT_EQ(silence.see(1, Phase::forward, 1 - 9), Verdict::fine);
  EXPECT_EQ(silence.silent_s(), 0);
}

TEST(Watchdog, ARunThatWaitsForAProcessorIsNotHung) {
  Heartbeats heartbeats;
  heartbeats.training.beat(Phase::forward);
  const auto never = [](const Hang&) { ADD_FAILURE() << "told"; };
  int looks = 0;
  std::promise<void> looked;
  const Watchdog watchdog(
      heartbeats,
      0.1,
      {never,
       never,
       [&] {
         if (++looks == 20) looked.set_value();
       },
       [] { return 1.0; }});
  looked.get_future().get();
}

TEST(Watchdog, ItNamesWhoHangsAndWhere) {
  Heartbeats heartbeats;
  heartbeats.update = 7;
  std::promise<Hang> told;
  heartbeats.saving.beat(Phase::checkpoint);
  const Watchdog watchdog(
      heartbeats, 0.1, {{}, [&](const Hang& hang) { told.set_value(hang); }});
  const Hang hang = told.get_future().get();
  EXPECT_EQ(hang.worker, Worker::saving);
  EXPECT_EQ(hang.phase, Phase::checkpoint);
  EXPECT_EQ(hang.update, 7);
  EXPECT_GE(hang.silent_s, 0.1);
}

TEST(Watchdog, ZeroSecondsWatchNothingAndAnEndDoesNotWait) {
  Heartbeats heartbeats;
  heartbeats.training.beat(Phase::forward);
  const auto never = [](const Hang&) { ADD_FAILURE() << "told"; };
  const int before = tests::thread_count();
  {
    const Watchdog off(heartbeats, 0, {never, never});
    EXPECT_LE(tests::thread_count(), before) << "nobody looks";
  }
  { const Watchdog slow(heartbeats, 1e6, {never, never}); }
  EXPECT_TRUE(tests::no_more_threads_than(before));
}

class StuckBatches final : public Batches {
 public:
  void start(std::uint32_t) override {}
  const data::HostBatch* next() override {
    return nullptr;
  }
  std::optional<std::int64_t> batches_per_epoch() const override {
    return 1;
  }
  std::optional<std::int64_t> samples() const override {
    return 1;
  }
  std::string state() const override {
    return "";
  }
  void resume(const std::string&) override {}
  data::LoaderStats stats() const override {
    return {};
  }
  std::string in_hand() const override {
    return "photos/cat/12.jpg (sample 12)";
  }
};

TEST(RunWatch, AHangLeavesItsNameTheStacksAndAnEventAndGivesUp) {
  const tests::TempFolder folder;
  const journal::RunDirectory directory{folder.path()};
  Heartbeats heartbeats;
  const StuckBatches batches;
  heartbeats.update = 41;
  heartbeats.training.beat(Phase::data_wait);
  std::promise<void> given_up;
  {
    const RunWatch watch({heartbeats, 0.1, directory, &batches, nullptr, [&] {
                            given_up.set_value();
                          }});
    given_up.get_future().get();
  }
  const auto events = journal::all_aside(directory);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, "hang");
  EXPECT_EQ(events[0].text("phase"), "waiting for data");
  EXPECT_EQ(events[0].text("in_hand"), "photos/cat/12.jpg (sample 12)");
  EXPECT_EQ(events[0].count("update"), 41);
  ASSERT_EQ(events[0].text("stacks"), "artifacts/hang-1.txt");
  EXPECT_THAT(
      tests::read_bytes(folder / "artifacts/hang-1.txt"),
      AllOf(
          HasSubstr("while waiting for data, in step 42: photos/cat/12.jpg"),
          HasSubstr("thread ")));
}

// Training neither waits for a tracker nor ends because of one.
TEST(RunWatch, ATrackerThatHangsEndsNothing) {
  const tests::TempFolder folder;
  Heartbeats heartbeats;
  heartbeats.tracking.beat(Phase::tracker);
  std::promise<void> told;
  const auto before = log::set_sink([&](log::Level, const std::string& line) {
    if (contains(line, "Training goes on")) told.set_value();
  });
  bool gave_up = false;
  Mailbox mailbox;
  {
    const RunWatch watch(
        {heartbeats,
         0.1,
         {folder.path()},
         nullptr,
         nullptr,
         [&] { gave_up = true; },
         {{}, [] { return std::string("http://mlflow:5000"); }},
         &mailbox});
    told.get_future().get();
  }
  log::set_sink(before);
  EXPECT_FALSE(gave_up);
  EXPECT_TRUE(journal::all_aside({folder.path()}).empty());
  const auto event = mailbox.take();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, "hang");
  EXPECT_EQ(event->text("phase"), "telling a tracker");
  EXPECT_EQ(event->text("in_hand"), "http://mlflow:5000");
  EXPECT_FALSE(mailbox.take());
}

// Whose trackers are in the same process gives their sign of life here.
TEST(RunWatch, TrackersThatAreAliveAreNotNamed) {
  const tests::TempFolder folder;
  Heartbeats heartbeats;
  Mailbox mailbox;
  std::promise<void> enough;
  int looks = 0;
  {
    const auto alive = [&](Heartbeat& heartbeat) {
      heartbeat.beat(Phase::tracker);
      if (++looks == 20) enough.set_value();
    };
    const RunWatch watch(
        {heartbeats,
         0.1,
         {folder.path()},
         nullptr,
         nullptr,
         {},
         {alive, {}},
         &mailbox});
    enough.get_future().get();
  }
  EXPECT_FALSE(mailbox.take());
}

} // namespace
} // namespace temper::train

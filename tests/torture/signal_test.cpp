// Signals, in whatever phase they come: the run stops with a checkpoint and
// goes on to the end it would have had.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "temper/base/text.h"
#include "tests/temp_folder.h"
#include "training.h"

namespace temper::torture {
namespace {

class Signals : public testing::Test {
 protected:
  Signals() {
    write_small_network(folder_ / "net.pt2");
  }
  SmallRun small(const std::string& name) const {
    SmallRun run;
    run.folder = folder_.path();
    run.name = name;
    // Short epochs: a signal meets validation and the end of one, too.
    run.data = "synthetic:images=96,size=8,classes=4";
    return run;
  }

  tests::TempFolder folder_;
  std::mt19937_64 random_{20'240'301};
};

// To the supervisor alone, as `kill` does it, and to both, as a terminal does.
TEST_F(Signals, ARunThatIsStoppedGoesOnToTheSameEnd) {
  SmallRun undisturbed = small("reference");
  undisturbed.flags = {"--no-supervise"};
  {
    Training training(undisturbed);
    ASSERT_EQ(training.wait(), 0) << training.output();
  }
  const std::string reference = state_of(undisturbed);
  const std::vector<int> signals = full()
      ? std::vector<int>{SIGTERM, SIGINT, SIGHUP}
      : std::vector<int>{SIGTERM, SIGINT};
  int done = 0;
  int all_stops = 0; // a run may end before the signal reaches it
  for (const int signal : signals)
    for (int i = 0; i < repeats(1) || (i < 20 && all_stops == 0); ++i) {
      const SmallRun run = small(cat("signal-", signal, "-", i));
      int stops = 0;
      {
        Training training(run);
        const auto step = static_cast<std::int64_t>(1 + random_() % 200);
        ASSERT_TRUE(training.reach(step)) << training.output();
        // Anywhere in a step, a validation or a checkpoint.
        std::this_thread::sleep_for(
            std::chrono::microseconds(random_() % 5000));
        ::kill(i % 2 == 0 ? -training.pid() : training.pid(), signal);
        const int code = training.wait();
        EXPECT_TRUE(code == kStopped || code == 0) << code << "\n"
                                                   << training.output();
        stops += code == kStopped ? 1 : 0;
      }
      all_stops += stops;
      if (stops > 0) {
        Training again(run, Training::resume_of(run), {});
        EXPECT_EQ(again.wait(), 0) << again.output();
      }
      EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
      EXPECT_EQ(state_of(run), reference);
      ++done;
    }
  EXPECT_GT(all_stops, 0);
  RecordProperty("cases", done);
}

// While its libraries load, while it measures, whenever.
TEST_F(Signals, ARunThatHasHardlyBegunLeavesNothingOrCanGoOn) {
  std::mt19937_64 random{7};
  const std::vector<int> signals = full()
      ? std::vector<int>{SIGTERM, SIGINT, SIGHUP}
      : std::vector<int>{SIGTERM, SIGINT};
  int done = 0;
  for (const int signal : signals)
    for (int i = 0; i < repeats(2); ++i) {
      SmallRun run = small(cat("early-", signal, "-", i));
      run.steps = 60;
      run.set = {"plan.seconds=1"};
      Training training(
          run, {{"TEMPER_CACHE_DIR", folder_.text("cache-" + run.name)}});
      // The supervisor must have begun to listen.
      ASSERT_TRUE(training.reach_child()) << training.output();
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 2500));
      ::kill(i % 2 == 0 ? -training.pid() : training.pid(), signal);
      const int code = training.wait();
      ++done;
      EXPECT_TRUE(code == kStopped || code == kInterrupted || code == 0)
          << code << "\n"
          << training.output();
      if (!std::filesystem::exists(run.directory().path)) {
        EXPECT_EQ(code, kInterrupted) << training.output();
        continue;
      }
      if (code != 0) {
        Training again(run, Training::resume_of(run), {});
        EXPECT_EQ(again.wait(), 0) << again.output();
      }
      EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
    }
  RecordProperty("cases", done);
}

// While it loads its libraries: it has begun nothing, and does not begin.
TEST_F(Signals, ARunThatIsBeingLoadedLeavesNothing) {
  int done = 0;
  for (int i = 0; i < repeats(2); ++i) {
    const SmallRun run = small(cat("loading-", i));
    Training training(run);
    ASSERT_TRUE(training.reach_child()) << training.output();
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * i));
    ::kill(i % 2 == 0 ? -training.pid() : training.pid(), SIGINT);
    EXPECT_EQ(training.wait(), kInterrupted) << training.output();
    EXPECT_NE(
        training.output().find("nothing is left behind"), std::string::npos)
        << training.output();
    EXPECT_FALSE(std::filesystem::exists(run.directory().path));
    ++done;
  }
  RecordProperty("cases", done);
}

// Whoever presses Ctrl-C twice does not want to wait.
TEST_F(Signals, ASecondCtrlCEndsItAtOnceAndACheckpointStays) {
  const SmallRun undisturbed = small("reference");
  {
    Training training(undisturbed);
    ASSERT_EQ(training.wait(), 0) << training.output();
  }
  int done = 0;
  for (int i = 0; i < repeats(2); ++i) {
    const SmallRun run = small(cat("twice-", i));
    Training training(run);
    ASSERT_TRUE(training.reach_event("checkpoint")) << training.output();
    ::kill(-training.pid(), SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 20));
    ::kill(-training.pid(), SIGINT);
    const int code = training.wait();
    // The first may have been enough.
    EXPECT_TRUE(code == kInterrupted || code == kStopped) << code << "\n"
                                                          << training.output();
    Training again(run, Training::resume_of(run), {});
    EXPECT_EQ(again.wait(), 0) << again.output();
    EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
    EXPECT_EQ(state_of(run), state_of(undisturbed));
    ++done;
  }
  RecordProperty("cases", done);
}

// While the supervisor waits before it starts the next trainer.
TEST_F(Signals, BetweenTwoTrainersItStopsAsWell) {
  int done = 0;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    if (signal == SIGHUP && !full()) continue;
    SmallRun run = small(cat("between-", signal));
    run.steps = 600; // it is not to end by itself meanwhile
    run.set = {"checkpoint.every_steps=0", "checkpoint.every_seconds=0"};
    run.data = "synthetic:images=3200,size=8,classes=4";
    Training training(run);
    ASSERT_TRUE(training.reach(5)) << training.output();
    ::kill(training.pid(), SIGUSR1);
    ASSERT_TRUE(training.reach_event("checkpoint")) << training.output();
    // The second time there is no newer checkpoint, and a pause.
    const auto first = training.trainer();
    ASSERT_TRUE(first);
    training.replace(*first);
    const auto second = training.trainer();
    ASSERT_TRUE(second);
    ::kill(*second, SIGKILL);
    ASSERT_TRUE(training.reach_word("started again in")) << training.output();
    ::kill(training.pid(), signal);
    EXPECT_EQ(training.wait(), kStopped) << training.output();
    EXPECT_NE(training.output().find("--resume goes on"), std::string::npos);
    Training again(run, Training::resume_of(run), {});
    EXPECT_EQ(again.wait(), 0) << again.output();
    EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
    ++done;
  }
  RecordProperty("cases", done);
}

TEST_F(Signals, ASignalForACheckpointMakesOneAndStopsNothing) {
  SmallRun run = small("save-now");
  run.set = {"checkpoint.every_steps=0", "checkpoint.every_seconds=0"};
  run.data = "synthetic:images=3200,size=8,classes=4";
  Training training(run);
  ASSERT_TRUE(training.reach(5)) << training.output();
  ::kill(training.pid(), SIGUSR1);
  ASSERT_TRUE(training.reach_event("checkpoint")) << training.output();
  for (const auto& event : journal_of(run))
    if (event.kind == "checkpoint") {
      EXPECT_GE(event.count("update").value_or(0), 5);
      break;
    }
  EXPECT_EQ(training.wait(), 0) << training.output();
  EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
}

} // namespace
} // namespace temper::torture

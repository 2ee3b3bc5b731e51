// kill -9, again and again: no run is lost, and its end is that of a run which
// nobody touched.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "temper/base/text.h"
#include "tests/temp_folder.h"
#include "training.h"

namespace temper::torture {
namespace {

class Kill : public testing::Test {
 protected:
  Kill() {
    write_small_network(folder_ / "net.pt2");
  }
  SmallRun small(const std::string& name) const {
    SmallRun run;
    run.folder = folder_.path();
    run.name = name;
    return run;
  }
  // Undisturbed.
  std::string reference(const std::string& network = "net.pt2") const {
    SmallRun run = small("reference");
    run.network = network;
    run.flags = {"--no-supervise"};
    Training training(run);
    EXPECT_EQ(training.wait(), 0) << training.output();
    EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
    return state_of(run);
  }

  tests::TempFolder folder_;
  std::mt19937_64 random_{20'240'229};
};

TEST_F(Kill, ATrainerThatIsKilledAgainAndAgainEndsAsIfItNeverWas) {
  constexpr int kKillsOfARun = 15;
  const int wanted = cases(15, 1000);
  const std::string undisturbed = reference();
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(
        random_() % static_cast<std::uint64_t>(most + 1));
  };
  int kills = 0;
  int lost = 0;
  for (int round = 0; kills < wanted; ++round) {
    const SmallRun run = small(cat("killed-", round));
    Training training(run);
    // Further and further on, so that the run gets to its end; now and then
    // also while it starts again.
    std::int64_t target = 0;
    int here = 0;
    int late = 0; // it may have ended before, as all steps were done
    const auto strike = [&](pid_t trainer) {
      // The next one must have taken the run over before it is killed.
      training.replace(trainer);
      ++here;
      ++kills;
      late += training.last_step() >= run.steps ? 1 : 0;
    };
    const std::int64_t stride = run.steps / kKillsOfARun;
    while (target + stride < run.steps && kills < wanted) {
      target += 1 + up_to(stride - 1);
      if (!training.reach(target)) break;
      const auto trainer = training.trainer();
      if (!trainer) break;
      // It may have got further than that meanwhile.
      target = std::max(target, training.last_step());
      strike(*trainer);
      if (up_to(4) > 0 || kills >= wanted) continue;
      const auto next = training.trainer();
      if (!next) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(up_to(300)));
      strike(*next);
    }
    const int code = training.wait();
    EXPECT_EQ(code, 0) << training.output();
    const auto events = journal_of(run);
    EXPECT_EQ(faults_of_journal(events, run.steps), "");
    const auto deaths = count_kind(events, "death");
    EXPECT_LE(deaths, here) << training.output();
    EXPECT_GE(deaths, here - late) << training.output();
    EXPECT_EQ(state_of(run), undisturbed);
    if (code != 0 || state_of(run) != undisturbed) ++lost;
  }
  EXPECT_EQ(lost, 0);
  RecordProperty("cases", kills);
  RecordProperty("failures", lost);
}

TEST_F(Kill, ANetworkWithTiedWeightsGoesOnAsIfItNeverWasKilled) {
  write_tied_network(folder_ / "tied.pt2");
  const std::string undisturbed = reference("tied.pt2");
  int lost = 0;
  int kills = 0;
  const int wanted = cases(1, 50);
  for (int round = 0; round < wanted; ++round) {
    SmallRun run = small(cat("tied-", round));
    run.network = "tied.pt2";
    Training training(run);
    for (const std::int64_t step : {run.steps / 8, run.steps / 4}) {
      ASSERT_TRUE(training.reach(step)) << training.output();
      const auto trainer = training.trainer();
      if (!trainer) break; // it was done before we looked
      training.replace(*trainer);
      ++kills;
    }
    EXPECT_EQ(training.wait(), 0) << training.output();
    EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
    EXPECT_EQ(state_of(run), undisturbed);
    if (state_of(run) != undisturbed) ++lost;
  }
  EXPECT_GT(kills, 0);
  RecordProperty("cases", kills);
  RecordProperty("failures", lost);
}

TEST_F(Kill, ATrainerWhoseSupervisorIsKilledFinishesAlone) {
  SmallRun run = small("orphan");
  run.steps = 600; // enough for a second one to meet the first
  Training training(run);
  ASSERT_TRUE(training.reach(10)) << training.output();
  const auto trainer = training.trainer();
  ASSERT_TRUE(trainer);
  ASSERT_NE(*trainer, training.pid());
  ::kill(training.pid(), SIGKILL);
  EXPECT_EQ(training.wait(), -SIGKILL);
  // A second trainer is refused while the first is at it.
  ::kill(*trainer, SIGSTOP);
  {
    Training second(run, Training::resume_of(run), {});
    EXPECT_EQ(second.wait(), 1);
    EXPECT_NE(
        second.output().find("is being trained already, by process"),
        std::string::npos)
        << second.output();
  }
  ::kill(*trainer, SIGCONT);
  while (count_kind(journal_of(run), "end") == 0 && ::kill(*trainer, 0) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
  EXPECT_EQ(count_kind(journal_of(run), "end"), 1);
}

} // namespace
} // namespace temper::torture

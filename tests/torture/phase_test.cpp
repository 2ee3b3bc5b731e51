// Signals in each phase of a run. Before its first step nothing is left behind;
// later there is a checkpoint, and the run goes on to the end it would have
// had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "images.h"
#include "temper/base/text.h"
#include "tests/temp_folder.h"
#include "training.h"

namespace temper::torture {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// Where a trainer is held up, so that the signal meets it there.
struct Phase {
  const char* name; // of the test
  const char* call; // of hang_shim.cpp
  const char* path;
  int each_ms; // 0: it never comes back
  bool has_begun; // there is a run to go on with
};

const Phase kPhases[] = {
    {"opening", "open", "net.pt2", 0, false},
    {"planning", "open", "/plans/", 0, false},
    {"features", "open", "/train/", 60, false},
    {"waiting_for_data", "open", "image17.png", 0, true},
    {"validating", "open", "/val/", 60, true},
    {"validating_stuck", "open", "/val/", 0, true},
    {"checkpoint", "fsync", "/checkpoints/", 100, true},
    {"checkpoint_stuck", "fsync", "/.step-", 0, true},
};

void PrintTo(const Phase& phase, std::ostream* out) {
  *out << phase.name;
}

class SignalPhase : public testing::TestWithParam<Phase> {
 protected:
  SignalPhase() {
    write_small_network(folder_ / "net.pt2");
    write_images(folder_ / "train", 40, 8, 8);
    write_images(folder_ / "val", 16, 8, 8);
  }

  SmallRun small(const std::string& name) const {
    SmallRun run;
    run.folder = folder_.path();
    run.name = name;
    run.data = "folder:" + folder_.text("train");
    run.steps = 20;
    run.set = {
        "data.val=folder:" + folder_.text("val"),
        "data.image_size=8",
        "checkpoint.every_steps=4"};
    const std::string phase = GetParam().name;
    if (phase == "planning") {
      run.steps = 1'000'000'000; // or it does not pay
      run.set.emplace_back("train.epochs=1000000");
      run.set.emplace_back("plan.seconds=20"); // also where all is slow
    }
    if (phase == "validating") run.steps = 100; // or it ends before the signal
    if (phase.starts_with("checkpoint")) { // it takes seconds, the run longer
      run.steps = 2000;
      run.set.back() = "checkpoint.every_steps=100";
    }
    if (phase == "features") {
      run.set.emplace_back("model.freeze=[\"conv.*\", \"bn.*\"]");
      run.set.emplace_back("data.augment=none");
    }
    return run;
  }
  // What is computed once is computed by each of them.
  Environment environment(const std::string& name) const {
    return {{"TEMPER_CACHE_DIR", folder_.text("cache-" + name)}};
  }
  Environment held_up(const std::string& name) const {
    const Phase& phase = GetParam();
    Environment made = environment(name);
    made["LD_PRELOAD"] = TEMPER_HANG_SHIM;
    made["HANG_CALL"] = phase.call;
    made["HANG_PATH"] = phase.path;
    made["HANG_ONCE"] = marker(name).string();
    if (phase.each_ms > 0) made["HANG_MS"] = cat(phase.each_ms);
    // The files of the data are read before, too: to know whether they are the
    // same at the next resume.
    if (phase.has_begun)
      made["HANG_AFTER"] = small(name).directory().journal().string();
    if (std::string(phase.name) == "checkpoint_stuck")
      made["HANG_AFTER"] =
          (small(name).directory().checkpoints() / "latest").string();
    return made;
  }
  fs::path marker(const std::string& name) const {
    return folder_ / ("reached-" + name);
  }
  static bool has_checkpoint(const SmallRun& run) {
    return fs::exists(run.directory().checkpoints() / "latest");
  }
  // False when the run begins without.
  bool keeps_a_plan(Training& training, const SmallRun& run) const {
    while (!fs::exists(marker(run.name)) && !training.ended()) {
      if (fs::exists(run.directory().journal())) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  // Files that only whoever makes them knows.
  bool has_temporary(const fs::path& place) const {
    if (!fs::exists(place)) return false;
    for (const auto& each : fs::recursive_directory_iterator(place))
      if (contains(each.path().filename().string(), ".tmp.")) return true;
    return false;
  }
  void expect_same_end(const SmallRun& run, const std::string& reference) {
    Training again(run, Training::resume_of(run), environment(run.name));
    EXPECT_EQ(again.wait(), 0) << again.output();
    EXPECT_EQ(faults_of_journal(journal_of(run), run.steps), "");
    EXPECT_EQ(state_of(run), reference);
  }

  tests::TempFolder folder_;
};

TEST_P(SignalPhase, ItStopsInOrder) {
  const Phase& phase = GetParam();
  std::string reference;
  if (phase.has_begun) {
    const SmallRun run = small("reference");
    Training training(run, environment(run.name));
    ASSERT_EQ(training.wait(), 0) << training.output();
    reference = state_of(run);
  }
  const std::vector<int> signals = full()
      ? std::vector<int>{SIGTERM, SIGINT, SIGHUP}
      : std::vector<int>{SIGTERM, SIGINT};
  int done = 0;
  for (const int signal : signals)
    for (int i = 0; i < repeats(1); ++i) {
      const SmallRun run = small(cat("signal-", signal, "-", i));
      Training training(run, held_up(run.name));
      // Settings that were measured beside others' work are not kept.
      if (std::string(phase.name) == "planning" && !keeps_a_plan(training, run))
        GTEST_SKIP() << "the machine is too busy for a plan to be kept";
      ASSERT_TRUE(training.reach_file(marker(run.name))) << training.output();
      // The samples are read before, too, to know whether they are the same.
      while (std::string(phase.name) == "features" && !training.ended() &&
             !has_temporary(folder_ / ("cache-" + run.name)))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      std::this_thread::sleep_for(std::chrono::milliseconds(10 * i));
      // To both, as a terminal does, or to the one a user knows of.
      ::kill(i % 2 == 0 ? -training.pid() : training.pid(), signal);
      const int code = training.wait();
      ++done;
      if (phase.has_begun) {
        EXPECT_EQ(code, kStopped) << training.output();
        ASSERT_TRUE(has_checkpoint(run)) << training.output();
        // What a stuck disk has half of, the next start clears away.
        EXPECT_TRUE(
            std::string(phase.name) == "checkpoint_stuck" ||
            !has_temporary(run.directory().path));
        expect_same_end(run, reference);
      } else {
        EXPECT_EQ(code, kInterrupted) << training.output();
        EXPECT_THAT(training.output(), HasSubstr("nothing is left behind"));
        EXPECT_FALSE(fs::exists(run.directory().path));
        EXPECT_FALSE(has_temporary(folder_ / ("cache-" + run.name)));
      }
    }
  RecordProperty("cases", done);
}

INSTANTIATE_TEST_SUITE_P(
    Torture,
    SignalPhase,
    testing::ValuesIn(kPhases),
    [](const auto& phase) { return std::string(phase.param.name); });

} // namespace
} // namespace temper::torture

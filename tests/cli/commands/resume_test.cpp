// `temper train` killed, stopped and told to save, then resumed: the state at
// the end is that of a run left alone, bit for bit. Where it happens is up to
// chance; resume_matrix_test.cpp goes through the places one by one.
// TEMPER_TORTURE=n repeats everything n times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <thread>

#include "temper/base/file/file.h"
#include "temper/base/process/spawn.h"
#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "tests/checkpoint/digest.h"
#include "tests/cli/run_temper.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

int times() {
  const char* text = std::getenv("TEMPER_TORTURE");
  return text == nullptr ? 1 : std::max(std::atoi(text), 1);
}

class Resume : public testing::Test {
 protected:
  // BatchNorm, dropout, momentum, augmentation, averaged weights.
  std::vector<std::string> training(
      const std::string& name,
      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> line{
        "train", "--data", "synthetic:images=96,size=8"};
    std::vector<std::string> keys{
        "run.dir=" + folder_.text("runs"),
        "run.name=" + name,
        "deterministic=true",
        "threads=1",
        "plan.seconds=0",
        "model.name=mobilenet_v2",
        "model.stem=cifar",
        "model.width=0.25",
        "model.dropout=0.2",
        "data.augment=cifar",
        "optimizer.name=sgd",
        "optimizer.momentum=0.9",
        "train.ema=0.9",
        "train.batch=8",
        "train.epochs=3",
        "train.log_every=1",
        "loader.workers=1"};
    keys.insert(keys.end(), more.begin(), more.end());
    for (const std::string& key : keys) {
      line.emplace_back("--set");
      line.push_back(key);
    }
    return line;
  }
  std::vector<std::string> going_on(
      const std::string& name,
      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> line{
        "train", "--resume", name, "--set", "run.dir=" + folder_.text("runs")};
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }

  std::filesystem::path run_folder(const std::string& name) const {
    return folder_ / ("runs/" + name);
  }
  std::string digest(const std::string& name) const {
    return tests::digest_of(run_folder(name) / "checkpoints");
  }
  std::vector<journal::Event> events(
      const std::string& name,
      const std::string& kind) const {
    std::vector<journal::Event> found;
    for (auto& event :
         journal::read_journal(run_folder(name) / "journal.jsonl"))
      if (event.kind == kind) found.push_back(event);
    return found;
  }
  // The metrics of all epochs.
  std::string epochs(const std::string& name) const {
    std::string all;
    for (const auto& event : events(name, "epoch"))
      for (const auto& [field, value] : event.fields)
        if (field.starts_with("train_") || field.starts_with("val_"))
          all += cat(field, " ", journal::to_line({"", 1, {{field, value}}}));
    return all;
  }

  // Starts it, and sends `signals` once the journal has so many such events.
  // Returns what waitpid said.
  int disturb(
      const std::vector<std::string>& arguments,
      const std::string& name,
      const std::string& kind,
      std::size_t count,
      const std::vector<int>& signals) {
    std::vector<std::string> line = tests::before_program();
    line.emplace_back(TEMPER_PROGRAM);
    line.insert(line.end(), arguments.begin(), arguments.end());
    std::string error;
    const auto child = start_child(line, error, {{"TEMPER_SUPERVISE", "0"}});
    EXPECT_TRUE(child) << error;
    while (!has_ended(child->pid) && events(name, kind).size() < count)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (const int signal : signals)
      ::kill(child->pid, signal);
    while (!has_ended(child->pid))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return put_away(child->pid).value_or(-1);
  }
  void expect_undisturbed(const std::string& name) {
    EXPECT_EQ(digest(name), digest("whole"));
    EXPECT_EQ(epochs(name), epochs("whole"));
    EXPECT_EQ(events(name, "step").size(), events("whole", "step").size());
    EXPECT_EQ(events(name, "end").size(), 1U);
  }
  void SetUp() override {
    if (std::filesystem::exists(run_folder("whole"))) return;
    const auto whole = tests::run_temper({}, training("whole"));
    ASSERT_EQ(whole.code, 0) << whole.err;
    ASSERT_EQ(digest("whole").size(), 64U);
  }

  static tests::TempFolder& the_folder() { // of all tests
    static tests::TempFolder made;
    return made;
  }
  const tests::TempFolder& folder_ = the_folder();
};

TEST_F(Resume, StoppedByASignalItGoesOnToTheSameState) {
  int number = 0;
  for (int round = 0; round < times(); ++round)
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
      const std::string name = cat("stopped", number);
      // Also between epochs and while validating, by chance.
      const std::size_t steps = 1 + (number++ * 11) % 30;
      const int status = disturb(training(name), name, "step", steps, {signal});
      ASSERT_TRUE(WIFEXITED(status)) << status;
      ASSERT_THAT(WEXITSTATUS(status), AnyOf(75, 0));
      if (WEXITSTATUS(status) == 75) {
        // With other workers, which must not matter.
        const auto rest = tests::run_temper(
            {}, going_on(name, {"--set", "loader.workers=3"}));
        ASSERT_EQ(rest.code, 0) << rest.err;
      }
      expect_undisturbed(name);
    }
  RecordProperty("cases", number);
}

TEST_F(Resume, KilledItGoesOnFromItsLastCheckpoint) {
  for (int round = 0; round < times(); ++round) {
    const std::string name = cat("killed", round);
    const auto cadence = training(name, {"checkpoint.every_steps=3"});
    disturb(
        cadence,
        name,
        "checkpoint",
        1 + static_cast<std::size_t>(round % 9),
        {SIGKILL});
    const int again = disturb(going_on(name), name, "step", 20, {SIGKILL});
    EXPECT_TRUE(WIFSIGNALED(again) || WEXITSTATUS(again) == 0);
    const auto rest = tests::run_temper({}, going_on(name));
    ASSERT_EQ(rest.code, 0) << rest.err;
    expect_undisturbed(name);
  }
  RecordProperty("cases", times());
}

TEST_F(Resume, KilledBeforeItsFirstCheckpointItBeginsAgain) {
  disturb(training("early"), "early", "step", 1, {SIGKILL});
  const auto rest = tests::run_temper({}, going_on("early"));
  ASSERT_EQ(rest.code, 0) << rest.err;
  expect_undisturbed("early");
  EXPECT_EQ(events("early", "run").size(), 1U);
}

// Every reduction is ours: stopped and gone on with another number of threads,
// the run ends where one of two threads does, and nobody is warned.
TEST_F(Resume, BitsThatDoNotDependOnThreadsStayWithOthers) {
  const std::vector<std::string> two{"kernels=fused", "threads=2"};
  const auto whole = tests::run_temper({}, training("two", two));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::string plan =
      read_small_file(run_folder("two") / "plan.json").value_or("");
  EXPECT_THAT(plan, HasSubstr("do not depend on threads"));
  EXPECT_THAT(plan, HasSubstr("52 of 52 BatchNorm"));
  disturb(training("fewer", two), "fewer", "step", 5, {SIGTERM});
  const auto rest =
      tests::run_temper({}, going_on("fewer", {"--set", "threads=1"}));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.err, Not(HasSubstr("may differ in the last bits")));
  EXPECT_EQ(digest("fewer"), digest("two"));
  EXPECT_EQ(epochs("fewer"), epochs("two"));
}

// LibTorch's sums depend on threads, and whose kernels compute is settled when
// a run begins.
TEST_F(Resume, KernelsStayAndOtherThreadsOfLibTorchsAreToldOf) {
  const std::vector<std::string> stock{"kernels=stock", "threads=2"};
  disturb(training("stock", stock), "stock", "step", 5, {SIGTERM});
  const auto refused =
      tests::run_temper({}, going_on("stock", {"--set", "kernels=fused"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("kernels (was \"stock\""));
  const auto rest =
      tests::run_temper({}, going_on("stock", {"--set", "threads=1"}));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("may differ in the last bits"));
  const std::string plan =
      read_small_file(run_folder("stock") / "plan.json").value_or("");
  EXPECT_THAT(plan, HasSubstr("depend on threads: every layer"));
}

TEST_F(Resume, ASecondCtrlCLeavesAtOnceAndNothingIsLost) {
  const int status = disturb(
      training("twice", {"checkpoint.every_steps=2"}),
      "twice",
      "checkpoint",
      2,
      {SIGINT, SIGINT});
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_THAT(WEXITSTATUS(status), AnyOf(130, 75));
  EXPECT_NE(digest("twice"), "");
  ASSERT_EQ(tests::run_temper({}, going_on("twice")).code, 0);
  expect_undisturbed("twice");
}

TEST_F(Resume, AskedToSaveItSavesAndGoesOn) {
  const int status = disturb(training("asked"), "asked", "step", 4, {SIGUSR1});
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::vector<std::int64_t> updates;
  for (const auto& event : events("asked", "checkpoint"))
    updates.push_back(event.count("update").value_or(-1));
  bool midway = false;
  for (const std::int64_t update : updates)
    midway = midway || update % 11 != 0;
  EXPECT_TRUE(midway) << "an epoch has 11 updates";
  expect_undisturbed("asked");
}

TEST_F(Resume, WhatWouldAlterTheResultIsRefusedByName) {
  disturb(training("kept"), "kept", "step", 5, {SIGTERM});
  const std::string before = digest("kept");
  const auto refused =
      tests::run_temper({}, going_on("kept", {"--lr", "0.5", "--batch", "4"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(
      refused.err, AllOf(HasSubstr("optimizer.lr"), HasSubstr("train.batch")));
  EXPECT_EQ(digest("kept"), before) << "nothing was done";
  // What does not is taken, and kept for the next time.
  const auto taken = tests::run_temper(
      {"env", "TEMPER_DEVICE=cpu"},
      going_on("kept", {"--set", "run.tags=[\"late\"]"}));
  ASSERT_EQ(taken.code, 0) << taken.err;
  EXPECT_THAT(
      tests::read_bytes(run_folder("kept") / "config.toml"),
      AllOf(HasSubstr("late"), HasSubstr("device = \"cpu\"")));
  expect_undisturbed("kept");
}

} // namespace
} // namespace temper

#include "temper/cli/commands/supervise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run_temper.h"
#include "tests/temp_folder.h"

namespace temper::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Supervise, ATrainerThatIsStartedAgainIsToldTheSame) {
  Invocation invocation;
  invocation.quiet = true;
  EXPECT_THAT(
      resume_arguments(
          invocation,
          {{"train.epochs", "40", "--epochs"}, {"data.path", "a=b"}},
          "runs/x"),
      testing::ElementsAre(
          "train",
          "--resume",
          "runs/x",
          "--set",
          "train.epochs=40",
          "--set",
          "data.path=a=b",
          "--quiet"));
}

class SuperviseTrain : public testing::Test {
 protected:
  // `shell`: runs it, as "$@".
  ProcessResult train(
      const std::vector<std::string>& more,
      const std::string& shell = "exec \"$@\"") const {
    std::vector<std::string> all{
        "train",
        "--data",
        "synthetic:rows=64,features=4,classes=2",
        "--epochs",
        "1",
        "--set",
        "plan.seconds=0",
        "--set",
        "model.widths=[4]",
        "--set",
        "run.dir=" + folder_.text("runs"),
        "--set",
        "run.name=x"};
    all.insert(all.end(), more.begin(), more.end());
    return tests::run_temper(
        {"env", "TEMPER_SUPERVISE=1", "sh", "-c", shell, "sh"}, all);
  }
  tests::TempFolder folder_;
};

TEST_F(SuperviseTrain, WhatTheTrainerSaysAndHowItEndsIsTheCommands) {
  const auto good = train({});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("1/1"));
  EXPECT_EQ(good.err, "");
  const auto twice = train({}); // the name is taken
  EXPECT_EQ(twice.code, 1);
  EXPECT_THAT(twice.err, HasSubstr("there is a run x in"));
  EXPECT_THAT(twice.err, Not(HasSubstr("started again")));
  EXPECT_EQ(train({"--set", "train.epochs=none"}).code, 2);
}

// What runs is worth more than what is said of it.
TEST_F(SuperviseTrain, OutputThatCannotBeWrittenEndsNothing) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full.";
  const auto full = train({}, "exec \"$@\" >/dev/full");
  EXPECT_EQ(full.code, 0) << full.err;
  EXPECT_THAT(full.err, HasSubstr("cannot write the output: "));
  EXPECT_THAT(full.err, HasSubstr("The run goes on"));
  std::filesystem::remove_all(folder_ / "runs");
  // Nobody reads from the beginning.
  const auto gone = train({}, "\"$@\" | true");
  EXPECT_THAT(gone.err, HasSubstr("cannot write the output: "));
  EXPECT_THAT(gone.err, Not(HasSubstr("died")));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "runs/x/checkpoints/latest"));
}

} // namespace
} // namespace temper::cli

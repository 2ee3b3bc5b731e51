// `temper train` and `temper runs` as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "tests/cli/run_temper.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class TrainCommand : public testing::Test {
 protected:
  ProcessResult train(std::vector<std::string> arguments) const {
    std::vector<std::string> all{
        "train", "--set", "run.dir=" + folder_.text("runs")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return tests::run_temper({}, all);
  }
  ProcessResult runs(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "runs");
    arguments.push_back("--dir");
    arguments.push_back(folder_.text("runs"));
    return tests::run_temper({}, arguments);
  }
  static std::vector<std::string> tiny(std::vector<std::string> more) {
    std::vector<std::string> all{
        "--data",
        "synthetic:rows=200,features=8,classes=3",
        "--epochs",
        "3",
        "--set",
        "model.widths=[16]",
        "--lr",
        "0.02"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  tests::TempFolder folder_;
};

TEST_F(TrainCommand, ARunLearnsAndIsListedShownAndCompared) {
  const auto first = train(tiny({"--set", "run.name=first"}));
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(
      first.out,
      AllOf(
          HasSubstr("mlp"),
          HasSubstr("3/3"),
          HasSubstr("best      val_accuracy"),
          HasSubstr("first")));
  const auto second =
      train(tiny({"--set", "run.name=second", "--batch", "32"}));
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(
      runs({"list"}).out,
      AllOf(HasSubstr("first"), HasSubstr("second"), HasSubstr("done")));
  EXPECT_THAT(
      runs({"show", "latest"}).out,
      AllOf(HasSubstr("val_accuracy"), HasSubstr("mlp on synthetic")));
  const auto compared = runs({"compare", "first", "second"}).out;
  EXPECT_THAT(compared, HasSubstr("train.batch"));
  EXPECT_THAT(compared, Not(HasSubstr("train.epochs")));
}

TEST_F(TrainCommand, TheEndHasClassesAndWhatToTryNext) {
  const auto result = train(tiny({"--set", "run.name=x"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(
          AnyOf(
              HasSubstr("most often taken for"),
              HasSubstr("classified correctly")),
          HasSubstr("what to try next"),
          HasSubstr(cat("temper export ", folder_.text("runs/x"), " --to")),
          Not(HasSubstr("\033"))));
  // What it says can be done.
  const auto exported = tests::run_temper(
      {}, {"export", folder_.text("runs/x"), "--to", folder_.text("net.pt2")});
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr("step-"));
  const auto again = train(
      {"--from",
       folder_.text("runs/x"),
       "--epochs",
       "6",
       "--set",
       "run.name=x-2"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("temper runs compare x x-2 --dir"));
}

TEST_F(TrainCommand, OnlyRunsOnTheSameDataAreToBeCompared) {
  ASSERT_EQ(train(tiny({"--set", "run.name=a"})).code, 0);
  const auto other = train(
      {"--data",
       "synthetic:rows=64,features=4,classes=2",
       "--epochs",
       "1",
       "--set",
       "plan.seconds=0",
       "--set",
       "run.name=b"});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.out, Not(HasSubstr("runs compare")));
  EXPECT_THAT(
      train(tiny({"--set", "run.name=c"})).out,
      HasSubstr("temper runs compare a c --dir"));
}

TEST_F(TrainCommand, MemoryIsForecastForWhatKeptFeaturesLeaveToDo) {
  const std::string data = "synthetic:images=64,size=16,classes=4";
  // Weights of the frozen part take far more than what trains behind it, and
  // are there only where a test waits for them.
  for (const std::string& test : {std::string(), data}) {
    const std::string name = test.empty() ? "x" : "tested";
    const auto run = train(
        {"--data",
         data,
         "--model",
         "resnet18",
         "--epochs",
         "2",
         "--set",
         "model.stem=cifar",
         "--set",
         "model.width=0.25",
         "--set",
         "data.test=" + test,
         "--set",
         "plan.seconds=0",
         "--set",
         "model.freeze=backbone",
         "--set",
         "run.name=" + name});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("features of 70 samples"));
    int checks = 0;
    for (const auto& event :
         journal::read_journal(folder_ / "runs" / name / "journal.jsonl")) {
      if (event.kind == "forecast_check") {
        ++checks;
        EXPECT_LT(std::abs(event.number("error").value_or(9)), 0.5) << test;
        const auto measured = event.count("measured_bytes").value_or(0);
        // 700,000 parameters are frozen.
        if (test.empty())
          EXPECT_LT(measured, 1'000'000);
        else
          EXPECT_GT(measured, 2'000'000);
      }
    }
    EXPECT_EQ(checks, 1);
  }
}

TEST_F(TrainCommand, QuietLeavesTheSummary) {
  const auto result = train(tiny({"--quiet", "--set", "run.name=x"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(
          HasSubstr("  done"),
          HasSubstr("  run "),
          Not(HasSubstr("epoch  ")),
          Not(HasSubstr("parameters")),
          Not(HasSubstr("taken for")),
          Not(HasSubstr("next"))));
  EXPECT_EQ(result.err, "");
}

TEST_F(TrainCommand, TheSameConfigGivesTheSameWeightsBitForBit) {
  for (const char* name : {"a", "b"})
    ASSERT_EQ(
        train(tiny(
                  {"--set",
                   cat("run.name=", name),
                   "--set",
                   name[0] == 'a' ? "loader.workers=1" : "loader.workers=3"}))
            .code,
        0);
  const auto weights = [&](const std::string& name) {
    const auto checkpoints = folder_ / ("runs/" + name + "/checkpoints");
    const std::string latest = tests::read_bytes(checkpoints / "latest");
    return tests::read_bytes(checkpoints / trim(latest) / "state.safetensors");
  };
  EXPECT_GT(weights("a").size(), 100U);
  EXPECT_EQ(weights("a"), weights("b"));
}

// Shuffling, augmentation, dropout, mixing and averaging all draw from the
// seed.
TEST_F(TrainCommand, WeightsDependOnTheSeedAndNotOnTheWorkers) {
  const auto weights = [&](const std::string& seed,
                           const std::string& workers) {
    const std::string name = cat("seed", seed, "workers", workers);
    std::vector<std::string> arguments{
        "--data", "synthetic:images=24,size=16", "--epochs", "2"};
    for (const std::string& each :
         {cat("run.name=", name),
          cat("seed=", seed),
          cat("loader.workers=", workers),
          std::string("threads=1"),
          std::string("model.name=mobilenet_v2"),
          std::string("model.stem=cifar"),
          std::string("model.width=0.25"),
          std::string("data.augment=strong"),
          std::string("train.batch=8"),
          std::string("train.mixup=0.2"),
          std::string("train.ema=0.9")}) {
      arguments.push_back("--set");
      arguments.push_back(each);
    }
    const auto run = train(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    const auto checkpoints = folder_ / ("runs/" + name + "/checkpoints");
    const std::string latest = tests::read_bytes(checkpoints / "latest");
    return tests::read_bytes(checkpoints / trim(latest) / "state.safetensors");
  };
  const std::string one = weights("0", "1");
  EXPECT_GT(one.size(), 100'000U);
  EXPECT_TRUE(one == weights("0", "2"));
  EXPECT_TRUE(one == weights("0", "4"));
  EXPECT_FALSE(one == weights("1", "1"));
}

TEST_F(TrainCommand, MixingWhatIsNoImageSaysWhatItIs) {
  const auto run = train(
      {"--data",
       "synthetic:rows=24,features=6,classes=3",
       "--set",
       "train.mixup=0.2"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(
      run.err,
      HasSubstr("synthetic:rows=24,features=6,classes=3 has numbers, not "
                "images."));
}

TEST_F(TrainCommand, ARunThatIsDoneIsSaidToBeInOneLine) {
  ASSERT_EQ(train(tiny({"--set", "run.name=x"})).code, 0);
  const std::string before =
      tests::read_bytes(folder_ / "runs/x/journal.jsonl");
  const auto again = train({"--resume", "x"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, StartsWith("x is already done: 3 epochs, "));
  EXPECT_EQ(std::count(again.out.begin(), again.out.end(), '\n'), 1);
  EXPECT_EQ(tests::read_bytes(folder_ / "runs/x/journal.jsonl"), before);
}

TEST_F(TrainCommand, AResumedRunKeepsItsConfigAndSaysSo) {
  ASSERT_EQ(train(tiny({"--set", "run.name=x"})).code, 0);
  // Killed before it could say that it was done.
  const auto journal = folder_ / "runs/x/journal.jsonl";
  const std::string lines = tests::read_bytes(journal);
  folder_.write(
      "runs/x/journal.jsonl",
      lines.substr(0, lines.rfind('\n', lines.size() - 2) + 1));
  const auto again = train({"--resume", "x"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(
      again.out,
      AllOf(HasSubstr("3 epochs"), HasSubstr("resumed   at update")));
  const auto other = train({"--resume", "x", "--epochs", "9"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("another learning rate"));
  EXPECT_EQ(train({"--resume", "x", "--dry-run"}).code, 2);
}

TEST_F(TrainCommand, ADryRunHasATableOfParameters) {
  const auto result = train(
      {"--data",
       "synthetic:images=40,size=16",
       "--dry-run",
       "--set",
       "model.name=resnet18",
       "--set",
       "model.width=0.25"});
  EXPECT_THAT(result.out, HasSubstr("layer4"));
  EXPECT_THAT(result.out, HasSubstr("16 bytes a trained parameter"));
}

TEST_F(TrainCommand, ADryRunPrintsThePlanAndWritesNothing) {
  const auto dry = train(tiny({"--dry-run"}));
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(
      dry.out,
      AllOf(
          HasSubstr("[data]\nsource = "),
          HasSubstr("parameters"),
          Not(HasSubstr("momentum")))); // a default is no news
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
}

TEST_F(TrainCommand, AWrongConfigIsToldWithFileLineAndTheNearest) {
  const auto file = folder_.write("net.toml", "[train]\nbach = 3\n");
  const auto result = train({file.string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(
      result.err,
      AllOf(
          HasSubstr("train.bach (net.toml line 2)"),
          HasSubstr("Did you mean train.batch?")));
  EXPECT_EQ(train({"--set", "train.batch=none"}).code, 2);
  EXPECT_EQ(train({"--set", "nonsense"}).code, 2);
}

TEST_F(TrainCommand, ATrainedModelGoesOutAndTheKeysAreExplained) {
  ASSERT_EQ(
      train({"--data",
             "synthetic:images=40,size=8",
             "--model",
             "cnn",
             "--epochs",
             "1",
             "--set",
             "run.name=x"})
          .code,
      0);
  const auto exported = tests::run_temper(
      {},
      {"export",
       "cnn",
       "--classes",
       "10",
       "--image-size",
       "8",
       "--channels",
       "3",
       "--weights",
       folder_.text("runs/x"),
       "--to",
       folder_.text("x.safetensors")});
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_THAT(
      tests::run_temper({}, {"help", "config"}).out,
      AllOf(HasSubstr("train.batch"), HasSubstr("[64]")));
}

TEST_F(TrainCommand, WhatDoesNotFitIsToldInASentence) {
  const auto says = [&](std::vector<std::string> arguments) {
    const auto result = train(std::move(arguments));
    EXPECT_EQ(result.code, 1) << result.out;
    return result.err;
  };
  EXPECT_THAT(
      says({"--model", "resnet81", "--data", "synthetic:images=20"}),
      HasSubstr("resnet18"));
  EXPECT_THAT(
      says({"--model", "none.pt2", "--data", "synthetic:images=20"}),
      HasSubstr("none.pt2"));
  EXPECT_THAT(
      says({"--resume", "latest"}), HasSubstr("there is no run latest"));
}

} // namespace
} // namespace temper

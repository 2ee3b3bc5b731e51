// Going on with more epochs: as the same run where that is the same run, as a
// new one from its weights where it is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "temper/base/text.h"
#include "temper/config/load.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"
#include "temper/weights/weights_file.h"
#include "tests/cli/run_temper.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class TrainFrom : public testing::Test {
 protected:
  ProcessResult temper(std::vector<std::string> arguments) const {
    return tests::run_temper(
        {"env", cat("--chdir=", folder_.text())}, std::move(arguments));
  }
  void start(const std::string& schedule) const {
    const auto run = temper(
        {"train",
         "--data",
         "synthetic:rows=64,features=4,classes=3",
         "--model",
         "mlp",
         "--epochs",
         "2",
         "--device",
         "cpu",
         "--set",
         "run.name=a",
         "--set",
         "plan.seconds=0",
         "--set",
         "track.mlflow=off",
         "--set",
         "threads=1",
         "--set",
         cat("schedule.name=", schedule)});
    ASSERT_EQ(run.code, 0) << run.err;
  }
  config::Config config_of(const std::string& run) const {
    return config::load(folder_ / "runs" / run / "config.toml", {}).config;
  }

  tests::TempFolder folder_;
};

TEST_F(TrainFrom, MoreEpochsOfACosineAreRefusedWithTheRightCommand) {
  start("cosine");
  const auto refused = temper({"train", "--resume", "a", "--epochs", "4"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(
      refused.err,
      AllOf(
          HasSubstr("schedule.name = cosine spreads the rates"),
          HasSubstr("temper train --from runs/a --epochs 4\n")));
  const auto again = temper(
      {"train", "--from", "runs/a", "--epochs", "4", "--set", "run.name=b"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(config_of("b").train.epochs, 4);
  EXPECT_EQ(config_of("b").data.source, config_of("a").data.source);
  EXPECT_THAT(config_of("b").model.weights, HasSubstr("runs/a/checkpoints/"));
}

TEST_F(TrainFrom, MoreEpochsOfAConstantRateAreTheSameRun) {
  start("constant");
  const auto longer = temper({"train", "--resume", "a", "--epochs", "4"});
  EXPECT_EQ(longer.code, 0) << longer.err;
  EXPECT_EQ(config_of("a").train.epochs, 4);
}

// A run whose rate is 0 ends with the weights it began with.
TEST_F(TrainFrom, ItBeginsWithTheBestWeightsOfTheRun) {
  start("constant");
  const auto run = temper(
      {"train",
       "--from",
       "latest",
       "--lr",
       "0",
       "--epochs",
       "1",
       "--set",
       "run.name=b",
       "--set",
       "optimizer.weight_decay=0"});
  ASSERT_EQ(run.code, 0) << run.err;
  std::string best = tests::read_bytes(folder_ / "runs/a/checkpoints/best");
  while (!best.empty() && best.back() == '\n')
    best.pop_back();
  const auto was =
      weights::read_weights(folder_ / "runs/a/checkpoints" / best).weights;
  const auto is = weights::read_weights(folder_ / "runs/b").weights;
  ASSERT_EQ(was.size(), is.size());
  for (const auto& [name, tensor] : was)
    EXPECT_EQ(
        std::memcmp(
            is.at(name).bytes.get(), tensor.bytes.get(), tensor.byte_count),
        0)
        << name;
}

TEST_F(TrainFrom, ALastLayerThatWasNewComesAlongTrained) {
  model::ZooOptions five;
  five.name = "mlp";
  five.image_size = 1;
  five.channels = 4;
  five.classes = 5;
  graph::write_pt2(model::build(five), folder_ / "five.pt2");
  ASSERT_EQ(
      temper({"train",
              "--data",
              "synthetic:rows=64,features=4,classes=3",
              "--model",
              "five.pt2",
              "--set",
              "model.head=new",
              "--epochs",
              "1",
              "--set",
              "run.name=a",
              "--set",
              "plan.seconds=0",
              "--set",
              "track.mlflow=off",
              "--set",
              "threads=1"})
          .code,
      0);
  const auto run = temper(
      {"train",
       "--from",
       "a",
       "--lr",
       "0",
       "--set",
       "run.name=b",
       "--set",
       "optimizer.weight_decay=0"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(config_of("b").model.head, "fit");
  const auto was = weights::read_weights(folder_ / "runs/a").weights;
  for (const auto& [name, tensor] :
       weights::read_weights(folder_ / "runs/b").weights)
    EXPECT_EQ(
        std::memcmp(
            was.at(name).bytes.get(), tensor.bytes.get(), tensor.byte_count),
        0)
        << name;
}

// Its weights are in its own checkpoints by then.
TEST_F(TrainFrom, ItGoesOnWhenTheRunItCameFromIsGone) {
  start("constant");
  ASSERT_EQ(
      temper({"train", "--from", "a", "--epochs", "1", "--set", "run.name=b"})
          .code,
      0);
  fs::remove_all(folder_ / "runs/a");
  const auto longer = temper({"train", "--resume", "b", "--epochs", "2"});
  EXPECT_EQ(longer.code, 0) << longer.err;
}

TEST_F(TrainFrom, WrongCallsGetASentence) {
  const auto none = temper({"train", "--from", "nobody"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no run nobody"));
  folder_.write("net.toml", "");
  EXPECT_EQ(temper({"train", "net.toml", "--from", "a"}).code, 2);
  EXPECT_EQ(temper({"train", "--resume", "a", "--from", "a"}).code, 2);
}

} // namespace
} // namespace temper

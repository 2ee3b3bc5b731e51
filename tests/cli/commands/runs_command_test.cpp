// `temper runs` and the tracking of `temper train`, as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "temper/journal/run_lock.h"
#include "tests/cli/run_temper.h"
#include "tests/temp_folder.h"
#include "tests/track/mlflow/sqlite_rows.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RunsCommand : public testing::Test {
 protected:
  ProcessResult temper(std::vector<std::string> arguments) const {
    return tests::run_temper({"env", "-u", "MLFLOW_TRACKING_URI"}, arguments);
  }
  ProcessResult train(
      const std::string& name,
      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{
        "train",
        "--data",
        "synthetic:images=40,size=8",
        "--model",
        "cnn",
        "--epochs",
        "2",
        "--set",
        "plan.seconds=0",
        "--set",
        "run.dir=" + folder_.text("runs"),
        "--set",
        "run.name=" + name};
    all.insert(all.end(), more.begin(), more.end());
    return temper(all);
  }
  ProcessResult runs(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "runs");
    arguments.push_back("--dir");
    arguments.push_back(folder_.text("runs"));
    return temper(arguments);
  }
  // A journal without an end, and nobody who trains it.
  void write_killed(const std::string& name) const {
    fs::create_directories(folder_ / "runs" / name / "checkpoints");
    folder_.write("runs/" + name + "/config.toml", "seed = 1\n");
    journal::Journal journal(folder_ / "runs" / name / "journal.jsonl");
    journal.append(
        {"run", 0, {{"name", name}, {"config", std::string("seed = 1\n")}}});
    journal.append({"step", 0, {{"step", std::int64_t{1}}, {"loss", 0.5}}});
  }

  tests::TempFolder folder_;
};

TEST_F(RunsCommand, ARunIsInMlflowsDatabaseWithItsModel) {
  if (!track::has_sqlite3()) GTEST_SKIP() << "there is no sqlite3 program";
  const auto trained = train("a", {"--set", "track.tensorboard=on"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("tracked   sqlite:///"));
  const fs::path store = folder_ / "mlflow.db";
  EXPECT_EQ(track::row(store, "SELECT status, name FROM runs"), "FINISHED|a");
  EXPECT_EQ(
      track::row(store, "SELECT count(*) FROM metrics WHERE key='val_loss'"),
      "2");
  const fs::path artifacts = track::row(store, "SELECT artifact_uri FROM runs");
  for (const char* name :
       {"config.toml",
        "plan.json",
        "machine.json",
        "confusion_matrix.png",
        "curves.png",
        "curves.svg",
        "sample_predictions.png",
        "checkpoints.json",
        "trace.json",
        "model/MLmodel",
        "model/data/model.pth",
        "model/model.pt2"})
    EXPECT_TRUE(fs::exists(artifacts / name)) << name;
  EXPECT_THAT(
      tests::read_bytes(artifacts / "model/MLmodel"),
      HasSubstr(R"("shape":[-1,3,8,8])"));
  EXPECT_THAT(
      tests::read_bytes(artifacts / "trace.json"),
      AllOf(
          HasSubstr("\"preparing\""),
          HasSubstr("\"epoch 2\""),
          HasSubstr("\"validation\""),
          HasSubstr("\"checkpoint step-"),
          HasSubstr("\"samples/s\"")));
  EXPECT_TRUE(fs::exists(folder_ / "runs/a/tensorboard"));
  EXPECT_THAT(runs({"show", "a"}).out, HasSubstr("tracked  sqlite:///"));
}

TEST_F(RunsCommand, WhatCanBeReadOfADamagedJournalIsShown) {
  write_killed("k");
  folder_.write(
      "runs/k/plan.json",
      R"({"model":"cnn","source":"synthetic","device":"cpu"})");
  const fs::path file = folder_ / "runs/k/journal.jsonl";
  const std::string whole = tests::read_bytes(file);
  tests::write_bytes(
      file,
      cat("rubbish\n",
          whole.substr(whole.find('\n') + 1),
          "{\"half\n",
          journal::to_line({"epoch", 1, {{"val_loss", 0.25}}}),
          "\n"));
  const auto shown = runs({"show", "k"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(
      shown.out,
      AllOf(HasSubstr("cnn on synthetic, cpu"), HasSubstr("0.2500")));
  EXPECT_THAT(
      shown.err,
      HasSubstr("the journal of k is damaged: 2 lines of it cannot be read and "
                "are left out"));
  fs::remove(file);
  fs::create_directories(folder_ / "runs/k/checkpoints/step-3");
  EXPECT_THAT(runs({"show", "k"}).err, HasSubstr("k has lost its journal"));
}

TEST_F(RunsCommand, TrackingCanBeOff) {
  ASSERT_EQ(train("a", {"--set", "track.mlflow=off"}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "mlflow.db"));
  EXPECT_FALSE(fs::exists(folder_ / "runs/a/artifacts/model"));
  EXPECT_EQ(runs({"export", "a"}).code, 2);
}

TEST_F(RunsCommand, AnExportAddsWhatIsNewAndNothingElse) {
  write_killed("k");
  const std::string store = "file:" + folder_.text("mlruns");
  const auto first = runs({"export", "k", "--to", store});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("1 point"));
  EXPECT_THAT(
      runs({"export", "k", "--to", store}).out,
      HasSubstr("0 points, 1 were there already"));
  // Its process is gone, and so it was killed.
  bool killed = false;
  for (const auto& file : fs::recursive_directory_iterator(folder_ / "mlruns"))
    if (file.path().filename() == "meta.yaml")
      killed =
          killed || contains(tests::read_bytes(file.path()), "\nstatus: 5\n");
  EXPECT_TRUE(killed);
  // Nobody was left to write its trace.
  EXPECT_THAT(
      tests::read_bytes(folder_ / "runs/k/artifacts/trace.json"),
      HasSubstr("session 1"));
  bool delivered = false;
  for (const auto& file : fs::recursive_directory_iterator(folder_ / "mlruns"))
    delivered = delivered || file.path().filename() == "trace.json";
  EXPECT_TRUE(delivered);
  const auto csv = runs({"export", "k", "--to", folder_.text("k.csv")});
  EXPECT_EQ(csv.code, 0) << csv.err;
  EXPECT_THAT(
      tests::read_bytes(folder_ / "k.csv"),
      AllOf(
          HasSubstr("run,metric,step,time_ms,value\n"),
          HasSubstr("k,loss,1,"),
          HasSubstr(",0.5\n")));
  EXPECT_EQ(
      runs({"export", "k", "--to", "tensorboard:" + folder_.text("logs")}).code,
      0);
  EXPECT_TRUE(fs::exists(folder_ / "logs/k"));
}

TEST_F(RunsCommand, ARunIsTheChildOfTheOneThatWasNamed) {
  if (!track::has_sqlite3()) GTEST_SKIP() << "there is no sqlite3 program";
  const auto lost = train("b", {"--set", "track.parent=nobody"});
  EXPECT_EQ(lost.code, 2);
  EXPECT_THAT(lost.err, HasSubstr("track.parent says so"));
  EXPECT_FALSE(fs::exists(folder_ / "runs/b"));
  ASSERT_EQ(train("a").code, 0);
  const auto child = train("b", {"--set", "track.parent=latest"});
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_EQ(
      track::row(
          folder_ / "mlflow.db",
          "SELECT c.name, p.name FROM tags t "
          "JOIN runs c ON c.run_uuid=t.run_uuid "
          "JOIN runs p ON p.run_uuid=t.value "
          "WHERE t.key='mlflow.parentRunId'"),
      "b|a");
  EXPECT_THAT(
      tests::read_bytes(folder_ / "runs/b/config.toml"),
      HasSubstr("parent = \"a\""));
}

// An update's own gradients, which no checkpoint holds.
TEST_F(RunsCommand, HistogramsHaveTheGradientsOfPlainSgdToo) {
  const auto trained = train(
      "a",
      {"--set",
       "optimizer.name=sgd",
       "--set",
       "optimizer.momentum=0",
       "--set",
       "track.mlflow=off",
       "--set",
       "track.histograms=true"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(
      tests::read_bytes(folder_ / "runs/a/journal.jsonl"),
      AllOf(HasSubstr("\"event\":\"gradients\""), HasSubstr("\"counts\":[")));
}

TEST_F(RunsCommand, PlacesThatCannotBeAreToldBeforeTheRun) {
  const auto secret =
      train("a", {"--set", "track.mlflow=http://ada:opensesame@host"});
  EXPECT_EQ(secret.code, 2);
  EXPECT_THAT(secret.err, HasSubstr("MLFLOW_TRACKING_PASSWORD"));
  EXPECT_THAT(secret.err + secret.out, Not(HasSubstr("opensesame")));
  EXPECT_EQ(train("a", {"--set", "track.mlflow=postgresql://h/db"}).code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "runs"));
}

TEST_F(RunsCommand, GcShowsFirstAndRemovesWhenTold) {
  write_killed("k");
  const auto shown = runs({"gc", "--keep", "0"});
  EXPECT_THAT(
      shown.out,
      AllOf(
          HasSubstr("killed before its first checkpoint"), HasSubstr("--yes")));
  EXPECT_TRUE(fs::exists(folder_ / "runs/k"));
  EXPECT_THAT(runs({"gc"}).out, HasSubstr("nothing to remove")); // the youngest
  EXPECT_EQ(runs({"gc", "--keep", "0", "--yes"}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "runs/k"));
}

TEST_F(RunsCommand, ARunUnderWaySaysWhereItIs) {
  write_killed("k");
  const journal::RunLock trained({folder_ / "runs/k"});
  EXPECT_THAT(
      runs({"list"}).out,
      AllOf(HasSubstr("running"), HasSubstr("update 1, loss 0.5000")));
  EXPECT_THAT(
      runs({"show", "k"}).out,
      AllOf(
          HasSubstr("running, update 1, loss 0.5000; "),
          HasSubstr("no epoch has ended yet"),
          Not(HasSubstr("unfinished"))));
  EXPECT_THAT(runs({"gc", "--keep", "0"}).out, HasSubstr("nothing to remove"));
}

TEST_F(RunsCommand, ConfigValuesInJsonHaveTheirTypes) {
  write_killed("k");
  const auto all = nlohmann::json::parse(runs({"list", "--json"}).out);
  EXPECT_EQ(all.at(0).at("config").at("seed"), nlohmann::json(1));
}

TEST_F(RunsCommand, ListsAreTablesJsonAndCsv) {
  write_killed("k");
  EXPECT_THAT(
      runs({"list"}).out,
      AllOf(
          HasSubstr("unfinished"), HasSubstr("  -\n"), Not(HasSubstr(" 0\n"))))
      << "no speed before one was measured";
  EXPECT_THAT(runs({"list", "--json"}).out, HasSubstr("\"run\": \"k\""));
  EXPECT_THAT(
      runs({"list", "--csv"}).out,
      AllOf(HasSubstr("run,status,model"), HasSubstr("\nk,unfinished,")));
  EXPECT_EQ(runs({"sort"}).code, 2);
}

} // namespace
} // namespace temper

#include "temper/track/mlflow/mlflow_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "temper/base/log.h"
#include "temper/track/follow/journal_delivery.h"
#include "temper/track/mlflow/mlflow_lines.h"
#include "temper/track/mlflow/yaml.h"
#include "tests/python.h"
#include "tests/temp_folder.h"
#include "tests/track/journal_samples.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MlflowFileTest : public testing::Test {
 protected:
  journal::RunDirectory written(
      const std::string& name,
      const std::vector<journal::Event>& more = {}) {
    const auto run = made_run(folder_.path() / "runs", name);
    journal::Journal journal(run.journal());
    journal.append(run_event());
    journal.append(step_event(1, 0.5));
    journal.append(step_event(2, std::nan("")));
    journal.append(system_event(1'700'000'100, 12.5));
    for (const auto& event : more)
      journal.append(event);
    return run;
  }
  void deliver(const journal::RunDirectory& run, FollowOptions options = {}) {
    MlflowFile tracker(store_);
    JournalDelivery follow(run, tracker, "x", options);
    while (follow.pump()) {
    }
  }
  // Folders with a meta.yaml inside one with a meta.yaml: runs.
  std::vector<fs::path> runs() const {
    std::vector<fs::path> found;
    for (const auto& experiment : fs::directory_iterator(store_))
      if (fs::exists(experiment.path() / "meta.yaml"))
        for (const auto& run : fs::directory_iterator(experiment.path()))
          if (fs::exists(run.path() / "meta.yaml")) found.push_back(run.path());
    return found;
  }
  static std::string text(const fs::path& file) {
    return tests::read_bytes(file);
  }
  // What MLflow's reader demands of everything below metrics/.
  static std::vector<std::string> bad_metrics(const fs::path& run) {
    static const std::regex line(
        R"(^\d+ (nan|-?inf|-?[0-9.]+(e[+-][0-9]+)?) -?\d+$)");
    std::vector<std::string> bad;
    for (const auto& file : fs::recursive_directory_iterator(run / "metrics")) {
      if (!file.is_regular_file()) continue;
      const std::string all = text(file.path());
      if (all.empty() || all.back() != '\n') bad.push_back(file.path());
      for (const std::string& each : split(all.substr(0, all.size() - 1), '\n'))
        if (!std::regex_match(each, line)) bad.push_back(each);
    }
    return bad;
  }

  tests::TempFolder folder_;
  fs::path store_ = folder_.path() / "mlruns";
};

TEST_F(MlflowFileTest, ARunIsLaidOutAsMlflowReadsIt) {
  deliver(written("first", {end_event("done")}));
  ASSERT_EQ(runs().size(), 1U);
  const fs::path run = runs()[0];
  const std::string id = run.filename();
  const std::string experiment = run.parent_path().filename();
  EXPECT_TRUE(std::regex_match(experiment, std::regex("[1-9][0-9]{17}")));
  EXPECT_TRUE(std::regex_match(id, std::regex("[0-9a-f]{32}")));
  EXPECT_EQ(
      text(run / "meta.yaml"),
      cat("artifact_uri: 'mlruns/",
          experiment,
          "/",
          id,
          "/artifacts'\nend_time: 1700001000000\nentry_point_name: ''\n"
          "experiment_id: '",
          experiment,
          "'\nlifecycle_stage: active\nrun_id: '",
          id,
          "'\nrun_name: 'first'\nsource_name: ''\nsource_type: 4\n"
          "source_version: ''\nstart_time: 1700000000500\nstatus: 3\n"
          "tags: []\nuser_id: 'ada'\n"));
  for (const char* name : {"metrics", "params", "artifacts"})
    EXPECT_TRUE(fs::is_directory(run / name)) << name;
  EXPECT_TRUE(fs::is_directory(store_ / ".trash"));
  EXPECT_THAT(text(store_ / "0/meta.yaml"), HasSubstr("name: 'Default'"));
  EXPECT_THAT(
      text(run.parent_path() / "meta.yaml"),
      HasSubstr(cat("experiment_id: '", experiment, "'")));
  EXPECT_EQ(
      text(run / "metrics/loss"), "1700000002000 0.5 1\n1700000003000 nan 2\n");
  EXPECT_EQ(
      text(run / "metrics/system/cpu_utilization_percentage"),
      "1700000100000 12.5 0\n");
  EXPECT_EQ(text(run / "params/optimizer.name"), "adamw");
  EXPECT_EQ(text(run / "tags/mlflow.runName"), "first");
  EXPECT_EQ(text(run / "artifacts/config.toml"), "seed = 7\n");
  EXPECT_THAT(bad_metrics(run), IsEmpty());
}

TEST_F(MlflowFileTest, DatasetsAreNamedAsMlflowNamesThem) {
  deliver(written("first"));
  const fs::path run = runs()[0];
  int inputs = 0;
  for (const auto& input : fs::directory_iterator(run / "inputs")) {
    ++inputs;
    const std::string yaml = text(input.path() / "meta.yaml");
    std::smatch match;
    ASSERT_TRUE(std::regex_search(
        yaml, match, std::regex("source_id: '([0-9a-f]{32})'")));
    EXPECT_TRUE(fs::exists(
        run.parent_path() / "datasets" / match[1].str() / "meta.yaml"));
    EXPECT_THAT(yaml, HasSubstr("mlflow.data.context: '"));
  }
  EXPECT_EQ(inputs, 2);
}

TEST_F(MlflowFileTest, NoStrayFileIsLeftWhereReadersLook) {
  deliver(written("first", {end_event("failed")}));
  for (const auto& file : fs::recursive_directory_iterator(store_)) {
    const std::string path = file.path().lexically_relative(store_);
    if (path.starts_with(".trash")) continue;
    EXPECT_THAT(path, testing::Not(HasSubstr(".part")));
  }
}

TEST_F(MlflowFileTest, WhatComesTwiceIsThereOnce) {
  const auto run = written("first");
  deliver(run);
  const std::string before = text(runs()[0] / "metrics/loss");
  auto early = FollowState::from_json(text(run.path / "track-x.json"));
  early.offset = 0;
  early.marks = {};
  tests::write_bytes(run.path / "track-x.json", early.to_json());
  journal::Journal(run.journal()).append(step_event(3, 0.25));
  deliver(run);
  EXPECT_EQ(
      text(runs()[0] / "metrics/loss"), before + "1700000004000 0.25 3\n");
  EXPECT_EQ(runs().size(), 1U);
}

TEST_F(MlflowFileTest, AFolderInThePlaceOfAnArtifactStopsNothing) {
  std::string said;
  const auto sink =
      log::set_sink([&](log::Level, const std::string& text) { said += text; });
  const auto run = written("a");
  fs::remove(run.config());
  fs::create_directories(run.config());
  deliver(run);
  fs::create_directories(runs().at(0) / "artifacts/curve.png");
  tests::write_bytes(run.artifacts() / "curve.png", "png");
  journal::Journal(run.journal())
      .append(
          {"artifact",
           1'700'000'200,
           {{"path", std::string("artifacts/curve.png")},
            {"name", std::string("curve.png")}}});
  journal::Journal(run.journal()).append(step_event(3, 0.25));
  deliver(run);
  log::set_sink(sink);
  EXPECT_THAT(text(runs().at(0) / "metrics/loss"), HasSubstr("0.25 3\n"));
  EXPECT_THAT(said, HasSubstr("config.toml is not delivered"));
  EXPECT_THAT(said, HasSubstr("curve.png is not delivered"));
}

TEST_F(MlflowFileTest, RunsShareTheirExperiment) {
  deliver(written("first"));
  deliver(written("second"));
  ASSERT_EQ(runs().size(), 2U);
  EXPECT_EQ(runs()[0].parent_path(), runs()[1].parent_path());
  FollowOptions odd;
  odd.experiment = "it's: #1";
  deliver(written("third"), odd);
  deliver(written("fourth"), odd);
  EXPECT_EQ(runs().size(), 4U);
  int experiments = 0;
  for (const auto& entry : fs::directory_iterator(store_))
    experiments += fs::exists(entry.path() / "meta.yaml") ? 1 : 0;
  EXPECT_EQ(experiments, 3); // and Default
}

TEST_F(MlflowFileTest, AnExistingRunIsGoneOnWith) {
  deliver(written("first"));
  FollowOptions options;
  options.adopt = runs()[0].filename();
  deliver(written("second", {step_event(3, 0.25)}), options);
  EXPECT_EQ(runs().size(), 1U);
  options.adopt = "nobody";
  EXPECT_THROW(deliver(written("third"), options), Error);
}

// PyYAML is what MLflow reads with.
TEST_F(MlflowFileTest, PyYamlReadsWhatWasMeant) {
  const auto python = tests::python_that_runs("import yaml");
  if (!python) GTEST_SKIP() << "there is no Python with PyYAML";
  const std::vector<std::string> odd{
      "plain",
      "123",
      "no",
      "it's",
      "a: b # c",
      "",
      "- x",
      "two\nlines",
      "tab\t\"q\" \\",
      "\xC3\xA4",
      "{}",
      "null",
      "1.5",
      "'",
      "0x1F"};
  std::string yaml;
  std::string program =
      "import yaml,sys\nr=yaml.safe_load(sys.stdin)\n"
      "print('\\n'.join(repr(x) for x in r))";
  for (const std::string& each : odd)
    yaml += cat("- ", yaml_text(each), "\n");
  const auto result = tests::run_python({*python, "-c", program}, yaml);
  ASSERT_TRUE(result.succeeded()) << result.err;
  EXPECT_EQ(
      result.out,
      "'plain'\n'123'\n'no'\n\"it's\"\n'a: b # c'\n''\n'- x'\n'two\\nlines'\n"
      "'tab\\t\"q\" \\\\'\n'\xC3\xA4'\n'{}'\n'null'\n'1.5'\n\"'\"\n'0x1F'\n");
  deliver(written("first"));
  for (const auto& file : fs::recursive_directory_iterator(store_)) {
    if (file.path().filename() != "meta.yaml") continue;
    const auto read = tests::run_python(
        {*python,
         "-c",
         "import yaml,sys; d=yaml.safe_load(sys.stdin); "
         "assert all(isinstance(v,str) for k,v in d.items() "
         "if k.endswith('_id'))"},
        text(file.path()));
    EXPECT_TRUE(read.succeeded()) << file.path();
  }
}

TEST(PythonNumber, IsTheShortestThatReadsBack) {
  EXPECT_EQ(python_number(0.5), "0.5");
  EXPECT_EQ(python_number(1), "1.0");
  EXPECT_EQ(python_number(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(python_number(1e-7), "1e-07");
  EXPECT_EQ(python_number(1e22), "1e+22");
  EXPECT_EQ(python_number(std::nan("")), "nan");
  EXPECT_EQ(python_number(-HUGE_VAL), "-inf");
}

TEST_F(MlflowFileTest, AModelIsALoggedModelOfMlflow3) {
  const auto run = written("first");
  journal::Journal journal(run.journal());
  journal.append(epoch_event(4, 0.75));
  journal.append(epoch_event(6, 0.875, false));
  journal.append(kept_model(run));
  deliver(run);
  ASSERT_EQ(runs().size(), 1U);
  const fs::path kept = runs()[0];
  std::vector<fs::path> models;
  for (const auto& each : fs::directory_iterator(kept.parent_path() / "models"))
    models.push_back(each.path());
  ASSERT_EQ(models.size(), 1U);
  const std::string id = models[0].filename().string();
  EXPECT_THAT(
      text(models[0] / "meta.yaml"),
      testing::AllOf(
          HasSubstr(cat("model_id: '", id, "'")),
          HasSubstr("status: 2\n"),
          HasSubstr(cat("source_run_id: '", kept.filename().string(), "'")),
          HasSubstr(cat(kept.filename().string(), "/artifacts/model'"))));
  EXPECT_EQ(text(models[0] / "params" / "seed"), "7");
  EXPECT_EQ(text(models[0] / "tags" / "mlflow.user"), "ada");
  EXPECT_EQ(
      text(models[0] / "metrics" / "val_loss"),
      cat("1700000005500 0.75 4 ", kept.filename().string(), "\n"));
  EXPECT_THAT(
      text(kept / "outputs" / id / "meta.yaml"),
      HasSubstr(cat("destination_id: '", id, "'")));
}

} // namespace
} // namespace temper::track

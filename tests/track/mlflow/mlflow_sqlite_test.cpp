#include "temper/track/mlflow/mlflow_sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "temper/track/follow/journal_delivery.h"
#include "temper/track/mlflow/mlflow_schema.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "tests/track/journal_samples.h"
#include "tests/track/mlflow/sqlite_rows.h"

namespace temper::track {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MlflowSqliteTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_sqlite3()) GTEST_SKIP() << "there is no sqlite3 program";
  }

  void deliver(const journal::RunDirectory& run, FollowOptions options = {}) {
    MlflowSqlite tracker(file_, with_models_);
    JournalDelivery follow(run, tracker, "x", options);
    while (follow.pump()) {
    }
  }
  // A run with two steps, an epoch, and what `more` writes.
  journal::RunDirectory written(
      const std::string& name,
      const std::vector<journal::Event>& more = {}) {
    const auto run = made_run(folder_.path() / "runs", name);
    journal::Journal journal(run.journal());
    journal.append(run_event());
    journal.append(step_event(1, 0.5));
    journal.append(step_event(2, 0.25));
    journal.append(epoch_event(2, 0.75));
    for (const auto& event : more)
      journal.append(event);
    return run;
  }
  std::string ask(const std::string& sql) {
    return row(file_, sql);
  }

  tests::TempFolder folder_;
  std::filesystem::path file_ = folder_.path() / "mlflow.db";
  bool with_models_ = false; // a new database is one of MLflow 3
};

TEST_F(MlflowSqliteTest, ARunIsWhatMlflowReads) {
  deliver(written("first", {end_event("done")}));
  EXPECT_EQ(ask("SELECT version_num FROM alembic_version"), "0584bdc529eb");
  EXPECT_THAT(
      rows(file_, "SELECT experiment_id, name FROM experiments ORDER BY 1"),
      ElementsAre("0|Default", "1|temper"));
  EXPECT_EQ(
      ask("SELECT name, source_type, source_name, user_id, status, start_time, "
          "end_time, source_version, lifecycle_stage, experiment_id FROM runs"),
      "first|LOCAL|temper train|ada|FINISHED|1700000000500|1700001000000|"
      "0123abcd|active|1");
  EXPECT_THAT(
      rows(file_, "SELECT key, value FROM params ORDER BY key"),
      ElementsAre("optimizer.name|adamw", "seed|7", "train.batch|64"));
  EXPECT_THAT(
      rows(
          file_,
          "SELECT key, step, timestamp, value, is_nan FROM metrics "
          "WHERE key IN ('loss', 'val_loss') ORDER BY key, step"),
      ElementsAre(
          "loss|1|1700000002000|0.5|0",
          "loss|2|1700000003000|0.25|0",
          "val_loss|2|1700000003500|0.75|0"));
  EXPECT_EQ(
      ask("SELECT value FROM tags WHERE key='mlflow.source.git.branch'"),
      "main");
  EXPECT_EQ(ask("SELECT count(DISTINCT run_uuid) FROM tags"), "1");
  EXPECT_EQ(ask("SELECT length(run_uuid) FROM runs"), "32");
  EXPECT_EQ(ask("PRAGMA foreign_key_check; SELECT 'ok'"), "ok");
  EXPECT_EQ(ask("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(ask("PRAGMA journal_mode"), "delete");
}

// The rows that search_logged_models asks for, and the run's list of outputs.
TEST_F(MlflowSqliteTest, AModelIsALoggedModelOfMlflow3) {
  with_models_ = true;
  const auto run = written("first", {epoch_event(4, 0.875, false)});
  journal::Journal(run.journal()).append(kept_model(run));
  for (int twice = 0; twice < 2; ++twice) {
    deliver(run);
    std::filesystem::remove_all(run.path / "track");
  }
  EXPECT_EQ(
      ask("SELECT length(m.model_id), substr(m.model_id, 1, 2), m.name, "
          "m.status, m.lifecycle_stage, m.creation_timestamp_ms, "
          "m.source_run_id = r.run_uuid, m.experiment_id = r.experiment_id "
          "FROM logged_models m, runs r"),
      "34|m-|model|2|active|1700000600000|1|1");
  EXPECT_TRUE(std::filesystem::exists(
      std::filesystem::path(
          ask("SELECT artifact_location FROM logged_models")) /
      "MLmodel"));
  EXPECT_EQ(
      ask("SELECT count(*) FROM logged_model_params p JOIN logged_models m "
          "USING (model_id) WHERE p.param_key='seed' AND p.param_value='7'"),
      "1");
  EXPECT_EQ(
      ask("SELECT metric_name, metric_step, metric_value "
          "FROM logged_model_metrics WHERE metric_name='val_loss'"),
      "val_loss|2|0.75");
  EXPECT_EQ(
      ask("SELECT count(*) FROM inputs i JOIN runs r ON i.source_id=r.run_uuid "
          "JOIN logged_models m ON i.destination_id=m.model_id "
          "WHERE i.source_type='RUN_OUTPUT' "
          "AND i.destination_type='MODEL_OUTPUT'"),
      "1");
  EXPECT_EQ(ask("PRAGMA foreign_key_check; SELECT 'ok'"), "ok");
}

TEST_F(MlflowSqliteTest, ADatabaseForAllVersionsTakesTheRunWithoutTheTable) {
  const auto run = written("first");
  journal::Journal(run.journal()).append(kept_model(run));
  deliver(run);
  EXPECT_EQ(ask("SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(
      ask("SELECT count(*) FROM sqlite_master WHERE name='logged_models'"),
      "0");
}

// MLflow 3 adds the tables when it first opens the database; whoever delivers
// next finds models without a row there, also those of other runs.
TEST_F(MlflowSqliteTest, ModelsOfBeforeMlflow3OpenedItAreAddedAfterwards) {
  const auto first = written("first", {epoch_event(4, 0.875, false)});
  journal::Journal(first.journal()).append(kept_model(first));
  deliver(first);
  deliver(written("without a model"));
  rows(file_, mlflow_logged_model_tables());
  deliver(written("second"));
  const std::string model =
      "SELECT r.name, m.name, m.status, m.artifact_location = r.artifact_uri "
      "|| '/model', k.metric_value FROM logged_models m "
      "JOIN runs r ON r.run_uuid=m.source_run_id "
      "JOIN logged_model_metrics k USING (model_id) "
      "WHERE k.metric_name='val_loss'";
  EXPECT_THAT(rows(file_, model), ElementsAre("first|model|2|1|0.75"));
  rows(file_, "UPDATE logged_models SET lifecycle_stage='deleted'");
  deliver(first);
  EXPECT_THAT(
      rows(file_, "SELECT lifecycle_stage FROM logged_models"),
      ElementsAre("deleted"));
  EXPECT_EQ(ask("PRAGMA foreign_key_check; SELECT 'ok'"), "ok");
}

TEST_F(MlflowSqliteTest, ALoggedModelMovesWithItsRun) {
  with_models_ = true;
  auto run = written("first");
  journal::Journal(run.journal()).append(kept_model(run));
  deliver(run);
  const auto moved = folder_.path() / "elsewhere";
  std::filesystem::rename(run.path, moved);
  deliver({moved});
  EXPECT_EQ(
      ask("SELECT artifact_location FROM logged_models"),
      (moved / "artifacts" / "model").string());
}

// The join that MLflow's page of a run makes for its datasets.
TEST_F(MlflowSqliteTest, DatasetsAreInputsOfTheRun) {
  deliver(written("first"));
  EXPECT_THAT(
      rows(
          file_,
          "SELECT t.value, d.name, d.dataset_source_type, "
          "json_extract(d.dataset_profile, '$.num_rows'), length(d.digest) "
          "FROM datasets d JOIN inputs i ON i.source_id=d.dataset_uuid "
          "AND i.source_type='DATASET' AND i.destination_type='RUN' "
          "JOIN input_tags t ON t.input_uuid=i.input_uuid "
          "JOIN runs r ON r.run_uuid=i.destination_id ORDER BY 1"),
      ElementsAre(
          "training|fashion-mnist|local|54000|8",
          "validation|fashion-mnist|local|6000|8"));
}

TEST_F(MlflowSqliteTest, NumbersWithoutAWordInSqlAreWrittenAsMlflowDoes) {
  deliver(written(
      "first",
      {step_event(3, std::nan("")),
       step_event(4, HUGE_VAL),
       step_event(5, -HUGE_VAL)}));
  EXPECT_THAT(
      rows(
          file_,
          "SELECT step, is_nan, value=0, value=1.7976931348623157e308, "
          "value=-1.7976931348623157e308 FROM metrics "
          "WHERE key='loss' AND step>2 ORDER BY step"),
      ElementsAre("3|1|1|0|0", "4|0|0|1|0", "5|0|0|0|1"));
  EXPECT_EQ(
      ask("SELECT step, is_nan FROM latest_metrics WHERE key='loss'"), "5|0");
}

TEST_F(MlflowSqliteTest, TheLatestIsTheOneOfTheGreatestStepTimeAndValue) {
  const auto run = written("first");
  // An older step may come late, in a delivery of its own too.
  for (const auto& events : std::vector<std::vector<journal::Event>>{
           {},
           {step_event(9, 0.1, 1'700'000'100),
            step_event(9, 0.3, 1'700'000'100),
            step_event(9, 0.2, 1'700'000'100),
            step_event(8, 9.0, 1'700'000'900)},
           {step_event(7, 8.0, 1'700'000'950)}}) {
    for (const auto& event : events)
      journal::Journal(run.journal()).append(event);
    deliver(run);
  }
  const auto wanted = rows(
      file_,
      "SELECT key, step, timestamp, max(value) FROM metrics m "
      "WHERE (step, timestamp) = (SELECT step, timestamp FROM metrics "
      "WHERE key=m.key ORDER BY step DESC, timestamp DESC LIMIT 1) "
      "GROUP BY key ORDER BY key");
  EXPECT_EQ(
      rows(
          file_,
          "SELECT key, step, timestamp, value FROM latest_metrics ORDER BY "
          "key"),
      wanted);
  EXPECT_EQ(ask("SELECT value FROM latest_metrics WHERE key='loss'"), "0.3");
}

TEST_F(MlflowSqliteTest, WhatComesTwiceIsThereOnce) {
  const auto run = written("first", {end_event("done")});
  deliver(run);
  const auto before = rows(file_, "SELECT * FROM metrics ORDER BY 1, 3, 5");
  const auto memory = tests::read_bytes(run.path / "track-x.json");
  auto early = FollowState::from_json(memory);
  early.offset = 0;
  early.marks = {};
  tests::write_bytes(run.path / "track-x.json", early.to_json());
  deliver(run);
  EXPECT_EQ(rows(file_, "SELECT * FROM metrics ORDER BY 1, 3, 5"), before);
  EXPECT_EQ(ask("SELECT count(*) FROM runs"), "1");
}

TEST_F(MlflowSqliteTest, ADatabaseThatWasRemovedIsFilledAgain) {
  const auto run = written("first");
  deliver(run);
  std::filesystem::remove(file_);
  deliver(run);
  EXPECT_EQ(ask("SELECT count(*) FROM metrics WHERE key='loss'"), "2");
}

TEST_F(MlflowSqliteTest, ArtifactsStayInTheRunsDirectory) {
  const auto run = written("first");
  deliver(run);
  EXPECT_EQ(ask("SELECT artifact_uri FROM runs"), run.artifacts().string());
  for (const char* name : {"config.toml", "plan.json", "machine.json"})
    EXPECT_TRUE(std::filesystem::exists(run.artifacts() / name)) << name;
}

TEST_F(MlflowSqliteTest, AnExistingRunIsGoneOnWith) {
  deliver(written("first"));
  const std::string id = ask("SELECT run_uuid FROM runs");
  FollowOptions options;
  options.adopt = id;
  deliver(written("second", {step_event(3, 0.125)}), options);
  EXPECT_EQ(ask("SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(ask("SELECT count(*) FROM metrics WHERE key='loss'"), "3");
  options.adopt = std::string(32, '0');
  EXPECT_THROW(deliver(written("third"), options), Error);
}

TEST_F(MlflowSqliteTest, ADeletedExperimentIsRefusedAndNotRevived) {
  deliver(written("first"));
  rows(
      file_,
      "UPDATE experiments SET lifecycle_stage='deleted' WHERE name='temper'");
  EXPECT_THROW(deliver(written("second")), Error);
  FollowOptions options;
  options.experiment = "another 'one'";
  deliver(written("third"), options);
  EXPECT_EQ(ask("SELECT max(name) FROM experiments"), "temper");
}

// What newer versions of MLflow changed in these tables.
TEST_F(MlflowSqliteTest, ANewerDatabaseIsOnlyAddedTo) {
  const std::string schema = mlflow_schema();
  rows(
      file_,
      schema +
          "ALTER TABLE experiments ADD COLUMN workspace VARCHAR(63) NOT NULL "
          "DEFAULT 'default';"
          "ALTER TABLE inputs ADD COLUMN step BIGINT NOT NULL DEFAULT '0';"
          "ALTER TABLE runs ADD COLUMN unheard_of TEXT;"
          "CREATE TABLE later (x);"
          "UPDATE alembic_version SET version_num='b7e2c1a4d9f3'");
  deliver(written("first", {end_event("failed")}));
  EXPECT_EQ(ask("SELECT version_num FROM alembic_version"), "b7e2c1a4d9f3");
  EXPECT_EQ(ask("SELECT status FROM runs"), "FAILED");
  EXPECT_EQ(ask("SELECT workspace FROM experiments"), "default");
}

TEST_F(MlflowSqliteTest, AColumnThatIsMissingOrUnknownIsTheReasonToRefuse) {
  const auto refused = [&](const std::string& change) -> std::string {
    std::filesystem::remove(file_);
    rows(file_, mlflow_schema() + change);
    const auto run = written(cat("r", change.size()));
    try {
      deliver(run);
    } catch (const Unavailable&) {
      return "unavailable";
    } catch (const Error& error) {
      EXPECT_EQ(ask("SELECT count(*) FROM runs"), "0");
      return error.what();
    }
    return "taken";
  };
  EXPECT_THAT(
      refused("ALTER TABLE metrics RENAME COLUMN is_nan TO nan"),
      HasSubstr("metrics has no column \"is_nan\""));
  EXPECT_THAT(refused("DROP TABLE input_tags"), HasSubstr("input_tags"));
  EXPECT_THAT(
      refused("DROP TABLE params; CREATE TABLE params (key, value, run_uuid, "
              "kind TEXT NOT NULL)"),
      HasSubstr("demands a column \"kind\""));
}

TEST_F(MlflowSqliteTest, AFileThatIsNoDatabaseIsRefused) {
  tests::write_bytes(file_, std::string(4096, 'x'));
  EXPECT_THROW(deliver(written("first")), Error);
}

TEST_F(MlflowSqliteTest, ManyAtOnceMakeOneStore) {
  constexpr int kRuns = 8;
  std::vector<journal::RunDirectory> runs;
  for (int i = 0; i < kRuns; ++i)
    runs.push_back(written(cat("run", i)));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (const auto& run : runs)
    threads.emplace_back([&] {
      try {
        deliver(run);
      } catch (const std::exception& error) {
        ++failures;
        ADD_FAILURE() << error.what();
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(ask("SELECT count(*) FROM runs"), cat(kRuns));
  EXPECT_EQ(ask("SELECT count(*) FROM experiments"), "2");
  EXPECT_EQ(ask("SELECT count(*) FROM alembic_version"), "1");
  EXPECT_EQ(ask("PRAGMA integrity_check"), "ok");
}

// All have found it empty before one of them begins.
TEST_F(MlflowSqliteTest, TheFirstOfManyMakesTheTables) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 5; ++round) {
    std::filesystem::remove(file_);
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        try {
          Database database(file_, true);
          ++ready;
          while (ready < kThreads)
            std::this_thread::yield();
          prepare_mlflow_database(database, file_.string());
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
    for (auto& thread : threads)
      thread.join();
    EXPECT_EQ(ask("SELECT count(*) FROM alembic_version"), "1");
  }
}

TEST_F(MlflowSqliteTest, TwoWritersAndAReaderDoNotDisturbEachOther) {
  deliver(written("zero"));
  std::atomic<bool> over{false};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 2; ++writer)
    writers.emplace_back([&, writer] {
      const auto run = written(cat("writer", writer));
      journal::Journal journal(run.journal());
      MlflowSqlite tracker(file_);
      JournalDelivery follow(run, tracker, "x");
      for (int i = 0; i < 40; ++i) {
        journal.append(step_event(i + 3, 1));
        while (follow.pump()) {
        }
      }
    });
  std::thread reader([&] {
    while (!over)
      rows(file_, "SELECT count(*) FROM metrics");
  });
  for (auto& writer : writers)
    writer.join();
  over = true;
  reader.join();
  EXPECT_EQ(ask("SELECT count(*) FROM metrics WHERE key='loss'"), "86");
}

// Waiting for a lock ends when it is asked to.
TEST_F(MlflowSqliteTest, ALockedDatabaseIsUnavailableAndGivenUpOn) {
  deliver(written("first"));
  Database holder(file_, false);
  Transaction held(holder);
  const auto run = written("second");
  MlflowSqlite tracker(file_);
  JournalDelivery follow(run, tracker, "x");
  std::thread impatient([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    tracker.give_up();
  });
  EXPECT_THROW(follow.pump(), Unavailable);
  impatient.join();
}

// Statement by statement as a real MLflow 2.22 made them.
TEST(MlflowSchema, IsWhatMlflowMakes) {
  const auto real = tests::source_dir() / ".." / "shared" / "facts" /
      "mlflow-schema-0584bdc529eb.sql";
  if (!std::filesystem::exists(real))
    GTEST_SKIP() << "the schema that MLflow wrote is not here";
  if (!has_sqlite3()) GTEST_SKIP() << "there is no sqlite3 program";
  tests::TempFolder folder;
  rows(folder.path() / "theirs.db", tests::read_bytes(real));
  rows(folder.path() / "ours.db", mlflow_schema());
  const std::string tables =
      "SELECT m.type, m.name, p.name, p.type, p.\"notnull\", p.dflt_value, "
      "p.pk FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) p "
      "ORDER BY 1, 2, p.cid";
  const auto ours = rows(folder.path() / "ours.db", tables);
  EXPECT_EQ(ours, rows(folder.path() / "theirs.db", tables));
  EXPECT_GT(ours.size(), 100U);
  const std::string keys =
      "SELECT m.name, f.* FROM sqlite_master m "
      "JOIN pragma_foreign_key_list(m.name) f ORDER BY 1, 2, 3";
  EXPECT_EQ(
      rows(folder.path() / "ours.db", keys),
      rows(folder.path() / "theirs.db", keys));
  const std::string sql =
      "SELECT replace(replace(replace(sql, char(9), ''), char(10), ''), ' ', "
      "'') FROM sqlite_master ORDER BY 1";
  EXPECT_EQ(
      rows(folder.path() / "ours.db", sql),
      rows(folder.path() / "theirs.db", sql));
}

} // namespace
} // namespace temper::track

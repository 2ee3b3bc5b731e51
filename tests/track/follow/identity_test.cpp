// A run is itself wherever it lies: directories and stores that are moved,
// copied and restored, for each of MLflow's stores.
#include "temper/track/follow/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/track/follow/journal_delivery.h"
#include "temper/track/mlflow/mlflow_file.h"
#include "temper/track/mlflow/mlflow_http.h"
#include "temper/track/mlflow/mlflow_sqlite.h"
#include "tests/temp_folder.h"
#include "tests/track/journal_samples.h"
#include "tests/track/mlflow/mlflow_server.h"
#include "tests/track/mlflow/sqlite_rows.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// What a store has, by run: its "loss" as "step:time", and its tags.
struct Stored {
  std::vector<std::string> loss;
  std::map<std::string, std::string> tags;
};
using Runs = std::map<std::string, Stored>;

enum class Store { sqlite, file, http };

const std::string kOwnId(32, 'b'); // of the run, in its journal's first event

class Identity : public testing::TestWithParam<Store> {
 protected:
  // A project: a store beside its runs. The server is nobody's.
  fs::path project(const std::string& name) const {
    return folder_ / name;
  }
  journal::RunDirectory run_in(const std::string& project) const {
    return {folder_ / project / "runs" / "a"};
  }
  void begin(const std::string& in) {
    const auto run = made_run(project(in) / "runs", "a");
    journal::Journal(run.journal()).append(run_event(kOwnId));
  }
  void write_steps(
      const std::string& in,
      std::int64_t from,
      std::int64_t to,
      double later_s = 0) {
    journal::Journal journal(run_in(in).journal());
    for (std::int64_t step = from; step <= to; ++step)
      journal.append(step_event(
          step, 0.5, 1'700'000'001.0 + static_cast<double>(step) + later_s));
  }
  // From one project to its own store, or to that of another.
  void deliver(const std::string& from, std::string store = "") {
    if (store.empty()) store = from;
    const auto tracker = tracker_of(store);
    // As Target::id names it: by where it is.
    const std::string id = cat("x", std::hash<std::string>()(tracker->where()));
    JournalDelivery follow(run_in(from), *tracker, id, FollowOptions{});
    while (follow.pump()) {
    }
  }
  std::unique_ptr<Tracker> tracker_of(const std::string& store) const {
    switch (GetParam()) {
      case Store::sqlite:
        return std::make_unique<MlflowSqlite>(project(store) / "mlflow.db");
      case Store::file:
        return std::make_unique<MlflowFile>(project(store) / "mlruns");
      case Store::http:
        return std::make_unique<MlflowHttp>(server_.url(), HttpSettings{});
    }
    throw Bug("a store outside the table");
  }

  Runs stored(const std::string& store) {
    if (GetParam() == Store::sqlite) return in_database(store);
    return GetParam() == Store::file ? in_files(store) : on_server();
  }
  Runs in_database(const std::string& store) const {
    const fs::path file = project(store) / "mlflow.db";
    Runs runs;
    for (const auto& id : rows(file, "SELECT run_uuid FROM runs")) {
      Stored& run = runs[id];
      run.loss = rows(
          file,
          cat("SELECT step || ':' || timestamp FROM metrics WHERE key='loss' "
              "AND run_uuid='",
              id,
              "' ORDER BY step, timestamp"));
      for (const char* key : {"temper.copy_of", "mlflow.runName"})
        for (const auto& value : rows(
                 file,
                 cat("SELECT value FROM tags WHERE key='",
                     key,
                     "' AND run_uuid='",
                     id,
                     "'")))
          run.tags[key] = value;
    }
    return runs;
  }
  Runs in_files(const std::string& store) const {
    Runs runs;
    for (const auto& experiment :
         fs::directory_iterator(project(store) / "mlruns"))
      for (const auto& run : fs::directory_iterator(experiment.path())) {
        if (!fs::exists(run.path() / "metrics")) continue;
        Stored& made = runs[run.path().filename().string()];
        std::ifstream in(run.path() / "metrics" / "loss");
        std::string time, value, step;
        while (in >> time >> value >> step)
          made.loss.push_back(cat(step, ":", time));
        for (const char* key : {"temper.copy_of", "mlflow.runName"})
          if (fs::exists(run.path() / "tags" / key))
            made.tags[key] = tests::read_bytes(run.path() / "tags" / key);
      }
    return runs;
  }
  Runs on_server() {
    Runs runs;
    for (const auto& [id, run] : server_.runs()) {
      Stored& made = runs[id];
      made.tags = run.tags;
      for (const auto& [key, step, time_ms, value] : run.metrics)
        if (key == "loss") made.loss.push_back(cat(step, ":", time_ms));
    }
    EXPECT_THAT(server_.complaints(), IsEmpty());
    return runs;
  }
  // One point a step, whenever it was computed.
  static void expect_steps(const Stored& run, std::int64_t last) {
    std::set<std::string> steps;
    for (const std::string& point : run.loss)
      EXPECT_TRUE(steps.insert(point.substr(0, point.find(':'))).second)
          << point << " is a second one";
    EXPECT_EQ(static_cast<std::int64_t>(steps.size()), last);
  }
  int places_remembered(const std::string& in) const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(run_in(in).path))
      count += entry.path().filename().string().starts_with("track-") ? 1 : 0;
    return count;
  }
  void move(const std::string& from, const std::string& to) {
    fs::rename(project(from), project(to));
  }
  void copy(const std::string& from, const std::string& to) {
    fs::remove_all(project(to));
    fs::copy(project(from), project(to), fs::copy_options::recursive);
  }

  tests::TempFolder folder_;
  MlflowServer server_;
};

TEST_P(Identity, AMovedProjectIsTheSameRun) {
  begin("p1");
  write_steps("p1", 1, 10);
  deliver("p1");
  move("p1", "p2");
  deliver("p2");
  ASSERT_EQ(stored("p2").size(), 1U);
  expect_steps(stored("p2").begin()->second, 10);
  EXPECT_EQ(places_remembered("p2"), 1);
  if (GetParam() != Store::http) { // a server hands out ids of its own
    EXPECT_EQ(stored("p2").begin()->first, kOwnId);
  }
  write_steps("p2", 11, 14);
  deliver("p2");
  ASSERT_EQ(stored("p2").size(), 1U);
  expect_steps(stored("p2").begin()->second, 14);
}

TEST_P(Identity, AStoppedRunThatWasCopiedWithItsStoreGoesOnAsTheSameRun) {
  begin("p1");
  write_steps("p1", 1, 10);
  deliver("p1");
  copy("p1", "p2");
  if (GetParam() == Store::http) fs::remove_all(project("p1")); // one server
  write_steps("p2", 11, 14);
  deliver("p2");
  ASSERT_EQ(stored("p2").size(), 1U);
  expect_steps(stored("p2").begin()->second, 14);
}

TEST_P(Identity, OfTwoCopiesThatGoOnInOneStoreTheSecondIsARunOfItsOwn) {
  begin("p1");
  write_steps("p1", 1, 10);
  deliver("p1");
  copy("p1", "p2");
  write_steps("p1", 11, 12);
  write_steps("p2", 11, 14, 100);
  deliver("p2", "p1");
  deliver("p1");
  deliver("p2", "p1");
  const Runs runs = stored("p1");
  ASSERT_EQ(runs.size(), 2U);
  int copies = 0;
  for (const auto& [id, run] : runs) {
    const bool is_copy = run.tags.count("temper.copy_of") > 0;
    copies += is_copy ? 1 : 0;
    expect_steps(run, is_copy ? 14 : 12);
    if (!is_copy) continue;
    EXPECT_EQ(runs.count(run.tags.at("temper.copy_of")), 1U);
    EXPECT_EQ(run.tags.at("mlflow.runName"), "a (copy)");
  }
  EXPECT_EQ(copies, 1);
}

TEST_P(Identity, ADirectoryRestoredFromABackupDoublesNoPoint) {
  begin("p1");
  write_steps("p1", 1, 10);
  deliver("p1");
  fs::copy(run_in("p1").path, folder_ / "backup", fs::copy_options::recursive);
  write_steps("p1", 11, 20);
  deliver("p1");
  fs::remove_all(run_in("p1").path);
  fs::copy(folder_ / "backup", run_in("p1").path, fs::copy_options::recursive);
  // What it had done since is done again, later.
  write_steps("p1", 11, 25, 1000);
  deliver("p1");
  ASSERT_EQ(stored("p1").size(), 1U);
  expect_steps(stored("p1").begin()->second, 25);
}

TEST_P(Identity, WhatIsRememberedMayBeLost) {
  begin("p1");
  write_steps("p1", 1, 10);
  deliver("p1");
  for (const auto& entry : fs::directory_iterator(run_in("p1").path))
    if (entry.path().filename().string().starts_with("track-"))
      fs::remove(entry.path());
  write_steps("p1", 11, 12);
  deliver("p1");
  ASSERT_EQ(stored("p1").size(), 1U);
  expect_steps(stored("p1").begin()->second, 12);
}

TEST_P(Identity, AStoreRestoredFromABackupGetsWhatItLacks) {
  if (GetParam() == Store::http) return; // it is nobody's to restore
  begin("p1");
  write_steps("p1", 1, 10);
  deliver("p1");
  copy("p1", "backup");
  write_steps("p1", 11, 20);
  deliver("p1");
  for (const char* store : {"mlflow.db", "mlruns"}) {
    fs::remove_all(project("p1") / store);
    if (fs::exists(project("backup") / store))
      fs::copy(
          project("backup") / store,
          project("p1") / store,
          fs::copy_options::recursive);
  }
  write_steps("p1", 21, 22);
  deliver("p1");
  ASSERT_EQ(stored("p1").size(), 1U);
  expect_steps(stored("p1").begin()->second, 22);
}

// The tracker has it from a machine that is not this one.
TEST_P(Identity, AnotherMachineGoesOnWithTheRunUnlessTheFirstDidToo) {
  for (const bool both : {false, true}) {
    const std::string in = both ? "p2" : "p1";
    const auto run = made_run(project(in) / "runs", "a");
    const std::string id(32, both ? 'c' : 'd');
    journal::Journal(run.journal()).append(run_event(id));
    write_steps(in, 1, 10);
    deliver(in, "shared");
    const auto tracker = tracker_of("shared");
    RunFacts facts;
    facts.key = id;
    facts.experiment = "temper";
    const auto found = tracker->find(facts, "");
    ASSERT_TRUE(found);
    tracker->begin(facts, found->memory);
    Delivery there;
    there.tags.push_back({kPlaceTag, "elsewhere:/runs/a"});
    if (both) there.points.push_back({"loss", 0.5, 11, 1'700'000'500'000});
    tracker->deliver(there);
    write_steps(in, 11, 12, 900);
    deliver(in, "shared");
    EXPECT_EQ(stored("shared").size(), both ? 3U : 1U);
  }
}

TEST_P(Identity, TheArtifactsOfAMovedRunAreFoundWhereTheyLieNow) {
  if (GetParam() != Store::sqlite) return; // the others have copies
  begin("p1");
  write_steps("p1", 1, 2);
  deliver("p1");
  move("p1", "p2");
  tests::write_bytes(run_in("p2").artifacts() / "curve.png", "png");
  journal::Journal(run_in("p2").journal())
      .append(
          {"artifact",
           1'700'000'200,
           {{"path", std::string("artifacts/curve.png")},
            {"name", std::string("curve.png")}}});
  deliver("p2");
  EXPECT_EQ(
      row(project("p2") / "mlflow.db", "SELECT artifact_uri FROM runs"),
      run_in("p2").artifacts().string());
  EXPECT_FALSE(fs::exists(project("p1")));
}

INSTANTIATE_TEST_SUITE_P(
    Stores,
    Identity,
    testing::Values(Store::sqlite, Store::file, Store::http),
    [](const auto& store) {
      return std::string(
          store.param == Store::sqlite     ? "sqlite"
              : store.param == Store::file ? "file"
                                           : "http");
    });

TEST(RunIdentity, IsInTheJournalOrFollowsFromItsFirstLine) {
  const tests::TempFolder folder;
  const auto run = made_run(folder.path(), "a");
  // Of before there were ids.
  journal::Journal(run.journal()).append(run_event(""));
  const auto first = journal::Follower(run.journal()).read(1);
  const std::string id = identity_of(first.at(0), run);
  EXPECT_EQ(id.size(), 32U);
  fs::rename(run.path, folder / "b");
  const journal::RunDirectory moved{folder / "b"};
  EXPECT_EQ(identity_of(first.at(0), moved), id);
  const std::string own(32, 'e');
  EXPECT_EQ(identity_of(run_event(own), moved), own);
}

} // namespace
} // namespace temper::track

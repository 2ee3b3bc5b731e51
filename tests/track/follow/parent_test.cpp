// Runs below runs, in every store that MLflow has.
#include "temper/track/follow/parent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/track/follow/journal_delivery.h"
#include "temper/track/follow/tracking.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"
#include "tests/track/journal_samples.h"
#include "tests/track/mlflow/mlflow_server.h"
#include "tests/track/mlflow/sqlite_rows.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kNobody = "0123456789abcdef0123456789abcdef";

class ParentTest : public testing::TestWithParam<const char*> {
 protected:
  std::string uri() {
    if (GetParam() == std::string("sqlite"))
      return "sqlite:///" + folder_.text("mlflow.db");
    if (GetParam() == std::string("file"))
      return "file:" + folder_.text("mlruns");
    return server_.url();
  }
  Options options(const std::string& parent) {
    Options made;
    made.mlflow = uri();
    made.parent = parent;
    return made;
  }
  journal::RunDirectory written(const std::string& name) {
    const auto run = made_run(folder_.path() / "runs", name);
    journal::Journal journal(run.journal());
    journal.append(run_event());
    journal.append(step_event(1, 0.5));
    journal.append(end_event("done"));
    return run;
  }
  void deliver(const std::string& name, const std::string& parent) {
    const journal::RunDirectory run{folder_.path() / "runs" / name};
    deliver_run(run.path, parse_target(uri()), options(parent), std::nullopt);
  }
  // As the store has it: a run's name -> its parent's, "" without one.
  std::map<std::string, std::string> parents() {
    std::map<std::string, std::string> names; // id -> name
    std::map<std::string, std::string> ids; // name -> its parent's id
    for (const auto& [id, name, parent] : stored()) {
      names[id] = name;
      ids[name] = parent;
    }
    for (auto& [name, parent] : ids)
      if (!parent.empty())
        parent = names.count(parent) > 0 ? names[parent] : "nobody";
    return ids;
  }
  std::string id_of(const std::string& name) {
    for (const auto& [id, its_name, parent] : stored())
      if (its_name == name) return id;
    return "";
  }

  tests::TempFolder folder_;
  MlflowServer server_;

 private:
  using Rows = std::vector<std::tuple<std::string, std::string, std::string>>;
  Rows stored() {
    Rows all;
    if (GetParam() == std::string("sqlite")) {
      for (const std::string& line : rows(
               folder_ / "mlflow.db",
               "SELECT r.run_uuid, r.name, coalesce(t.value, '') FROM runs r "
               "LEFT JOIN tags t ON t.run_uuid=r.run_uuid AND "
               "t.key='mlflow.parentRunId'")) {
        const auto cells = split(line, '|');
        all.emplace_back(cells.at(0), cells.at(1), cells.at(2));
      }
    } else if (GetParam() == std::string("file")) {
      for (const auto& entry :
           fs::recursive_directory_iterator(folder_ / "mlruns"))
        if (entry.path().filename() == "mlflow.runName") {
          const fs::path tags = entry.path().parent_path();
          all.emplace_back(
              tags.parent_path().filename().string(),
              tests::read_bytes(entry.path()),
              tests::read_bytes(tags / "mlflow.parentRunId"));
        }
    } else {
      for (auto& [id, run] : server_.runs())
        all.emplace_back(
            id, run.tags["mlflow.runName"], run.tags["mlflow.parentRunId"]);
    }
    return all;
  }
};

using Parents = std::map<std::string, std::string>;

TEST_P(ParentTest, ARunNamedHereOrByItsIdIsTheParent) {
  if (GetParam() == std::string("sqlite") && !has_sqlite3())
    GTEST_SKIP() << "there is no sqlite3 program";
  for (const char* name : {"sweep", "by-name", "by-path", "by-id"})
    written(name);
  deliver("sweep", "");
  deliver("by-name", "sweep");
  deliver("by-path", folder_.text("runs/sweep"));
  const std::string id = id_of("sweep");
  EXPECT_EQ(id.size(), 32U);
  deliver("by-id", id);
  EXPECT_EQ(
      parents(),
      (Parents{
          {"sweep", ""},
          {"by-name", "sweep"},
          {"by-path", "sweep"},
          {"by-id", "sweep"}}));
  EXPECT_THAT(server_.complaints(), testing::IsEmpty());
}

TEST_P(ParentTest, ARunThatWasThereBeforeGetsItsParentToo) {
  if (GetParam() == std::string("sqlite") && !has_sqlite3())
    GTEST_SKIP() << "there is no sqlite3 program";
  written("sweep");
  written("trial");
  deliver("sweep", "");
  deliver("trial", "");
  deliver("trial", "sweep");
  EXPECT_EQ(parents(), (Parents{{"sweep", ""}, {"trial", "sweep"}}));
}

TEST_P(ParentTest, OneThatIsNotThereIsAnErrorThatSaysSo) {
  written("sweep");
  written("trial");
  EXPECT_THAT(
      tests::complaint([&] { deliver("trial", "swoop"); }),
      AllOf(HasSubstr("swoop"), HasSubstr("track.parent says so")));
  EXPECT_THAT(
      tests::complaint([&] { deliver("trial", "sweep"); }),
      AllOf(
          HasSubstr("sweep, the parent, is not in"),
          HasSubstr("temper runs export")));
  deliver("sweep", "");
  EXPECT_THAT(
      tests::complaint([&] { deliver("trial", kNobody); }),
      AllOf(HasSubstr("there is no run"), HasSubstr(kNobody)));
  deliver("trial", "");
  EXPECT_THAT(
      tests::complaint([&] { deliver("trial", "trial"); }),
      HasSubstr("its own parent"));
  EXPECT_THAT(server_.complaints(), testing::IsEmpty());
}

TEST_P(ParentTest, WhatCanBeKnownIsSaidBeforeTheRun) {
  const fs::path runs = folder_ / "runs";
  const bool local = GetParam() != std::string("http");
  written("sweep");
  const auto said = [&](const std::string& parent) {
    return tests::complaint([&] { check_parent(options(parent), runs); });
  };
  EXPECT_EQ(said(""), "");
  EXPECT_THAT(said("swoop"), HasSubstr("track.parent says so"));
  EXPECT_THAT(said("sweep"), HasSubstr("is not in"));
  // A server is not asked: it may be away, and training does not wait for it.
  EXPECT_THAT(said(kNobody), HasSubstr(local ? "there is no run" : ""));
  EXPECT_EQ(said(kNobody).empty(), !local);
  deliver("sweep", "");
  EXPECT_EQ(said("sweep"), "");
  EXPECT_EQ(lasting_parent("latest", runs), "sweep");
  EXPECT_EQ(lasting_parent(kNobody, runs), kNobody);
  EXPECT_EQ(lasting_parent("", runs), "");
  EXPECT_EQ(
      lasting_parent(folder_.text("runs/sweep"), "elsewhere"),
      folder_.text("runs/sweep"));
}

INSTANTIATE_TEST_SUITE_P(
    Stores,
    ParentTest,
    testing::Values("sqlite", "file", "http"),
    [](const auto& store) { return std::string(store.param); });

} // namespace
} // namespace temper::track

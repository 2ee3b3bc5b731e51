#include "temper/track/mlflow/installed_mlflow.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "temper/base/text.h"
#include "temper/track/follow/tracking.h"
#include "temper/track/mlflow/sqlite.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "tests/track/journal_samples.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;

// An environment of Python with a program and packages.
class InstalledMlflow : public testing::Test {
 protected:
  fs::path made(
      const std::string& name,
      const std::string& package,
      const std::string& python = "python3.11") {
    const fs::path root = folder_.path() / name;
    fs::create_directories(root / "bin");
    fs::create_directories(root / "lib" / python / "site-packages" / package);
    tests::write_bytes(root / "bin" / "mlflow", "#!/usr/bin/env python3\n");
    return root / "bin";
  }
  static int found(const std::string& path) {
    return installed_mlflow({{"PATH", path}});
  }

  tests::TempFolder folder_;
};

TEST_F(InstalledMlflow, IsTheFirstInPath) {
  const auto two = made("two", "mlflow-2.22.4.dist-info").string();
  const auto three = made("three", "mlflow_skinny-3.1.0.dist-info").string();
  EXPECT_EQ(found(cat("/nowhere::", two, ":", three)), 2);
  EXPECT_EQ(found(cat(three, ":", two)), 3);
}

TEST_F(InstalledMlflow, IsFoundBehindALink) {
  const auto real = made("tool", "mlflow-3.4.0.dist-info");
  const auto bin = folder_.path() / "home" / "bin";
  fs::create_directories(bin);
  fs::create_symlink(real / "mlflow", bin / "mlflow");
  EXPECT_EQ(found(bin.string()), 3);
}

TEST_F(InstalledMlflow, IsTheOldestOfSeveralPythons) {
  made("user", "mlflow-3.4.0.dist-info", "python3.12");
  const auto bin = made("user", "mlflow-2.20.0.dist-info", "python3.11");
  EXPECT_EQ(found(bin.string()), 2);
}

TEST_F(InstalledMlflow, IsNoneWhereNobodyCanTell) {
  EXPECT_EQ(installed_mlflow({}), 0);
  EXPECT_EQ(found(made("shims", "mlflow_export-3.0.dist-info").string()), 0);
  EXPECT_EQ(found(folder_.path().string()), 0);
}

// MLflow 2 must be able to open it, unless it is not the one that will.
TEST_F(InstalledMlflow, DecidesWhatANewDatabaseIs) {
  const auto revision = [&](const std::string& path) {
    const auto run = made_run(folder_.path() / "runs", cat("r", path.size()));
    journal::Journal(run.journal()).append(run_event());
    Options options;
    options.environment = {{"PATH", path}};
    const fs::path file = folder_.path() / cat(path.size(), ".db");
    deliver_run(
        run.path,
        parse_target(cat("sqlite:///", file.string())),
        options,
        std::nullopt);
    Database database(file, false);
    auto find = database.prepare("SELECT version_num FROM alembic_version");
    return find->step() ? find->text(0) : "none";
  };
  EXPECT_EQ(revision(""), "0584bdc529eb");
  EXPECT_EQ(
      revision(made("two", "mlflow-2.22.4.dist-info").string()),
      "0584bdc529eb");
  EXPECT_EQ(
      revision(made("three", "mlflow-3.15.1.dist-info").string()),
      "400f98739977");
}

} // namespace
} // namespace temper::track

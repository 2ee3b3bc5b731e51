#include "temper/journal/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "temper/base/error.h"
#include "temper/journal/journal.h"

namespace temper::journal {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
namespace fs = std::filesystem;

class Runs : public ::testing::Test {
 protected:
  void SetUp() override {
    parent_ = fs::path(::testing::TempDir()) /
        (std::string("runs-") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(parent_);
  }
  void TearDown() override {
    fs::remove_all(parent_);
  }

  RunDirectory make(const std::string& name) const {
    auto run = make_run_directory(parent_, name, "resnet18", "cifar10");
    std::ofstream(run.config()) << "seed = 0\n";
    Journal(run.journal()).append({"run", 0, {}});
    return run;
  }
  std::string why(const std::string& wanted) const {
    try {
      find_run(parent_, wanted);
    } catch (const Error& error) {
      return std::string(error.what()) + " " + error.hint();
    }
    return "found";
  }

  fs::path parent_;
};

TEST_F(Runs, ANameIsMadeFromTimeModelAndData) {
  const auto run =
      make_run_directory(parent_, "", "nets/My Net.pt2", "folder:/a/Photos/");
  EXPECT_THAT(
      run.name(),
      MatchesRegex("[0-9]{8}-[0-9]{6}-my-net.pt2-folder-a-photos-[0-9a-f]{4}"));
  EXPECT_TRUE(fs::is_directory(run.checkpoints()));
  EXPECT_TRUE(fs::is_directory(run.artifacts()));
}

TEST_F(Runs, LatestIsNeverOneThatFailedBeforeItsFirstStep) {
  const auto first = make("a");
  const auto second = make("b");
  fs::last_write_time(second.config(), fs::file_time_type::clock::now());
  fs::last_write_time(
      first.config(),
      fs::last_write_time(second.config()) - std::chrono::seconds(9));
  EXPECT_EQ(find_run(parent_, "latest").name(), "b"); // it may be under way
  Journal(second.journal()).append({"end", 0, {{"status", "failed"}}});
  EXPECT_EQ(find_run(parent_, "latest").name(), "a");
  Journal(first.journal()).append({"end", 0, {{"status", "failed"}}});
  EXPECT_THAT(why("latest"), HasSubstr("there is no run latest"));
  Journal again(second.journal());
  again.truncate(0);
  again.append({"run", 0, {}});
  again.append({"step", 0, {{"step", std::int64_t{1}}}});
  again.append({"end", 0, {{"status", "failed"}}});
  EXPECT_EQ(find_run(parent_, "latest").name(), "b");
}

TEST_F(Runs, APartOfTheNameBetweenDashesIsEnough) {
  make("20261115-170106-mlp-house-1f3c");
  make("20261115-170254-mlp-house-77aa");
  EXPECT_EQ(
      find_run(parent_, "170106").name(), "20261115-170106-mlp-house-1f3c");
  EXPECT_THAT(why("house"), HasSubstr("could be"));
  EXPECT_THAT(why("0254"), HasSubstr("there is no run"));
}

TEST_F(Runs, WhatAStartLeftThatWroteNothingIsTaken) {
  const auto run = make_run_directory(parent_, "x", "resnet18", "cifar10");
  std::ofstream(run.lock()) << "1\n";
  fs::remove(run.artifacts());
  EXPECT_EQ(make_run_directory(parent_, "x", "", "").path, run.path);
  EXPECT_TRUE(fs::is_directory(run.artifacts()));
  std::ofstream(run.checkpoints() / "anything");
  EXPECT_THROW(make_run_directory(parent_, "x", "", ""), Error);
}

TEST_F(Runs, AChosenNameIsTakenOnce) {
  make("first");
  EXPECT_THROW(make("first"), Error);
  EXPECT_THROW(make("../first"), Error);
  EXPECT_THROW(make(".."), Error);
}

TEST_F(Runs, ANameThatMeansSomethingElseIsRefused) {
  for (const char* name : {"latest", "-x", "--resume", "a\nb", "a\x1b[2J"})
    EXPECT_THROW(make(name), Error) << name;
  EXPECT_NO_THROW(make("the-latest"));
}

TEST_F(Runs, WhatHasNeitherAJournalNorACheckpointIsNoRun) {
  make("a");
  fs::create_directories(parent_ / "b/checkpoints");
  ASSERT_EQ(list_runs(parent_).size(), 1U);
  fs::create_directories(parent_ / "b/checkpoints/step-8");
  ASSERT_EQ(list_runs(parent_).size(), 2U);
  EXPECT_EQ(find_run(parent_, "b").path, parent_ / "b");
  EXPECT_EQ(find_run(parent_, (parent_ / "b").string()).path, parent_ / "b");
  EXPECT_TRUE(list_runs(parent_ / "none").empty());
}

TEST_F(Runs, ARunIsFoundByNamePartPathAndLatest) {
  const auto first = make("alpha-1f3c");
  const auto second = make("beta-77aa");
  fs::last_write_time(
      first.config(),
      fs::last_write_time(second.config()) - std::chrono::seconds(5));
  EXPECT_EQ(find_run(parent_, "alpha-1f3c").path, first.path);
  EXPECT_EQ(find_run(parent_, "alpha").path, first.path);
  EXPECT_EQ(find_run(parent_, "77aa").path, second.path);
  EXPECT_EQ(find_run(parent_, second.path.string()).path, second.path);
  EXPECT_EQ(find_run(parent_, "latest").path, second.path);
}

TEST_F(Runs, WhatIsNotFoundIsToldWithTheNearest) {
  EXPECT_THAT(why("latest"), HasSubstr("there is no run latest"));
  make("alpha-1");
  make("alpha-2");
  EXPECT_THAT(why("alpha"), HasSubstr("could be"));
  EXPECT_THAT(why("alpha-3"), HasSubstr("Did you mean alpha-"));
  EXPECT_THAT(why(""), HasSubstr("there is no run"));
}

TEST_F(Runs, APlaceThatCannotBeWrittenSaysWhy) {
  std::ofstream(parent_) << "a file";
  EXPECT_THROW(make("x"), Error);
}

} // namespace
} // namespace temper::journal

#include "temper/journal/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "temper/base/error.h"
#include "temper/journal/journal.h"

namespace temper::journal {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
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

TEST_F(Runs, a_name_is_made_from_time_model_and_data) {
  const auto run =
      make_run_directory(parent_, "", "nets/My Net.pt2", "folder:/a/Photos/");
  EXPECT_THAT(
      run.name(),
      MatchesRegex("[0-9]{8}-[0-9]{6}-my-net.pt2-folder-a-photos-[0-9a-f]{4}"));
  EXPECT_TRUE(fs::is_directory(run.checkpoints()));
  EXPECT_TRUE(fs::is_directory(run.artifacts()));
}

TEST_F(Runs, what_a_start_left_that_wrote_nothing_is_taken) {
  const auto run = make_run_directory(parent_, "x", "resnet18", "cifar10");
  std::ofstream(run.lock()) << "1\n";
  fs::remove(run.artifacts());
  EXPECT_EQ(make_run_directory(parent_, "x", "", "").path, run.path);
  EXPECT_TRUE(fs::is_directory(run.artifacts()));
  std::ofstream(run.checkpoints() / "anything");
  EXPECT_THROW(make_run_directory(parent_, "x", "", ""), Error);
}

TEST_F(Runs, a_chosen_name_is_taken_once) {
  make("first");
  EXPECT_THROW(make("first"), Error);
  EXPECT_THROW(make("../first"), Error);
  EXPECT_THROW(make(".."), Error);
}

TEST_F(Runs, what_has_neither_a_journal_nor_a_checkpoint_is_no_run) {
  make("a");
  fs::create_directories(parent_ / "b/checkpoints");
  ASSERT_EQ(list_runs(parent_).size(), 1U);
  fs::create_directories(parent_ / "b/checkpoints/step-8");
  ASSERT_EQ(list_runs(parent_).size(), 2U);
  EXPECT_EQ(find_run(parent_, "b").path, parent_ / "b");
  EXPECT_EQ(find_run(parent_, (parent_ / "b").string()).path, parent_ / "b");
  EXPECT_TRUE(list_runs(parent_ / "none").empty());
}

TEST_F(Runs, a_run_is_found_by_name_part_path_and_latest) {
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

TEST_F(Runs, what_is_not_found_is_told_with_the_nearest) {
  EXPECT_THAT(why("latest"), HasSubstr("there is no run latest"));
  make("alpha-1");
  make("alpha-2");
  EXPECT_THAT(why("alpha"), HasSubstr("could be"));
  EXPECT_THAT(why("alpha-3"), HasSubstr("Did you mean alpha-"));
  EXPECT_THAT(why(""), HasSubstr("there is no run"));
}

TEST_F(Runs, a_place_that_cannot_be_written_says_why) {
  std::ofstream(parent_) << "a file";
  EXPECT_THROW(make("x"), Error);
}

} // namespace
} // namespace temper::journal

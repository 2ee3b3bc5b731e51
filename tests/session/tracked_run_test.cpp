// What a supervisor asks of its trackers must never end it.
#include "temper/session/tracked_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "temper/base/log.h"
#include "tests/temp_folder.h"

namespace temper::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TrackedRunTest : public testing::Test {
 protected:
  TrackedRunTest()
      : before_(log::set_sink([this](log::Level, const std::string& line) {
          const std::lock_guard lock(mutex_);
          said_.push_back(line);
        })) {}
  ~TrackedRunTest() override {
    log::set_sink(before_);
  }

  journal::RunDirectory written(const std::string& config) {
    folder_.write("runs/a/journal.jsonl", "");
    folder_.write("runs/a/config.toml", config);
    return {folder_ / "runs/a"};
  }

  tests::TempFolder folder_;
  std::mutex mutex_;
  std::vector<std::string> said_;
  log::Sink before_;
};

TEST_F(TrackedRunTest, WhatTheSystemRefusesIsSaidOnce) {
  const auto run = written("track.mlflow = \"off\"\ntrack.tensorboard = \"t\"");
  const auto here = std::filesystem::current_path();
  const auto gone = folder_ / "gone"; // where "t" would be
  std::filesystem::create_directory(gone);
  std::filesystem::current_path(gone);
  std::filesystem::remove(gone);
  TrackedRun tracked;
  EXPECT_NO_THROW(tracked.begin_if_written(run));
  EXPECT_NO_THROW(tracked.begin_if_written(run));
  std::filesystem::current_path(here);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("the run is not tracked: ")));
}

TEST_F(TrackedRunTest, AConfigThatCannotBeReadIsSaidOnce) {
  const auto run = written("this is no config");
  TrackedRun tracked;
  tracked.begin_if_written(run);
  tracked.begin_if_written(run);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("the run is not tracked: ")));
}

} // namespace
} // namespace temper::session

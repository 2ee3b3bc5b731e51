#include "temper/train/loop/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/log.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class SaverTest : public ::testing::Test {
 protected:
  SaverTest() : journal_(folder_ / "journal.jsonl") {
    config_.checkpoint.every_seconds = 0;
    before_ = log::set_sink(
        [this](log::Level, const std::string& line) { said_ += line + "\n"; });
  }
  ~SaverTest() override {
    log::set_sink(before_);
  }

  SaverParts parts() {
    return {
        config_,
        journal_,
        store_,
        "test",
        [this](const journal::Event& event) { told_.push_back(event); },
        [this] { return std::exchange(asked_, false); },
        [this] { return now_s_; }};
  }
  static Progress after(std::int64_t update) {
    Progress progress;
    progress.update = progress.step = update;
    return progress;
  }
  static EngineState state() {
    auto tensor = graph::make_tensor(graph::DType::kFloat64, {1});
    return {{{"model.w", tensor.data}}, {}};
  }
  // The updates of `count` after which one is due; each is then saved.
  std::vector<std::int64_t> saved(Saver& saver, std::int64_t count) {
    std::vector<std::int64_t> found;
    for (std::int64_t update = 1; update <= count; ++update, now_s_ += 1)
      if (saver.due(after(update))) {
        found.push_back(update);
        saver.save(after(update), state(), {"here"});
      }
    return found;
  }

  tests::TempFolder folder_;
  config::Config config_;
  journal::Journal journal_;
  checkpoint::Store store_{folder_ / "checkpoints"};
  std::vector<journal::Event> told_;
  bool asked_ = false;
  double now_s_ = 100;
  std::string said_;
  log::Sink before_;
};

TEST_F(SaverTest, NothingIsDueWithoutACadence) {
  Saver saver(parts());
  EXPECT_TRUE(saved(saver, 50).empty());
}

TEST_F(SaverTest, ItIsDueAfterSoManyUpdates) {
  config_.checkpoint.every_steps = 4;
  Saver saver(parts());
  EXPECT_THAT(saved(saver, 13), ElementsAre(4, 8, 12));
  EXPECT_FALSE(saver.due(after(12))) << "an update that was left out";
}

TEST_F(SaverTest, ItIsDueAfterSoManySeconds) {
  config_.checkpoint.every_seconds = 5;
  Saver saver(parts());
  EXPECT_THAT(saved(saver, 17), ElementsAre(6, 11, 16));
}

TEST_F(SaverTest, ItIsDueWhenSomebodyAsks) {
  Saver saver(parts());
  asked_ = true;
  EXPECT_THAT(saved(saver, 3), ElementsAre(1));
}

TEST_F(SaverTest, WhatIsOnDiskIsToldAndIsWhatWasHandedOver) {
  Saver saver(parts());
  Progress progress = after(7);
  progress.watched = "val_loss";
  EngineState summed = state();
  summed.training_sums.loss = 0.1;
  saver.save(progress, summed, {"here", true, -2.5});
  EXPECT_EQ(saver.finish(), "");
  EXPECT_TRUE(saver.has(progress));
  EXPECT_FALSE(saver.has(after(8)));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].kind, "checkpoint");
  EXPECT_EQ(told_[0].count("update"), 7);
  EXPECT_EQ(told_[0].flag("best"), true);
  const auto loaded = store_.load_best();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->loader, "here");
  EXPECT_EQ(loaded->score, -2.5);
  EXPECT_NE(loaded->config.find("every_seconds = 0"), std::string::npos);
  const Progress back = Progress::from_json(loaded->loop);
  EXPECT_EQ(back.watched, "val_loss");
  EXPECT_EQ(back.engine_sums.loss, 0.1);
}

TEST_F(SaverTest, ADiskThatTakesNothingIsToldAndTriedAgain) {
  config_.checkpoint.every_steps = 2;
  folder_.write("checkpoints", "in the way");
  Saver saver(parts());
  saver.save(after(2), state(), {"here"});
  EXPECT_NE(saver.finish(), "");
  EXPECT_FALSE(saver.has(after(2)));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].kind, "checkpoint_failed");
  EXPECT_TRUE(told_[0].text("why"));
  std::filesystem::remove(folder_ / "checkpoints");
  EXPECT_TRUE(saver.due(after(4)));
  saver.save(after(4), state(), {"here"});
  EXPECT_EQ(saver.finish(), "");
  EXPECT_THAT(store_.list(), ElementsAre(4));
}

TEST_F(SaverTest, OnlyARunThatDoesGoOnIsSaidTo) {
  folder_.write("checkpoints", "in the way");
  Saver saver(parts());
  saver.save(after(2), state(), {"here"});
  ASSERT_TRUE(saver.idle(60));
  EXPECT_FALSE(saver.has(after(2)));
  EXPECT_THAT(said_, HasSubstr("The run goes on. There is none before it."));
  said_.clear();
  saver.save(after(3), state(), {"here", false, {}, true});
  ASSERT_TRUE(saver.idle(60));
  EXPECT_FALSE(saver.has(after(3)));
  saver.save(after(4), state(), {"here"});
  EXPECT_NE(saver.finish(), "");
  EXPECT_THAT(
      said_, AllOf(HasSubstr("update 3 could"), HasSubstr("update 4 could")));
  EXPECT_THAT(said_, Not(HasSubstr("goes on")));
}

} // namespace
} // namespace temper::train

#include "temper/checkpoint/background_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "known_snapshot.h"
#include "temper/base/error.h"
#include "tests/temp_folder.h"

namespace temper::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::known_snapshot;

// Lets the writer's thread through one snapshot at a time.
class Turnstile {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return tickets_ > 0; });
    --tickets_;
  }
  void wait_for(int arrived) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= arrived; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    tickets_ = 1000;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int tickets_ = 0;
};

std::vector<std::int64_t> updates(const std::vector<Written>& ended) {
  std::vector<std::int64_t> found;
  for (const Written& each : ended)
    found.push_back(each.update);
  return found;
}

class WriterTest : public ::testing::Test {
 protected:
  tests::TempFolder folder_;
  Store store_{folder_ / "checkpoints", {10, 1}};
};

TEST_F(WriterTest, WhatIsHandedOverIsOnDiskAfterTheWait) {
  BackgroundWriter writer(store_);
  writer.submit(known_snapshot(2, 0, 100));
  const auto ended = writer.wait();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].failed, "");
  EXPECT_TRUE(ended[0].best);
  EXPECT_GT(ended[0].bytes, 200U);
  EXPECT_TRUE(tests::is_known(*store_.load_best()));
  EXPECT_TRUE(writer.take().empty()) << "told once";
}

TEST_F(WriterTest, ANewerOneTakesThePlaceOfOneThatWaits) {
  Turnstile gate;
  BackgroundWriter writer(store_, [&] { gate.pass(); });
  writer.submit(known_snapshot(1, 0, 100));
  gate.wait_for(1); // it is being written: the others wait
  for (int i = 3; i <= 5; ++i)
    writer.submit(known_snapshot(i, 0, 100));
  gate.open();
  EXPECT_THAT(updates(writer.wait()), ElementsAre(1, 5));
}

TEST_F(WriterTest, TheBestAndTheLastAreNeverLeftOut) {
  Turnstile gate;
  BackgroundWriter writer(store_, [&] { gate.pass(); });
  writer.submit(known_snapshot(1, 0, 100));
  gate.wait_for(1);
  writer.submit(known_snapshot(2, 0, 100));
  writer.submit(known_snapshot(3, 0, 100));
  writer.submit(known_snapshot(4, 0, 100), true);
  writer.submit(known_snapshot(5, 0, 100));
  gate.open();
  EXPECT_THAT(updates(writer.wait()), ElementsAre(1, 2, 4, 5));
  EXPECT_EQ(store_.load_best()->update, 2);
}

TEST_F(WriterTest, WhatGoesWrongIsAResultAndTheNextIsTried) {
  int calls = 0;
  BackgroundWriter writer(store_, [&] {
    if (++calls == 2) throw Error("the disk is full.");
  });
  for (int i = 1; i <= 3; ++i) {
    writer.submit(known_snapshot(i, 0, 100));
    const auto ended = writer.wait();
    ASSERT_EQ(ended.size(), 1U);
    EXPECT_EQ(ended[0].failed, i == 2 ? "the disk is full." : "");
  }
  EXPECT_THAT(store_.list(), ElementsAre(1, 3));
}

TEST_F(WriterTest, APlaceThatCannotBeWrittenIsToldWhy) {
  folder_.write("file", "");
  Store none(folder_ / "file");
  BackgroundWriter writer(none);
  writer.submit(known_snapshot(1, 0, 100));
  EXPECT_THAT(writer.wait().at(0).failed, HasSubstr("cannot make"));
}

TEST_F(WriterTest, LeavingFinishesWhatWaits) {
  {
    BackgroundWriter writer(store_);
    writer.submit(known_snapshot(8, 0, 100));
  }
  EXPECT_EQ(store_.load_latest()->update, 8);
}

} // namespace
} // namespace temper::checkpoint

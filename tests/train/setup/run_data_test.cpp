// Data that cannot be trained on is refused with a sentence, before anything
// else happens.
#include "temper/train/setup/run_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/train/schedule/updates.h"
#include "tests/complaint.h"
#include "tests/data/small_image.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::complaint;

class RunDataTest : public ::testing::Test {
 protected:
  // A table with these rows, all of it to train on.
  RunData open(const std::string& rows) {
    config_.data.source =
        "csv:" + folder_.write("table.csv", "a,b,kind\n" + rows).string();
    config_.data.val_fraction = 0;
    return open_data(config_, {}, std::uint64_t{1} << 30);
  }
  std::optional<std::int64_t> batches(RunData& data) {
    return train_batches(data, config_, {})->batches_per_epoch();
  }

  tests::TempFolder folder_;
  config::Config config_;
};

TEST_F(RunDataTest, WithoutSamplesIsRefused) {
  EXPECT_THAT(
      complaint([&] { open(""); }),
      AllOf(HasSubstr("table.csv"), HasSubstr("no ")));
}

TEST_F(RunDataTest, OfOneClassHasNothingToLearn) {
  EXPECT_THAT(
      complaint([&] { open("1,2,cat\n3,4,cat\n"); }),
      AllOf(
          HasSubstr("have the same label"),
          HasSubstr("there is nothing to learn"),
          HasSubstr("temper data check")));
}

TEST_F(RunDataTest, OfTwoClassesInTurnHasTwo) {
  config_.data.source = "synthetic:rows=20000,features=2,classes=2";
  EXPECT_EQ(
      open_data(config_, {}, std::uint64_t{1} << 30).train_samples, 20'000);
}

TEST_F(RunDataTest, OfFewerSamplesThanABatchIsOneShortBatch) {
  RunData data = open("1,2,cat\n3,4,dog\n5,6,cat\n");
  config_.train.batch = 64;
  EXPECT_EQ(batches(data), 1);
  EXPECT_EQ(Updates(config_, batches(data)).per_epoch(), 1);
}

TEST_F(RunDataTest, OfFewerSamplesThanABatchIsRefusedWhenTheRestIsLeftOut) {
  RunData data = open("1,2,cat\n3,4,dog\n5,6,cat\n");
  config_.train.batch = 64;
  config_.train.drop_last = true;
  EXPECT_THAT(
      complaint([&] { Updates(config_, batches(data)); }),
      AllOf(
          HasSubstr("a batch of 64 is more than all 3 samples"),
          HasSubstr("Lower train.batch")));
}

// Images of one size in classes a and b, `count` in the folder of each part.
void photos(
    const tests::TempFolder& folder,
    const std::string& part,
    int count) {
  for (int i = 0; i < count; ++i)
    folder.write(
        cat("photos/", part, i % 2 == 0 ? "/a/" : "/b/", i, ".ppm"),
        data::small_image(i, 6, 6));
}

TEST_F(RunDataTest, ATestPartBesideTrainingIsForTheEnd) {
  photos(folder_, "train", 20);
  photos(folder_, "test", 6);
  config_.data.source = folder_.text("photos");
  const RunData data = open_data(config_, {}, 0);
  EXPECT_EQ(data.train_samples + data.val_samples, 20);
  EXPECT_EQ(data.test_samples, 6);
  EXPECT_EQ(data.test_source, "folder:" + folder_.text("photos/test"));
}

TEST_F(RunDataTest, ATestPartWithoutClassesIsLeftAloneUnlessAskedFor) {
  photos(folder_, "train", 20);
  folder_.write("photos/test/1.ppm", data::small_image(1, 6, 6));
  config_.data.source = folder_.text("photos");
  const RunData data = open_data(config_, {}, 0);
  EXPECT_EQ(data.test, nullptr);
  EXPECT_THAT(
      data.notes, ::testing::Contains(HasSubstr("photos/test is not tested")));
  config_.data.test = folder_.text("photos/test");
  EXPECT_THROW(open_data(config_, {}, 0), Error);
}

} // namespace
} // namespace temper::train

#include "temper/data/feature/feature_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "temper/base/error.h"
#include "temper/data/feature/feature_store.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kKey = 0xFEDCBA9876543210;
const FeatureLayout kLayout{4, 3, 8};

class FeatureFileTest : public ::testing::Test {
 protected:
  // Sample i has the features {i, i + 0.5, -i} and the target 10 * i; number 2
  // is missing.
  void write(std::uint64_t key = kKey) const {
    FeatureWriter writer(path_, {kLayout, key, 0, "net on made, train"});
    for (const std::int64_t i : {0, 1, 3}) {
      const auto x = static_cast<float>(i);
      const float values[] = {x, x + 0.5F, -x};
      const std::int64_t target = 10 * i;
      writer.add(i, values, &target);
    }
    writer.commit(1.5);
  }
  std::shared_ptr<const FeatureFile> open(std::uint64_t key = kKey) {
    return FeatureFile::open(path_, key, kLayout, why_);
  }

  tests::TempFolder folder_;
  std::filesystem::path path_ = folder_ / "a.features";
  std::string why_;
};

TEST_F(FeatureFileTest, WhatWasWrittenComesBackByIndex) {
  write();
  const auto file = open();
  ASSERT_NE(file, nullptr) << why_;
  EXPECT_EQ(file->about().seconds, 1.5);
  EXPECT_EQ(file->about().what, "net on made, train");
  EXPECT_TRUE(file->has(0) && file->has(1) && file->has(3));
  EXPECT_FALSE(file->has(2));
  const float* values = file->values(3);
  EXPECT_THAT(std::vector<float>(values, values + 3), ElementsAre(3, 3.5F, -3));
  std::int64_t target = 0;
  std::memcpy(&target, file->target(3), sizeof target);
  EXPECT_EQ(target, 30);
  EXPECT_EQ(std::filesystem::file_size(path_), kLayout.file_bytes());
}

TEST_F(FeatureFileTest, ThereIsNoneBeforeItIsWhole) {
  {
    FeatureWriter writer(path_, {kLayout, kKey, 0, ""});
    const float values[] = {1, 2, 3};
    writer.add(0, values, values);
  }
  EXPECT_EQ(open(), nullptr);
  EXPECT_EQ(why_, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(FeatureFileTest, AnyByteThatChangedIsNoticed) {
  write();
  const std::string good = tests::read_bytes(path_);
  ASSERT_NE(open(), nullptr);
  // The padding of the head counts too: nobody writes there.
  for (std::size_t at = 0; at < good.size(); at += 7) {
    if (at >= 18 && at < 24) continue; // between the magic and the hash
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    tests::write_bytes(path_, bad);
    EXPECT_EQ(open(), nullptr) << "byte " << at;
    EXPECT_NE(why_, "") << "byte " << at;
  }
  for (const std::size_t length : {std::size_t{0}, good.size() - 1}) {
    tests::write_bytes(path_, good.substr(0, length));
    EXPECT_EQ(open(), nullptr) << length << " bytes";
  }
  tests::write_bytes(path_, good + "x");
  EXPECT_EQ(open(), nullptr);
}

TEST_F(FeatureFileTest, OneOfAnotherKeyOrShapeIsStale) {
  write(kKey + 1);
  EXPECT_EQ(open(), nullptr);
  EXPECT_THAT(why_, HasSubstr("something else"));
  EXPECT_NE(open(kKey + 1), nullptr);
  FeatureLayout other = kLayout;
  other.values = 4;
  EXPECT_EQ(FeatureFile::open(path_, kKey + 1, other, why_), nullptr);
}

TEST_F(FeatureFileTest, SizesBeyondAnyFileAreRefusedBeforeWriting) {
  const FeatureLayout huge{std::int64_t{1} << 40, std::int64_t{1} << 30, 8};
  EXPECT_THROW(huge.file_bytes(), Error);
  EXPECT_THROW(FeatureWriter(path_, {huge, kKey, 0, ""}), Error);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(FeatureFileTest, TheFolderIsListedBoundedAndCleared) {
  const auto make = [&](std::uint64_t key, int hours_ago) {
    path_ = feature_path(folder_.path(), key);
    write(key);
    std::filesystem::last_write_time(
        path_,
        std::filesystem::file_time_type::clock::now() -
            std::chrono::hours(hours_ago));
  };
  make(1, 5);
  make(2, 1);
  make(3, 9);
  const auto kept = list_features(folder_.path());
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].about->key, 2U);
  EXPECT_EQ(kept[2].about->key, 3U);

  const std::uint64_t one = kLayout.file_bytes();
  EXPECT_THAT(
      make_room(folder_.path(), one, one - 1),
      HasSubstr("model.feature_bytes"));
  EXPECT_EQ(list_features(folder_.path()).size(), 3U);
  // Two stay beside the new one: the oldest goes.
  EXPECT_EQ(make_room(folder_.path(), one, 3 * one), "");
  const auto left = list_features(folder_.path());
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[1].about->key, 1U);
  mark_used(left[1].path);
  EXPECT_EQ(list_features(folder_.path())[0].about->key, 1U);

  const auto cleared = clear_features(folder_.path());
  EXPECT_EQ(cleared.files, 2);
  EXPECT_EQ(cleared.bytes, 2 * one);
  EXPECT_TRUE(list_features(folder_.path()).empty());
}

TEST_F(FeatureFileTest, AQuarterOfTheFreeDiskIsTheBound) {
  const auto space = std::filesystem::space(folder_.path());
  EXPECT_THAT(
      make_room(folder_.path(), space.available / 2, 0),
      HasSubstr("a quarter of the free disk"));
  EXPECT_EQ(make_room(folder_.path(), space.available / 16, 0), "");
}

} // namespace
} // namespace temper::data

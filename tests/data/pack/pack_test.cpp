#include "temper/data/pack/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "tests/data/loader/loader_samples.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::HasSubstr;
using tests::read_bytes;
using tests::TempFolder;
using tests::write_bytes;

Splits made(std::int64_t train, std::int64_t val, int side) {
  Splits splits;
  auto first = std::make_shared<MadeSource>(train, side);
  first->info_.mean = {0.1F, 0.2F, 0.3F};
  first->info_.deviation = {0.4F, 0.5F, 0.6F};
  splits.train = first;
  if (val > 0) splits.val = std::make_shared<MadeSource>(val, side);
  return splits;
}

TEST(Pack, GivesBackWhatWasPacked) {
  const TempFolder place;
  const auto path = place / "made.tpk";
  const Splits before = made(5000, 30, 5);
  std::vector<std::int64_t> told;
  PackOptions packing;
  packing.progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_EQ(all, 5030);
    told.push_back(done);
  };
  EXPECT_EQ(write_pack(before, path, packing), 0);
  EXPECT_GT(told.size(), 10U);
  EXPECT_EQ(told.back(), 5030);
  const Splits after = open_pack(path, {});
  EXPECT_EQ(after.train->size(), 5000);
  EXPECT_EQ(after.val->size(), 30);
  EXPECT_EQ(after.train->fingerprint(), before.train->fingerprint());
  EXPECT_EQ(after.train->info().classes, before.train->info().classes);
  EXPECT_EQ(after.train->info().mean, before.train->info().mean);
  EXPECT_EQ(after.train->info().deviation, before.train->info().deviation);
  EXPECT_EQ(after.train->info().width, 5);
  EXPECT_EQ(after.train->label(17), 7);
  EXPECT_THAT(after.val->describe(2), HasSubstr("record 5002 of "));
  LoaderOptions options;
  options.workers = 3;
  Loader one(before.train, shifting(), options);
  Loader two(after.train, shifting(), options);
  one.start(1);
  const auto expected = hashes_of(one);
  for (int round = 0; round < 2; ++round) {
    two.start(1);
    EXPECT_EQ(hashes_of(two), expected);
  }
  two.resume(one.state()); // a run may change from the files to the pack
}

TEST(Pack, KeepsImagesOfDifferentSizes) {
  class Growing : public MadeSource {
   public:
    Growing() : MadeSource(20, 0) {}
    void read(std::int64_t index, Sample& sample) const override {
      const int n = static_cast<int>(index) + 1;
      sample.image.reshape(n, 2 * n, index % 2 == 0 ? 1 : 3);
      std::fill_n(
          sample.image.pixels(),
          sample.image.bytes(),
          static_cast<std::uint8_t>(n));
      sample.label = -n;
    }
  };
  const TempFolder place;
  const auto path = place / "growing.tpk";
  Splits splits;
  splits.train = std::make_shared<Growing>();
  write_pack(splits, path);
  const Splits read = open_pack(path, {});
  EXPECT_EQ(read.val, nullptr);
  Sample sample;
  for (std::int64_t i = 0; i < 20; ++i) {
    read.train->read(i, sample);
    EXPECT_EQ(sample.image.width(), i + 1);
    EXPECT_EQ(sample.image.height(), 2 * (i + 1));
    EXPECT_EQ(sample.image.pixels()[0], i + 1);
    EXPECT_EQ(sample.label, -(i + 1));
  }
}

// Reads all of a pack; what it finds, or "" for an error.
std::string pack_contents(const std::filesystem::path& path) {
  try {
    const Splits splits = open_pack(path, {});
    std::string all;
    Sample sample;
    for (std::int64_t i = 0; i < splits.train->size(); ++i) {
      splits.train->read(i, sample);
      const auto* pixels = sample.image.pixels();
      all.append(pixels, pixels + sample.image.bytes());
      all += cat(" ", sample.label, " ");
    }
    return all + join(splits.train->info().classes, ",");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("[data] "));
    return "";
  }
}

TEST(Pack, AFlippedBitAnywhereIsFoundOrHarmless) {
  const TempFolder place;
  const auto path = place / "small.tpk";
  write_pack(made(3, 0, 3), path);
  const std::string good = read_bytes(path);
  const std::string expected = pack_contents(path);
  ASSERT_FALSE(expected.empty());
  int found = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    write_bytes(path, bad);
    const std::string read = pack_contents(path);
    found += read.empty();
    EXPECT_TRUE(read.empty() || read == expected) << "byte " << at;
  }
  EXPECT_GT(found, 128 + 3 * 40 + 3 * 27);
}

TEST(Pack, EveryTruncationIsFound) {
  const TempFolder place;
  const auto path = place / "small.tpk";
  write_pack(made(3, 0, 3), path);
  const std::string good = read_bytes(path);
  for (std::size_t length = 0; length < good.size(); length += 3) {
    write_bytes(path, good.substr(0, length));
    EXPECT_EQ(pack_contents(path), "") << length;
  }
  write_bytes(path, good + "x");
  EXPECT_EQ(pack_contents(path), "");
}

TEST(Pack, ADamagedRecordIsABadSampleAndTheOthersAreNot) {
  const TempFolder place;
  const auto path = place / "small.tpk";
  write_pack(made(4, 0, 8), path);
  std::string bytes = read_bytes(path);
  bytes[bytes.size() - 16 - 10] ^= 1;
  write_bytes(path, bytes);
  const Splits splits = open_pack(path, {});
  Sample sample;
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_NO_THROW(splits.train->read(i, sample));
  EXPECT_THROW(splits.train->read(3, sample), BadSample);
  EXPECT_THROW(splits.train->read(3, sample), BadSample);
}

TEST(Pack, LeavesBadSamplesOutOrReplacesThemWhereAsked) {
  const TempFolder place;
  const auto path = place / "some.tpk";
  auto source = std::make_shared<MadeSource>(200, 4);
  source->before = [](std::int64_t index) {
    if (index == 7 || index == 199) throw BadSample("[data] it is bad.");
  };
  const auto before = log::set_sink([](log::Level, const std::string&) {});
  PackOptions options;
  options.bad = BadPolicy::skip;
  EXPECT_EQ(write_pack({source, source}, path, options), 4);
  const Splits skipped = open_pack(path, {});
  EXPECT_EQ(skipped.train->size(), 198);
  EXPECT_EQ(skipped.val->size(), 198);
  EXPECT_EQ(skipped.train->label(7), 8); // what came behind it
  EXPECT_NE(skipped.train->fingerprint(), source->fingerprint());
  options.bad = BadPolicy::replace;
  EXPECT_EQ(write_pack({source, nullptr}, path, options), 2);
  log::set_sink(before);
  const Splits replaced = open_pack(path, {});
  EXPECT_EQ(replaced.train->size(), 200);
  EXPECT_EQ(replaced.train->label(8), 8);
  Sample sample;
  for (std::int64_t i = 0; i < 200; ++i)
    EXPECT_NO_THROW(replaced.train->read(i, sample)) << i;
}

TEST(Pack, IsNotWrittenWhenASampleIsBad) {
  const TempFolder place;
  const auto path = place / "bad.tpk";
  Splits splits;
  auto source = std::make_shared<MadeSource>(10, 4);
  source->before = [](std::int64_t index) {
    if (index == 7) throw BadSample("[data] 7 is bad.");
  };
  splits.train = source;
  EXPECT_THROW(write_pack(splits, path), BadSample);
  EXPECT_FALSE(std::filesystem::exists(path));
  splits.train = std::make_shared<MadeSource>(0, 4);
  EXPECT_THROW(write_pack(splits, path), Error);
}

} // namespace
} // namespace temper::data

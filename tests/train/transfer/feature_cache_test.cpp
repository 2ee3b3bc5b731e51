#include "temper/train/transfer/feature_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "temper/data/feature/feature_store.h"
#include "tests/temp_folder.h"
#include "tests/train/transfer/made_features.h"

namespace temper::train {
namespace {

using data::MadeSource;
using testing::HasSubstr;

class FeatureCacheTest : public ::testing::Test {
 protected:
  CachedFeatures run(const std::vector<FeatureView>& views) {
    return cached_features(views, options_, extractor_);
  }
  FeatureView view(std::uint32_t number = 0) const {
    return {source_, augment_, number, "net on made, train"};
  }
  std::vector<float> features(
      const data::IndexedSource& source,
      std::int64_t index) const {
    data::Sample sample;
    source.read(index, sample);
    EXPECT_EQ(sample.label, index % 10);
    return sample.numbers;
  }

  tests::TempFolder folder_;
  FeatureCacheOptions options_ = cache_in(folder_ / "features");
  MadeExtractor extractor_;
  std::shared_ptr<MadeSource> source_ = std::make_shared<MadeSource>(11, 4);
  std::shared_ptr<data::Augment> augment_;
};

TEST_F(FeatureCacheTest, FeaturesAreComputedOnceAndFoundAgain) {
  const CachedFeatures first = run({view()});
  ASSERT_EQ(first.sources.size(), 1U) << first.why_not;
  EXPECT_EQ(first.computed, 11);
  // One look at half of the first batch shows that neighbours do not matter.
  EXPECT_EQ(extractor_.computed, 11 + 2);
  const CachedFeatures again = run({view()});
  EXPECT_EQ(again.computed, 0);
  EXPECT_EQ(extractor_.computed, 11 + 2);
  EXPECT_EQ(again.compute_s, first.compute_s);
  const data::IndexedSource& source = *again.sources.at(0);
  EXPECT_EQ(source.size(), 11);
  EXPECT_EQ(source.fingerprint(), source_->fingerprint());
  EXPECT_EQ(source.info().input, data::Input::numbers);
  for (std::int64_t i = 0; i < 11; ++i) {
    data::Sample sample;
    source_->read(i, sample);
    EXPECT_FLOAT_EQ(
        features(source, i)[0],
        static_cast<float>(sample.image.pixels()[0]) / 255);
  }
}

TEST_F(FeatureCacheTest, TheKeyFollowsFromWeightsDataAndTransforms) {
  const auto key = [&] { return feature_key(view(), options_, extractor_); };
  std::set<std::uint64_t> keys{key()};
  EXPECT_EQ(key(), *keys.begin());
  options_.frozen_hash = 78;
  EXPECT_TRUE(keys.insert(key()).second) << "weights";
  extractor_.where = "elsewhere";
  EXPECT_TRUE(keys.insert(key()).second) << "machine";
  source_->print = 2000;
  EXPECT_TRUE(keys.insert(key()).second) << "names and sizes";
  source_->before = [](std::int64_t index) {
    if (index == 3) throw data::BadSample("gone");
  };
  EXPECT_TRUE(keys.insert(key()).second) << "contents";
  augment_ = std::make_shared<data::Augment>();
  augment_->mean = {0.5F, 0.5F, 0.5F};
  augment_->deviation = {0.5F, 0.5F, 0.5F};
  EXPECT_TRUE(keys.insert(key()).second) << "transforms";
  // Without randomness every epoch is the same, and so is every seed.
  EXPECT_EQ(feature_key(view(1), options_, extractor_), key());
  options_.loader.seed = 6;
  EXPECT_EQ(keys.count(key()), 1U);
  augment_ = data::shifting();
  EXPECT_TRUE(keys.insert(key()).second) << "random transforms";
  EXPECT_NE(feature_key(view(1), options_, extractor_), key());
  options_.loader.seed = 7;
  EXPECT_TRUE(keys.insert(key()).second) << "seed";
}

TEST_F(FeatureCacheTest, ADamagedFileIsComputedAgain) {
  const CachedFeatures first = run({view()});
  const auto path = data::feature_path(
      options_.folder, feature_key(view(), options_, extractor_));
  const std::string good = tests::read_bytes(path);
  std::string bad = good;
  bad[bad.size() - 20] ^= 1;
  tests::write_bytes(path, bad);
  EXPECT_EQ(run({view()}).computed, 11);
  EXPECT_EQ(tests::read_bytes(path).substr(4096), good.substr(4096));
}

TEST_F(FeatureCacheTest, ViewsHaveTheRandomNumbersOfTheirEpochs) {
  augment_ = data::shifting();
  augment_->erase_probability = 0;
  const CachedFeatures cached = run({view(0), view(1), view(2)});
  ASSERT_EQ(cached.sources.size(), 3U) << cached.why_not;
  EXPECT_EQ(cached.samples, 33);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    data::LoaderOptions plain = options_.loader;
    plain.shuffle = false;
    data::Loader loader(source_, augment_, plain);
    loader.start(epoch);
    const data::HostBatch* batch = loader.next();
    std::vector<float> expected(8);
    extractor_.compute(*batch, expected.data());
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(
          features(*cached.sources[epoch], i)[1],
          expected[static_cast<std::size_t>(2 * i + 1)])
          << "epoch " << epoch;
  }
}

TEST_F(FeatureCacheTest, ABadSampleIsBadInTheCacheToo) {
  options_.loader.bad = data::BadPolicy::skip;
  source_->before = [](std::int64_t index) {
    if (index == 5) throw data::BadSample("[data] number five is damaged.");
  };
  const CachedFeatures cached = run({view()});
  ASSERT_EQ(cached.sources.size(), 1U) << cached.why_not;
  EXPECT_EQ(features(*cached.sources[0], 6).size(), 2U);
  EXPECT_THROW(features(*cached.sources[0], 5), data::BadSample);
  options_.loader.bad = data::BadPolicy::error;
  data::clear_features(options_.folder);
  EXPECT_THROW(run({view()}), data::BadSample);
}

TEST_F(FeatureCacheTest, WhatDependsOnItsNeighboursIsNotKept) {
  extractor_.leaks = true;
  const CachedFeatures cached = run({view()});
  EXPECT_TRUE(cached.sources.empty());
  EXPECT_THAT(cached.why_not, HasSubstr("share a batch"));
  EXPECT_TRUE(data::list_features(options_.folder).empty());
}

TEST_F(FeatureCacheTest, WithoutRoomItSaysWhyAndComputesNothing) {
  options_.most_bytes = 100;
  const CachedFeatures cached = run({view()});
  EXPECT_TRUE(cached.sources.empty());
  EXPECT_THAT(cached.why_not, HasSubstr("model.feature_bytes"));
  EXPECT_EQ(extractor_.computed, 0);
}

TEST_F(FeatureCacheTest, GivingUpLeavesNothingBehind) {
  struct Enough {};
  options_.progress = [](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 11);
    if (done > 4) throw Enough();
  };
  EXPECT_THROW(run({view()}), Enough);
  EXPECT_TRUE(std::filesystem::is_empty(options_.folder));
}

} // namespace
} // namespace temper::train

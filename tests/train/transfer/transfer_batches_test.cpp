#include "temper/train/transfer/transfer_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "tests/temp_folder.h"
#include "tests/train/transfer/made_features.h"

namespace temper::train {
namespace {

using data::MadeSource;

// Eleven images in batches of four, seen through kept features or not.
class TransferBatchesTest : public ::testing::Test {
 protected:
  TransferBatchesTest() {
    options_.loader.shuffle = true;
    augment_ = data::shifting();
  }

  std::unique_ptr<Batches> samples() const {
    return indexed_batches(source_, augment_, options_.loader);
  }
  std::unique_ptr<Batches>
  make(int views, std::uint32_t unfreeze_after = 0, bool leads = true) {
    TransferBatchesParts parts;
    if (views > 0) {
      std::vector<FeatureView> all;
      for (int i = 0; i < views; ++i)
        all.push_back(
            {source_, augment_, static_cast<std::uint32_t>(i), "made"});
      parts.views = cached_features(all, options_, *extractor_).sources;
    }
    if (views == 0 || unfreeze_after > 0) parts.samples = samples();
    parts.loader = options_.loader;
    parts.samples_pipeline = data::pipeline_hash(augment_.get(), true);
    parts.extractor = extractor_;
    parts.unfreeze_after = unfreeze_after;
    parts.phase = phase_;
    parts.is_training = leads;
    return transfer_batches(std::move(parts));
  }
  static std::vector<std::uint64_t> epoch(Batches& batches, int number) {
    batches.start(static_cast<std::uint32_t>(number));
    return data::hashes_of(batches);
  }

  tests::TempFolder folder_;
  FeatureCacheOptions options_ = cache_in(folder_ / "features");
  std::shared_ptr<MadeSource> source_ = std::make_shared<MadeSource>(11, 4);
  std::shared_ptr<data::Augment> augment_;
  std::shared_ptr<MadeExtractor> extractor_ = std::make_shared<MadeExtractor>();
  std::shared_ptr<TransferPhase> phase_ = std::make_shared<TransferPhase>();
};

TEST_F(TransferBatchesTest, KeptFeaturesAreThoseComputedAsTheyCome) {
  augment_ = nullptr;
  const auto computed = make(0);
  const auto kept = make(1);
  EXPECT_EQ(kept->batches_per_epoch(), 3);
  for (int e = 0; e < 3; ++e)
    EXPECT_EQ(epoch(*kept, e), epoch(*computed, e)) << "epoch " << e;
  EXPECT_NE(epoch(*kept, 0), epoch(*kept, 1)) << "shuffled";
}

TEST_F(TransferBatchesTest, ViewsGoRoundWithTheEpochs) {
  const auto computed = make(0);
  const auto kept = make(2);
  EXPECT_EQ(epoch(*kept, 0), epoch(*computed, 0));
  EXPECT_EQ(epoch(*kept, 1), epoch(*computed, 1));
  // Epoch 2 has the order of its own, and the random numbers of epoch 0.
  EXPECT_NE(epoch(*kept, 2), epoch(*computed, 2));
  const auto of_sample = [&](int number, std::int64_t wanted) {
    kept->start(static_cast<std::uint32_t>(number));
    while (const data::HostBatch* batch = kept->next())
      for (int i = 0; i < batch->size; ++i)
        if (batch->indices[i] == wanted)
          return static_cast<const float*>(batch->inputs)[2 * i + 1];
    return -1.0F;
  };
  bool differ = false;
  for (std::int64_t sample = 0; sample < 11; ++sample) {
    EXPECT_EQ(of_sample(2, sample), of_sample(0, sample));
    EXPECT_EQ(of_sample(3, sample), of_sample(1, sample));
    differ = differ || of_sample(0, sample) != of_sample(1, sample);
  }
  EXPECT_TRUE(differ);
}

TEST_F(TransferBatchesTest, ItGoesOnWhereItWasWithAndWithoutACache) {
  augment_ = std::make_shared<data::Augment>(); // not random
  augment_->mean = {0.5F, 0.4F, 0.3F};
  augment_->deviation = {0.2F, 0.2F, 0.2F};
  const auto whole = epoch(*make(0), 1);
  for (const int before : {0, 1})
    for (const int after : {0, 1}) {
      const auto first = make(before);
      first->start(1);
      EXPECT_EQ(data::hash_of(*first->next()), whole[0]);
      const auto second = make(after);
      second->resume(first->state());
      EXPECT_EQ(
          data::hashes_of(*second),
          std::vector<std::uint64_t>(whole.begin() + 1, whole.end()))
          << before << " to " << after;
    }
}

TEST_F(TransferBatchesTest, AnotherAugmentationIsRefusedAtAResume) {
  const auto first = make(2);
  first->start(0);
  first->next();
  const std::string state = first->state();
  augment_ = nullptr;
  EXPECT_THROW(make(1)->resume(state), Error);
  EXPECT_THROW(make(1)->resume("{}"), Error);
}

TEST_F(TransferBatchesTest, UnfrozenTheSamplesComeAndValidationFollows) {
  const auto train = make(1, 2);
  const auto val = make(1, 2, false);
  const auto raw = samples();
  train->start(1);
  EXPECT_FALSE(phase_->unfrozen);
  val->start(0);
  EXPECT_EQ(val->next()->shape, (std::vector<std::int64_t>{2}));
  train->start(2);
  EXPECT_TRUE(phase_->unfrozen);
  EXPECT_EQ(data::hashes_of(*train), epoch(*raw, 2));
  val->start(0);
  EXPECT_EQ(val->next()->shape, (std::vector<std::int64_t>{4, 4, 3}));
  // A resume knows the phase from where it is.
  train->start(2);
  train->next();
  const std::string state = train->state();
  phase_->unfrozen = false;
  const auto again = make(1, 2);
  again->resume(state);
  EXPECT_TRUE(phase_->unfrozen);
  EXPECT_EQ(data::hashes_of(*again), data::hashes_of(*train));
}

} // namespace
} // namespace temper::train

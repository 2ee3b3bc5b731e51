// A loader begins with what an earlier one settled on, on the same machine and
// with the same data, and only the speed of its batches follows from that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loader_samples.h"
#include "temper/data/tune/tuning_memory.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using tests::TempFolder;
using tests::write_bytes;

constexpr int kTunedBatch = 16;
constexpr std::uint64_t kTunedSampleBytes = 4 * 4 * 3 * sizeof(float);

// Without a memory: of small batches many are made ahead.
constexpr Tuning kFresh{4, 32};

class RememberedTuning : public testing::Test {
 protected:
  LoaderOptions options() const {
    LoaderOptions options;
    options.batch = kTunedBatch;
    options.seed = 7;
    options.cores = 8;
    options.tune_window_s = 1e9; // nothing changes on the way
    options.tuning_file = file_;
    options.machine_key = "this one";
    return options;
  }

  TuningKey key() const {
    return {
        "this one",
        source_->info().name,
        source_->fingerprint(),
        kTunedBatch,
        0,
        kTunedSampleBytes};
  }

  Tuning begun(
      const std::shared_ptr<const IndexedSource>& source,
      const LoaderOptions& options) const {
    Loader loader(source, nullptr, options);
    loader.start(0);
    return {loader.stats().workers, loader.stats().depth};
  }

  TempFolder folder_;
  std::filesystem::path file_ = folder_ / "cache/loader.json";
  std::shared_ptr<const MadeSource> source_ =
      std::make_shared<MadeSource>(400, 4);
};

TEST_F(RememberedTuning, IsWhereTheFirstEpochBegins) {
  save_tuning(file_, key(), {2, 5});
  Loader loader(source_, nullptr, options());
  EXPECT_EQ(loader.stats().workers, 4) << "memory is planned for without it";
  EXPECT_EQ(loader.stats().depth, kFresh.depth);
  loader.start(0);
  EXPECT_EQ(loader.stats().workers, 2);
  EXPECT_EQ(loader.stats().depth, 5);
}

TEST_F(RememberedTuning, IsWrittenWhenTheLoaderHasSettled) {
  LoaderOptions settling = options();
  settling.tune_window_s = 1e-9; // every batch is a window
  settling.workers = 2;
  settling.memory_bytes = 6 * kTunedBatch * (kTunedSampleBytes + 16) + 400'000;
  Loader loader(source_, nullptr, settling);
  for (std::uint32_t epoch = 0; !load_tuning(file_, key()); ++epoch) {
    ASSERT_LT(epoch, 20U) << "nothing settles";
    loader.start(epoch);
    while (loader.next() != nullptr) {
    }
  }
  const auto known = load_tuning(file_, key());
  EXPECT_EQ(begun(source_, options()), *known);
}

TEST_F(RememberedTuning, IsDroppedOnAnotherMachineAndWithOtherData) {
  save_tuning(file_, key(), {2, 5});
  EXPECT_EQ(begun(source_, options()), (Tuning{2, 5}));
  const auto edited = std::make_shared<MadeSource>(400, 4);
  ++edited->print;
  EXPECT_EQ(begun(edited, options()), kFresh);
  LoaderOptions other = options();
  other.machine_key = "another";
  EXPECT_EQ(begun(source_, other), kFresh);
  other = options();
  other.batch = 32;
  EXPECT_EQ(begun(source_, other), kFresh);
  other = options();
  other.element = Element::u8;
  EXPECT_EQ(begun(source_, other), kFresh);
  other = options();
  other.autotune = false;
  EXPECT_EQ(begun(source_, other), kFresh);
}

TEST_F(RememberedTuning, StaysWithinWhatThisRunMayUse) {
  save_tuning(file_, key(), {200, 60});
  LoaderOptions few = options();
  few.cores = 3;
  EXPECT_EQ(begun(source_, few), (Tuning{2, 60}));
  few.workers = 1;
  EXPECT_EQ(begun(source_, few).workers, 1);
  few = options();
  few.depth = 2;
  EXPECT_EQ(begun(source_, few).depth, 2);
  few = options();
  few.memory_bytes = 6 * kTunedBatch * (kTunedSampleBytes + 16) + 400'000;
  Loader loader(source_, nullptr, few);
  loader.start(0);
  EXPECT_LE(loader.stats().memory_bytes, few.memory_bytes);
}

TEST_F(RememberedTuning, ChangesNoBatch) {
  Loader fresh(source_, shifting(), options());
  fresh.start(3);
  const auto expected = hashes_of(fresh);
  TuningKey shifted = key();
  shifted.augment_hash = shifting()->hash();
  save_tuning(file_, shifted, {1, 9});
  Loader loader(source_, shifting(), options());
  loader.start(3);
  EXPECT_EQ(loader.stats().depth, 9);
  EXPECT_EQ(hashes_of(loader), expected);
}

TEST_F(RememberedTuning, ADamagedFileCostsNothingButTheTuning) {
  folder_.write("cache/loader.json", "{\"");
  EXPECT_EQ(begun(source_, options()), kFresh);
}

} // namespace
} // namespace temper::data

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "loader_samples.h"
#include "temper/base/log.h"
#include "temper/data/loader/order.h"
#include "temper/data/loader/sample_task.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Collects what is logged while it lives.
class Listener {
 public:
  Listener() {
    before_ = log::set_sink(
        [this](log::Level, const std::string& line) { lines.push_back(line); });
  }
  ~Listener() {
    log::set_sink(before_);
  }
  std::vector<std::string> lines;

 private:
  log::Sink before_;
};

std::shared_ptr<MadeSource> bad_at(std::set<std::int64_t> indices) {
  auto source = std::make_shared<MadeSource>(200, 4);
  source->before = [indices](std::int64_t index) {
    if (indices.count(index) > 0)
      throw BadSample(cat("[data] cannot decode ", index, ".jpg: truncated."));
  };
  return source;
}

LoaderOptions options_with(BadPolicy bad, int workers) {
  LoaderOptions options;
  options.batch = 16;
  options.workers = workers;
  options.bad = bad;
  options.seed = 3;
  return options;
}

TEST(BadSample, TheWayOutIsSaidOnce) {
  const BadSample plain("[data] cannot decode a.jpg.");
  const BadSample told("x", "Remove it, or run with data.bad = \"skip\".");
  const BadSample other("x", "Fetch the file again.");
  EXPECT_EQ(bad_hint(plain), told.hint());
  EXPECT_EQ(bad_hint(told), told.hint());
  EXPECT_EQ(
      bad_hint(other),
      "Fetch the file again. Or run with data.bad = \"skip\".");
}

TEST(BadSample, EndsTheRunWithItsNameIndexReasonAndAHint) {
  for (const int workers : {1, 2, 4, 7}) {
    Loader loader(
        bad_at({50}), nullptr, options_with(BadPolicy::error, workers));
    loader.start(0);
    const std::string error = error_of(loader);
    EXPECT_EQ(
        error,
        "[data] cannot decode 50.jpg: truncated (sample 50, made sample 50). | "
        "Remove it, or run with data.bad = \"skip\".");
    EXPECT_EQ(error_of(loader), error) << "it stays failed";
    loader.start(1);
    EXPECT_NE(error_of(loader), "");
  }
}

TEST(BadSample, TheFirstInOrderIsReportedWhoeverMeetsItFirst) {
  RandomStream random(1, 0, 0);
  for (int round = 0; round < 20; ++round) {
    std::set<std::int64_t> indices;
    for (int i = 0; i < 8; ++i)
      indices.insert(random.below(200));
    const Order order(200, true, 3, 0);
    std::int64_t first = 0;
    while (indices.count(order.index(first)) == 0)
      ++first;
    const auto options = options_with(BadPolicy::error, 1 + round % 7);
    Loader loader(bad_at(indices), nullptr, options);
    loader.start(0);
    std::int64_t batches = 0;
    try {
      while (loader.next() != nullptr)
        ++batches;
      ADD_FAILURE() << "nothing was thrown";
    } catch (const BadSample& bad) {
      EXPECT_THAT(
          bad.what(), HasSubstr(cat("(sample ", order.index(first), ",")));
    }
    EXPECT_EQ(batches, first / 16) << "all whole batches before it come";
  }
}

TEST(BadSample, IsLeftOutOfTheBatchUnderSkip) {
  Listener listener;
  const std::set<std::int64_t> bad{3, 50, 51, 52, 120, 199};
  std::vector<std::uint64_t> expected;
  for (const int workers : {1, 2, 4, 7}) {
    Loader loader(
        bad_at(bad), shifting(), options_with(BadPolicy::skip, workers));
    loader.start(0);
    std::set<std::int64_t> seen;
    std::vector<std::uint64_t> hashes;
    while (const HostBatch* batch = loader.next()) {
      hashes.push_back(hash_of(*batch));
      for (int i = 0; i < batch->size; ++i) {
        EXPECT_EQ(batch->labels[i], batch->indices[i] % 10);
        seen.insert(batch->indices[i]);
      }
    }
    EXPECT_EQ(seen.size(), 194U);
    for (const auto index : bad)
      EXPECT_EQ(seen.count(index), 0U);
    EXPECT_EQ(loader.stats().bad_samples, 6);
    if (expected.empty()) expected = hashes;
    EXPECT_EQ(hashes, expected);
  }
  ASSERT_EQ(listener.lines.size(), 4 * 6U);
  EXPECT_THAT(listener.lines[0], HasSubstr("Skipped."));
  EXPECT_THAT(listener.lines[5], HasSubstr("6 bad samples in epoch 0"));
}

TEST(BadSample, TheOthersOfTheBatchKeepTheirPixelsUnderSkip) {
  Listener listener;
  auto options = options_with(BadPolicy::skip, 2);
  options.shuffle = false;
  Loader some(bad_at({0, 5, 6, 15, 16, 199}), shifting(), options);
  Loader all(bad_at({}), shifting(), options);
  some.start(0);
  all.start(0);
  const std::size_t floats = 4 * 4 * 3;
  while (const HostBatch* whole = all.next()) {
    const HostBatch* part = some.next();
    ASSERT_NE(part, nullptr);
    int j = 0;
    for (int i = 0; i < whole->size && j < part->size; ++i) {
      if (whole->indices[i] != part->indices[j]) continue;
      const auto* a = static_cast<const float*>(whole->inputs);
      const auto* b = static_cast<const float*>(part->inputs);
      EXPECT_TRUE(std::equal(
          a + static_cast<std::size_t>(i) * floats,
          a + static_cast<std::size_t>(i + 1) * floats,
          b + static_cast<std::size_t>(j) * floats));
      ++j;
    }
    EXPECT_EQ(j, part->size);
  }
}

TEST(BadSample, IsReplacedByTheSameOtherOneInEveryRun) {
  Listener listener;
  std::vector<std::uint64_t> expected;
  for (const int workers : {1, 2, 4, 7}) {
    Loader loader(
        bad_at({3, 50, 51, 52, 120, 199}),
        shifting(),
        options_with(BadPolicy::replace, workers));
    loader.start(0);
    std::vector<std::uint64_t> hashes;
    std::int64_t samples = 0;
    while (const HostBatch* batch = loader.next()) {
      hashes.push_back(hash_of(*batch));
      samples += batch->size;
      for (int i = 0; i < batch->size; ++i)
        EXPECT_NE(batch->indices[i], 50);
    }
    EXPECT_EQ(samples, 200);
    if (expected.empty()) expected = hashes;
    EXPECT_EQ(hashes, expected);
  }
}

TEST(BadSample, WhereAllAreBadEveryPolicyEndsInAnError) {
  Listener listener;
  for (const auto policy :
       {BadPolicy::error, BadPolicy::skip, BadPolicy::replace}) {
    auto source = std::make_shared<MadeSource>(20, 4);
    source->before = [](std::int64_t) { throw BadSample("not an image."); };
    Loader loader(source, nullptr, options_with(policy, 2));
    loader.start(0);
    EXPECT_THAT(error_of(loader), HasSubstr("[data] "));
  }
}

TEST(BadSample, ABatchWithoutAnyGoodOneIsPassedOver) {
  Listener listener;
  std::set<std::int64_t> second;
  for (std::int64_t i = 16; i < 32; ++i)
    second.insert(i);
  auto options = options_with(BadPolicy::skip, 3);
  options.shuffle = false;
  Loader loader(bad_at(second), nullptr, options);
  loader.start(0);
  EXPECT_EQ(loader.next()->number, 0);
  EXPECT_EQ(loader.next()->number, 2);
  EXPECT_EQ(loader.state().samples_consumed, 48);
}

TEST(BadSample, OtherExceptionsOfASourceAreRethrownUnderEveryPolicy) {
  RandomStream random(2, 0, 0);
  for (const auto policy :
       {BadPolicy::error, BadPolicy::skip, BadPolicy::replace}) {
    const auto at = static_cast<std::int64_t>(random.below(200));
    auto source = std::make_shared<MadeSource>(200, 4);
    source->before = [at](std::int64_t index) {
      if (index == at) throw std::out_of_range("mine");
    };
    Loader loader(source, nullptr, options_with(policy, 3));
    loader.start(0);
    EXPECT_EQ(error_of(loader), "mine");
    EXPECT_THROW(loader.next(), std::out_of_range);
  }
}

TEST(BadSample, ImagesOfAnotherSizeSaySo) {
  auto source = std::make_shared<MadeSource>(20, 8);
  source->info_.height = 0; // they differ, or so it says
  source->info_.width = 0;
  class Odd : public MadeSource {
   public:
    Odd() : MadeSource(20, 8) {
      info_.height = info_.width = 0;
    }
    void read(std::int64_t index, Sample& sample) const override {
      sample.image.reshape(index == 7 ? 9 : 8, 8, 3);
      std::fill_n(sample.image.pixels(), sample.image.bytes(), 1);
    }
  };
  LoaderOptions options = options_with(BadPolicy::error, 2);
  Loader loader(std::make_shared<Odd>(), nullptr, options);
  EXPECT_EQ(loader.shape(), (std::vector<std::int64_t>{8, 8, 3}));
  loader.start(0);
  EXPECT_THAT(
      error_of(loader),
      AllOf(
          HasSubstr("9 x 8 with 3 channels in batches of 8 x 8"),
          HasSubstr("sample 7"),
          HasSubstr("an augmentation that resizes")));
}

TEST(BadSample, ALabelBeyondTheClassesIsBad) {
  auto source = std::make_shared<MadeSource>(20, 8);
  source->info_.classes.resize(9);
  Loader loader(source, nullptr, options_with(BadPolicy::error, 2));
  loader.start(0);
  EXPECT_THAT(error_of(loader), HasSubstr("the label 9 where there are 9"));
}

} // namespace
} // namespace temper::data

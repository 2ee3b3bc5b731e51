#include "temper/data/loader/stream_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "loader_samples.h"
#include "temper/base/log.h"
#include "tests/thread_count.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Counter : public StreamSource {
 public:
  Counter(std::int64_t size, bool saves) : size_(size), saves_(saves) {
    info_.name = "counter";
    info_.channels = 3;
    info_.height = info_.width = 4;
  }
  const SourceInfo& info() const override {
    return info_;
  }
  void restart(std::uint64_t seed, std::uint32_t epoch) override {
    if (seed == 666) throw Error("[data] cannot restart.");
    at_ = 0;
    key_ = seed + epoch;
  }
  bool next(Sample& sample) override {
    if (at_ == size_) return false;
    ++at_;
    if (bad > 0 && at_ % bad == 0) throw BadSample("spoilt.");
    if (at_ == dies) throw std::runtime_error("mine");
    sample.image.reshape(4, 4, 3);
    for (std::size_t i = 0; i < sample.image.bytes(); ++i)
      sample.image.pixels()[i] = static_cast<std::uint8_t>(
          mix64(key_ + 100 * static_cast<std::uint64_t>(at_) + i));
    sample.label = at_;
    return true;
  }
  std::optional<std::string> save() const override {
    if (!saves_) return std::nullopt;
    return cat(at_);
  }
  void load(const std::string& state) override {
    at_ = *parse_int(state);
  }

  std::int64_t bad = 0;
  std::int64_t dies = 0;

 private:
  SourceInfo info_;
  std::int64_t size_;
  bool saves_;
  std::int64_t at_ = 0;
  std::uint64_t key_ = 0;
};

LoaderOptions small_batches(BadPolicy bad = BadPolicy::error) {
  LoaderOptions options;
  options.batch = 8;
  options.seed = 5;
  options.bad = bad;
  return options;
}

class Silence {
 public:
  Silence() {
    before_ = log::set_sink(
        [this](log::Level, const std::string& line) { lines.push_back(line); });
  }
  ~Silence() {
    log::set_sink(before_);
  }
  std::vector<std::string> lines;

 private:
  log::Sink before_;
};

std::unique_ptr<Counter> counter(std::int64_t size, std::int64_t bad = 0) {
  auto source = std::make_unique<Counter>(size, true);
  source->bad = bad;
  return source;
}

TEST(StreamLoader, GivesTheSamplesInOrderOverAndOver) {
  for (const std::int64_t size : {0, 1, 8, 16, 21}) {
    StreamLoader loader(counter(size), shifting(), small_batches());
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
      loader.start(epoch);
      std::vector<std::int64_t> labels;
      while (const HostBatch* batch = loader.next())
        labels.insert(labels.end(), batch->labels, batch->labels + batch->size);
      ASSERT_EQ(labels.size(), static_cast<std::size_t>(size));
      for (std::int64_t i = 0; i < size; ++i)
        EXPECT_EQ(labels[static_cast<std::size_t>(i)], i + 1);
      EXPECT_EQ(loader.next(), nullptr);
    }
  }
}

TEST(StreamLoader, DropLastLeavesOutTheIncompleteBatch) {
  LoaderOptions options = small_batches();
  options.drop_last = true;
  for (const std::int64_t size : {3, 16, 21}) {
    StreamLoader loader(counter(size), nullptr, options);
    loader.start(0);
    EXPECT_EQ(hashes_of(loader).size(), static_cast<std::size_t>(size / 8));
  }
}

TEST(StreamLoader, ResumesExactlyWithAndWithoutHelpOfTheSource) {
  const Silence silence;
  for (const auto policy : {BadPolicy::skip, BadPolicy::replace})
    for (const bool saves : {true, false}) {
      const auto make = [&] {
        auto source = std::make_unique<Counter>(100, saves);
        source->bad = 7;
        return std::make_unique<StreamLoader>(
            std::move(source), shifting(), small_batches(policy));
      };
      const auto whole = make();
      whole->start(2);
      const auto expected = hashes_of(*whole);
      for (const std::size_t stop : {0, 1, 5, 10}) {
        const auto first = make();
        first->start(2);
        for (std::size_t i = 0; i < stop; ++i)
          first->next();
        const auto second = make();
        second->resume(StreamState::from_json(first->state().to_json()));
        auto hashes = hashes_of(*second);
        ASSERT_EQ(hashes.size(), expected.size() - stop);
        EXPECT_EQ(
            hashes,
            std::vector<std::uint64_t>(
                expected.begin() + stop, expected.end()));
      }
    }
}

TEST(StreamLoader, SaysWhenItHasToReadAgain) {
  Silence silence;
  StreamLoader loader(
      std::make_unique<Counter>(100, false), nullptr, small_batches());
  StreamState state = loader.state();
  state.samples_consumed = 40;
  loader.resume(state);
  EXPECT_EQ(loader.next()->labels[0], 41);
  ASSERT_EQ(silence.lines.size(), 1U);
  EXPECT_THAT(silence.lines[0], HasSubstr("reading again"));
  state.samples_consumed = 400;
  loader.resume(state);
  EXPECT_THAT(error_of(loader), HasSubstr("ends after 100 samples"));
}

TEST(StreamLoader, BadSamplesAreErrorsSkippedOrReplaced) {
  const Silence silence;
  StreamLoader strict(counter(40, 10), nullptr, small_batches());
  strict.start(0);
  EXPECT_EQ(
      error_of(strict),
      "[data] spoilt (sample 9, counter). | "
      "Remove it, or run with data.bad = \"skip\".");
  const auto sizes = [](BadPolicy policy) {
    StreamLoader loader(counter(40, 10), nullptr, small_batches(policy));
    loader.start(0);
    std::vector<int> found;
    while (const HostBatch* batch = loader.next())
      found.push_back(batch->size);
    EXPECT_EQ(loader.stats().bad_samples, 4);
    return found;
  };
  EXPECT_EQ(sizes(BadPolicy::skip), (std::vector<int>{8, 7, 7, 7, 7}));
  EXPECT_EQ(sizes(BadPolicy::replace), (std::vector<int>{8, 8, 8, 8, 4}));
}

TEST(StreamLoader, WhatASourceThrowsArrivesAfterTheBatchesBeforeIt) {
  auto source = counter(100);
  source->dies = 20;
  StreamLoader loader(std::move(source), nullptr, small_batches());
  loader.start(0);
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_EQ(error_of(loader), "mine");
  EXPECT_THROW(loader.next(), std::runtime_error);
  LoaderOptions options = small_batches();
  options.seed = 666;
  StreamLoader broken(counter(10), nullptr, options);
  broken.start(0);
  EXPECT_THAT(error_of(broken), HasSubstr("cannot restart"));
}

TEST(StreamLoader, CanBeStoppedAndRestartedAnywhereAndLeavesNoThread) {
  const int before = tests::thread_count();
  for (int round = 0; round < 50; ++round) {
    StreamLoader loader(counter(1000), shifting(), small_batches());
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
      loader.start(epoch);
      for (int i = 0; i < round % 9; ++i)
        loader.next();
    }
  }
  EXPECT_TRUE(tests::no_more_threads_than(before));
}

TEST(StreamLoader, WantsToKnowTheSizeOfImages) {
  class Sizeless : public Counter {
   public:
    Sizeless() : Counter(1, true) {
      info_.name = "sizeless";
      info_.channels = 3;
    }
    const SourceInfo& info() const override {
      return info_;
    }

   private:
    SourceInfo info_;
  };
  EXPECT_THAT(
      refusal([] {
        StreamLoader(std::make_unique<Sizeless>(), nullptr, small_batches());
      }),
      HasSubstr("sizeless does not say how large"));
}

} // namespace
} // namespace temper::data

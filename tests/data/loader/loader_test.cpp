#include "temper/data/loader/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "loader_samples.h"
#include "temper/base/log.h"
#include "tests/thread_count.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

LoaderOptions with_workers(int workers, int batch = 32) {
  LoaderOptions options;
  options.batch = batch;
  options.workers = workers;
  options.seed = 7;
  options.autotune = false;
  return options;
}

std::vector<std::uint64_t> epoch_hashes(
    const std::shared_ptr<const IndexedSource>& source,
    const LoaderOptions& options,
    std::uint32_t epoch = 3) {
  Loader loader(source, shifting(), options);
  loader.start(epoch);
  return hashes_of(loader);
}

TEST(Loader, BatchesAreTheSameForAnyNumberOfWorkers) {
  const auto source = std::make_shared<MadeSource>(1000, 9);
  const auto expected = epoch_hashes(source, with_workers(1));
  EXPECT_EQ(expected.size(), 32U);
  for (const int workers : {2, 4, 7})
    EXPECT_EQ(epoch_hashes(source, with_workers(workers)), expected);
  EXPECT_NE(epoch_hashes(source, with_workers(2), 4), expected);
  LoaderOptions other = with_workers(2);
  other.seed = 8;
  EXPECT_NE(epoch_hashes(source, other), expected);
}

TEST(Loader, BatchesAreTheSameUnderAutotune) {
  const auto source = std::make_shared<MadeSource>(4000, 8);
  const auto expected = epoch_hashes(source, with_workers(1, 16));
  LoaderOptions options = with_workers(0, 16);
  options.autotune = true;
  options.cores = 6;
  options.tune_window_s = 1e-4;
  Loader loader(source, shifting(), options);
  std::set<std::pair<int, int>> seen;
  for (int round = 0; round < 3; ++round) {
    loader.start(3);
    std::vector<std::uint64_t> hashes;
    while (const HostBatch* batch = loader.next()) {
      hashes.push_back(hash_of(*batch));
      seen.insert({loader.stats().workers, loader.stats().depth});
    }
    EXPECT_EQ(hashes, expected);
  }
  EXPECT_GT(seen.size(), 1U) << "nothing was tuned";
}

TEST(Loader, ResumesAnywhereWithAnotherNumberOfWorkers) {
  const auto source = std::make_shared<MadeSource>(777, 6);
  const auto expected = epoch_hashes(source, with_workers(2));
  RandomStream random(5, 0, 0);
  for (int round = 0; round < 10; ++round) {
    const std::size_t stop = random.below(25);
    std::string saved;
    {
      Loader loader(source, shifting(), with_workers(1 + round % 3));
      loader.start(3);
      for (std::size_t i = 0; i < stop; ++i)
        loader.next();
      saved = loader.state().to_json();
    }
    EXPECT_LT(saved.size(), 250U);
    LoaderOptions options = with_workers(1 + round % 5);
    options.seed = 99; // the state knows better
    Loader loader(source, shifting(), options);
    loader.resume(LoaderState::from_json(saved));
    EXPECT_EQ(
        hashes_of(loader),
        std::vector<std::uint64_t>(expected.begin() + stop, expected.end()));
  }
}

TEST(Loader, ResumesWithAnotherBatchSize) {
  const auto source = std::make_shared<MadeSource>(100, 4);
  const auto rest_after = [&](int batch) {
    Loader loader(source, nullptr, with_workers(2, 10));
    loader.start(0);
    for (int i = 0; i < 3; ++i)
      loader.next();
    Loader other(source, nullptr, with_workers(2, batch));
    other.resume(loader.state());
    std::vector<std::int64_t> indices;
    while (const HostBatch* next = other.next())
      indices.insert(indices.end(), next->indices, next->indices + next->size);
    return indices;
  };
  const auto expected = rest_after(10);
  EXPECT_EQ(expected.size(), 70U);
  EXPECT_EQ(rest_after(7), expected);
  EXPECT_EQ(rest_after(64), expected);
}

TEST(Loader, RefusesToResumeOnOtherDataAndNamesTheDifference) {
  const auto source = std::make_shared<MadeSource>(100, 4);
  Loader loader(source, shifting(), with_workers(1));
  const LoaderState state = loader.state();
  const auto refused = [&](auto source_now, auto augment, bool shuffle) {
    LoaderOptions options = with_workers(1);
    options.shuffle = shuffle;
    Loader other(source_now, augment, options);
    return refusal([&] { other.resume(state); });
  };
  EXPECT_EQ(refused(source, shifting(), true), "");
  EXPECT_THAT(
      refused(std::make_shared<MadeSource>(101, 4), shifting(), true),
      AllOf(HasSubstr("has 101 samples"), HasSubstr("the run had 100")));
  auto changed = std::make_shared<MadeSource>(100, 4);
  changed->print = 5;
  EXPECT_THAT(refused(changed, shifting(), true), HasSubstr("but other ones"));
  EXPECT_THAT(
      refused(source, std::shared_ptr<Augment>(), true),
      HasSubstr("augmentation"));
  EXPECT_THAT(refused(source, shifting(), false), HasSubstr("not shuffled"));
  LoaderState beyond = state;
  beyond.samples_consumed = 101;
  EXPECT_THAT(
      refusal([&] { loader.resume(beyond); }), HasSubstr("beyond the end"));
}

TEST(Loader, EverySampleComesOnceAnEpoch) {
  for (const bool shuffle : {true, false}) {
    LoaderOptions options = with_workers(3, 16);
    options.shuffle = shuffle;
    Loader loader(std::make_shared<MadeSource>(101, 2), nullptr, options);
    EXPECT_EQ(loader.batches_per_epoch(), 7);
    loader.start(0);
    std::vector<std::int64_t> indices;
    std::vector<int> sizes;
    while (const HostBatch* batch = loader.next()) {
      sizes.push_back(batch->size);
      for (int i = 0; i < batch->size; ++i) {
        indices.push_back(batch->indices[i]);
        EXPECT_EQ(batch->labels[i], batch->indices[i] % 10);
      }
    }
    EXPECT_EQ(sizes, (std::vector<int>{16, 16, 16, 16, 16, 16, 5}));
    EXPECT_EQ(std::is_sorted(indices.begin(), indices.end()), !shuffle);
    EXPECT_EQ(
        std::set<std::int64_t>(indices.begin(), indices.end()).size(), 101U);
    EXPECT_EQ(loader.next(), nullptr);
  }
}

TEST(Loader, DropLastLeavesOutTheIncompleteBatch) {
  LoaderOptions options = with_workers(2, 16);
  options.drop_last = true;
  Loader loader(std::make_shared<MadeSource>(101, 2), nullptr, options);
  EXPECT_EQ(loader.batches_per_epoch(), 6);
  loader.start(0);
  EXPECT_EQ(hashes_of(loader).size(), 6U);
  loader.start(0, 16 * 5);
  EXPECT_EQ(hashes_of(loader).size(), 1U);
  loader.start(0, 101);
  EXPECT_EQ(loader.next(), nullptr);
}

TEST(Loader, ABatchLargerThanTheDataHoldsAllOfIt) {
  const auto source = std::make_shared<MadeSource>(5, 2);
  Loader loader(source, nullptr, with_workers(2, 64));
  loader.start(0);
  EXPECT_EQ(loader.next()->size, 5);
  EXPECT_EQ(loader.next(), nullptr);
  LoaderOptions options = with_workers(2, 64);
  options.drop_last = true;
  EXPECT_THAT(
      refusal([&] { Loader(source, nullptr, options); }),
      HasSubstr("nothing would be left"));
}

TEST(Loader, RefusesDataWithoutSamples) {
  EXPECT_THAT(
      refusal([] {
        Loader(std::make_shared<MadeSource>(0, 2), nullptr, with_workers(1));
      }),
      HasSubstr("made has no samples"));
}

TEST(Loader, InputsBeginOnAPage) {
  Loader loader(
      std::make_shared<MadeSource>(9, 3), nullptr, with_workers(1, 2));
  loader.start(0);
  while (const HostBatch* batch = loader.next())
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch->inputs) % 16384, 0U);
}

TEST(Loader, RefusesWhatDoesNotFitTheMemoryBudget) {
  LoaderOptions options = with_workers(2, 1000);
  options.depth = 4;
  options.memory_bytes = std::uint64_t{10} << 20;
  const auto source = std::make_shared<MadeSource>(5000, 32);
  EXPECT_THAT(
      refusal([&] { Loader(source, nullptr, options); }),
      AllOf(
          HasSubstr("depth 4 x 11.7 MiB a batch"),
          HasSubstr("may use 10.0 MiB"),
          HasSubstr("Lower train.batch")));
  options.memory_bytes = std::uint64_t{30} << 20;
  options.depth = 0;
  Loader loader(source, nullptr, options);
  EXPECT_EQ(loader.stats().depth, 2);
  EXPECT_LE(loader.stats().memory_bytes, options.memory_bytes);
}

// Whoever waits can look around meanwhile, and nothing is different for it.
TEST(Loader, ReadyWaitsNoLongerThanItIsTold) {
  const auto source = std::make_shared<MadeSource>(8, 4);
  std::atomic<bool> held{true};
  source->before = [&](std::int64_t) {
    while (held)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  LoaderOptions options;
  options.batch = 4;
  options.workers = 2;
  options.depth = 1; // the last batch must be given back for the next
  Loader loader(source, nullptr, options);
  loader.start(0);
  EXPECT_FALSE(loader.ready(0.01));
  EXPECT_FALSE(loader.ready(0));
  EXPECT_EQ(loader.state().samples_consumed, 0);
  held = false;
  for (int batches = 1; batches <= 2; ++batches) {
    while (!loader.ready(0.01)) {
    }
    EXPECT_NE(loader.next(), nullptr);
    EXPECT_EQ(loader.state().samples_consumed, 4 * batches);
  }
  EXPECT_TRUE(loader.ready(1000)) << "its end is there";
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_GT(loader.stats().wait_s, 0);
}

TEST(Loader, CanBeDestroyedInTheMiddleOfAnEpochAndLeavesNoThread) {
  const auto source = std::make_shared<MadeSource>(500, 4);
  const int before = tests::thread_count();
  for (int round = 0; round < 100; ++round) {
    Loader loader(source, shifting(), with_workers(1 + round % 4, 8));
    if (round % 10 == 9) continue;
    loader.start(0);
    for (int i = 0; i < round % 7; ++i)
      loader.next();
  }
  EXPECT_TRUE(tests::no_more_threads_than(before));
}

TEST(Loader, ANewEpochAbandonsTheOneUnderWay) {
  const auto source = std::make_shared<MadeSource>(300, 4);
  const auto expected = epoch_hashes(source, with_workers(1, 8));
  Loader loader(source, shifting(), with_workers(3, 8));
  for (std::uint32_t round = 0; round < 50; ++round) {
    loader.start(round);
    for (std::uint32_t i = 0; i < round % 5; ++i)
      loader.next();
  }
  loader.start(3);
  EXPECT_EQ(hashes_of(loader), expected);
}

TEST(Loader, CountsWhatItDid) {
  auto source = std::make_shared<MadeSource>(100, 4);
  Loader loader(source, nullptr, with_workers(2, 8));
  loader.start(0);
  hashes_of(loader);
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.samples, 100);
  EXPECT_EQ(stats.workers, 2);
  EXPECT_GT(stats.busy_s, 0);
  EXPECT_GT(stats.first_batch_s, 0);
  EXPECT_EQ(stats.bad_samples, 0);
}

class Table : public IndexedSource {
 public:
  Table() {
    info_.name = "table";
    info_.input = Input::numbers;
    info_.target = Target::numbers;
    info_.shape = {3};
    info_.target_size = 2;
  }
  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return 20;
  }
  void read(std::int64_t index, Sample& sample) const override {
    const auto x = static_cast<float>(index);
    sample.numbers = {x, x + 1, x + 2};
    sample.target_numbers = {-x, 2 * x};
    if (index == 13) sample.numbers.pop_back();
  }
  std::uint64_t fingerprint() const override {
    return 1;
  }

 private:
  SourceInfo info_;
};

TEST(Loader, TakesRowsOfNumbers) {
  LoaderOptions options = with_workers(2, 4);
  options.bad = BadPolicy::skip;
  const auto quiet = log::set_sink([](log::Level, const std::string&) {});
  Loader loader(std::make_shared<Table>(), nullptr, options);
  loader.start(0);
  int rows = 0;
  while (const HostBatch* batch = loader.next())
    for (int i = 0; i < batch->size; ++i, ++rows) {
      const auto x = static_cast<float>(batch->indices[i]);
      const auto* row = static_cast<const float*>(batch->inputs) + 3 * i;
      EXPECT_EQ(row[0], x);
      EXPECT_EQ(row[2], x + 2);
      EXPECT_EQ(batch->target_numbers[2 * i + 1], 2 * x);
      EXPECT_EQ(batch->labels, nullptr);
    }
  EXPECT_EQ(rows, 19);
  log::set_sink(quiet);
  EXPECT_THAT(
      refusal([&] { Loader(std::make_shared<Table>(), shifting(), options); }),
      HasSubstr("is for images"));
}

TEST(Loader, TakesWindowsOfTokens) {
  class Text : public Table {
   public:
    Text() {
      info_.name = "text";
      info_.input = Input::tokens;
      info_.target = Target::tokens;
      info_.shape = {4};
      info_.target_size = 4;
    }
    const SourceInfo& info() const override {
      return info_;
    }
    void read(std::int64_t index, Sample& sample) const override {
      sample.tokens = {index, index + 1, index + 2, index + 3};
      sample.target_tokens = {index + 1, index + 2, index + 3, index + 4};
    }

   private:
    SourceInfo info_;
  };
  Loader loader(std::make_shared<Text>(), nullptr, with_workers(2, 4));
  EXPECT_EQ(loader.element(), Element::i64);
  loader.start(0);
  while (const HostBatch* batch = loader.next())
    for (int i = 0; i < batch->size; ++i) {
      const auto* window = static_cast<const std::int64_t*>(batch->inputs);
      EXPECT_EQ(window[4 * i + 3], batch->indices[i] + 3);
      EXPECT_EQ(batch->labels[4 * i + 3], batch->indices[i] + 4);
    }
}

} // namespace
} // namespace temper::data

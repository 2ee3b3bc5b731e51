#include "temper/data/sample/cached_source.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/data/loader/loader_samples.h"

namespace temper::data {
namespace {

TEST(CachedSource, ReadsEachSampleOnceAndGivesTheSamePixels) {
  auto source = std::make_shared<MadeSource>(300, 7);
  std::atomic<int> reads{0};
  source->before = [&](std::int64_t) { ++reads; };
  const auto cache = cached(source, 1 << 20);
  ASSERT_NE(cache, source);
  EXPECT_EQ(cache->fingerprint(), source->fingerprint());
  LoaderOptions options;
  options.workers = 4;
  Loader plain(source, shifting(), options);
  Loader quick(cache, shifting(), options);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    plain.start(epoch);
    const auto expected = hashes_of(plain);
    reads = 0;
    quick.start(epoch);
    EXPECT_EQ(hashes_of(quick), expected);
    EXPECT_EQ(reads, epoch == 0 ? 300 : 0);
  }
}

TEST(CachedSource, IsNotMadeWhenAllOfItDoesNotFit) {
  auto source = std::make_shared<MadeSource>(300, 7);
  const auto bytes = decoded_bytes(*source);
  EXPECT_GE(bytes, 300U * 7 * 7 * 3);
  EXPECT_EQ(cached(source, bytes - 1), source);
  EXPECT_NE(cached(source, bytes), source);
  source->info_.width = 0;
  EXPECT_EQ(cached(source, 1 << 30), source) << "sizes differ";
}

TEST(CachedSource, BadSamplesStayBad) {
  auto source = std::make_shared<MadeSource>(10, 7);
  source->before = [](std::int64_t index) {
    if (index == 3) throw BadSample("no.");
  };
  const auto cache = cached(source, 1 << 20);
  Sample sample;
  EXPECT_THROW(cache->read(3, sample), BadSample);
  EXPECT_THROW(cache->read(3, sample), BadSample);
  EXPECT_NO_THROW(cache->read(4, sample));
}

TEST(CachedSource, CanBeReadFromManyThreadsAtOnce) {
  const auto source = std::make_shared<MadeSource>(16, 5);
  const auto cache = cached(source, 1 << 20);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Sample ours;
      Sample theirs;
      for (std::int64_t i = 0; i < 400; ++i) {
        cache->read(i % 16, ours);
        source->read(i % 16, theirs);
        wrong += !std::equal(
            ours.image.pixels(),
            ours.image.pixels() + ours.image.bytes(),
            theirs.image.pixels());
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace temper::data

#include "temper/data/loader/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>

#include "temper/base/error.h"
#include "temper/base/random/philox.h"

namespace temper::data {
namespace {

using testing::ElementsAre;

constexpr int kRingBatch = 4;
constexpr std::int64_t kNoEnd = 1'000'000;

// One byte and a label a sample.
SampleLayout one_byte() {
  SourceInfo info;
  info.name = "bytes";
  info.channels = info.height = info.width = 1;
  return layout_of(info, nullptr, Element::u8, true);
}

class RingOfBatches : public testing::Test {
 protected:
  explicit RingOfBatches(int depth = 2)
      : ring_(one_byte(), kRingBatch, depth) {}

  RingBatch* entered(std::int64_t position) {
    double waited_s = 0;
    return ring_.enter(position, waited_s);
  }
  // What a worker does with a position.
  bool fill(std::int64_t position) {
    RingBatch* batch = entered(position);
    if (batch == nullptr) return false;
    const int slot = static_cast<int>(position - batch->begin);
    *static_cast<std::uint8_t*>(batch->buffer->input(slot)) =
        static_cast<std::uint8_t>(position);
    batch->buffer->index(slot) = position;
    ring_.done(*batch, 1);
    return true;
  }
  void fill(std::int64_t begin, std::int64_t end) {
    for (std::int64_t position = begin; position < end; ++position)
      fill(position);
  }
  static std::vector<std::int64_t> indices(RingBatch& batch) {
    std::vector<std::int64_t> found;
    for (int slot = 0; slot < batch.size; ++slot)
      found.push_back(batch.buffer->index(slot));
    return found;
  }

  Ring ring_;
};

TEST_F(RingOfBatches, ABatchIsReadyWhenAllItsSamplesAreDoneInAnyOrder) {
  ring_.restart(0, kNoEnd);
  for (const std::int64_t position : {5, 2, 0, 7, 3}) {
    EXPECT_TRUE(fill(position));
    EXPECT_FALSE(ring_.ready(0)) << position;
  }
  EXPECT_TRUE(fill(1));
  ASSERT_TRUE(ring_.ready(0));
  RingBatch* batch = ring_.take();
  EXPECT_EQ(batch->begin, 0);
  EXPECT_THAT(indices(*batch), ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(ring_.ready(0)) << "6 and 4 are missing";
}

TEST_F(RingOfBatches, TheLastBatchIsAsLongAsWhatIsLeft) {
  ring_.restart(3, 9);
  fill(3, 9);
  EXPECT_EQ(ring_.take()->size, 4);
  ring_.give_back();
  RingBatch* last = ring_.take();
  EXPECT_EQ(last->begin, 7);
  EXPECT_EQ(last->size, 2);
  EXPECT_TRUE(ring_.ready(0)) << "its end is there";
  EXPECT_EQ(ring_.take(), nullptr);
}

TEST_F(RingOfBatches, ProducersWaitForTheBatchThatIsGivenBack) {
  ring_.restart(0, kNoEnd);
  fill(0, 8);
  ring_.take();
  std::atomic<bool> entering{false};
  std::atomic<bool> given_back{false};
  bool after = false;
  std::thread producer([&] {
    entering = true;
    if (fill(8)) after = given_back;
  });
  while (!entering)
    std::this_thread::yield();
  given_back = true;
  ring_.give_back();
  producer.join();
  EXPECT_TRUE(after) << "it wrote into a batch that was in use";
}

class DeepRing : public RingOfBatches {
 protected:
  DeepRing() : RingOfBatches(8) {}
};

// Others are woken for half of the ring only.
TEST_F(DeepRing, AConsumerThatWouldWaitWakesProducers) {
  ring_.restart(0, kNoEnd);
  fill(0, 8 * kRingBatch);
  std::thread producer([&] { fill(8 * kRingBatch, 9 * kRingBatch); });
  ring_.take();
  ring_.give_back();
  for (int i = 0; i < 7; ++i)
    ring_.take();
  EXPECT_EQ(ring_.take()->begin, 8 * kRingBatch);
  producer.join();
  ring_.stop();
}

TEST_F(RingOfBatches, ManyBatchesUseAFewBuffers) {
  ring_.restart(0, kNoEnd);
  std::set<const BatchBuffer*> seen;
  for (std::int64_t begin = 0; begin < 400; begin += kRingBatch) {
    fill(begin, begin + kRingBatch);
    seen.insert(ring_.take()->buffer.get());
    ring_.give_back();
  }
  EXPECT_LE(seen.size(), 2U);
}

TEST_F(RingOfBatches, AGreaterDepthLetsProducersGoFurtherAtOnce) {
  ring_.restart(0, kNoEnd);
  fill(0, 8);
  ring_.set_depth(4);
  fill(8, 16); // would wait for ever
  ring_.set_depth(1);
  for (std::int64_t begin = 0; begin < 16; begin += kRingBatch) {
    RingBatch* batch = ring_.take();
    EXPECT_EQ(batch->begin, begin) << "nothing made is lost";
    EXPECT_EQ(indices(*batch).back(), begin + 3);
    ring_.give_back();
  }
  fill(16, 20);
  EXPECT_EQ(ring_.take()->begin, 16);
  EXPECT_THROW(ring_.set_depth(Ring::kMostDepth + 1), std::exception);
}

TEST_F(RingOfBatches, StoppedItRefusesEveryoneAndLetsGoOfThoseWhoWait) {
  ring_.restart(0, kNoEnd);
  RingBatch* entered_late = &*entered(0);
  std::thread waiting([&] { entered_late = entered(8); });
  ring_.stop();
  waiting.join();
  EXPECT_EQ(entered_late, nullptr);
  EXPECT_EQ(entered(0), nullptr);
  ring_.restart(40, kNoEnd);
  EXPECT_EQ(entered(40)->begin, 40) << "the next epoch begins elsewhere";
}

// Which of several failures is told does not depend on who is quicker.
TEST_F(RingOfBatches, TheFailureAtTheLowestPositionIsKept) {
  ring_.restart(0, kNoEnd);
  RingBatch& batch = *entered(0);
  for (const int position : {2, 1, 3})
    ring_.fail(
        batch,
        position,
        std::make_exception_ptr(std::runtime_error(std::to_string(position))));
  EXPECT_EQ(batch.failed_position, 1);
  try {
    std::rethrow_exception(batch.failure);
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "1");
  }
}

TEST_F(RingOfBatches, ABatchThatOpensAgainHasForgottenItsFaults) {
  ring_.restart(0, kNoEnd);
  RingBatch& batch = *entered(0);
  ring_.bad(batch, 2, "too dark");
  ring_.fail(batch, 3, std::make_exception_ptr(1));
  ring_.mark(batch, 4, "here");
  EXPECT_EQ(batch.bad.at(0).slot, 2);
  EXPECT_EQ(batch.mark, "here");
  ring_.restart(0, kNoEnd);
  RingBatch& again = *entered(0);
  EXPECT_TRUE(again.bad.empty());
  EXPECT_EQ(again.failure, nullptr);
  EXPECT_FALSE(again.mark);
}

// A generator tells where it ends when it gets there.
TEST_F(RingOfBatches, AnEndThatShowsLateKeepsOrDropsThePartOfABatch) {
  for (const bool keep_part : {true, false}) {
    ring_.restart(0, kNoEnd);
    fill(0, 6);
    ring_.finish(6, keep_part);
    EXPECT_EQ(ring_.take()->size, 4);
    ring_.give_back();
    RingBatch* part = ring_.take();
    EXPECT_EQ(part != nullptr, keep_part);
    if (part != nullptr) {
      EXPECT_THAT(indices(*part), ElementsAre(4, 5));
    }
    ring_.stop();
  }
}

TEST_F(RingOfBatches, AnEndBetweenTwoBatchesLeavesNoPart) {
  ring_.restart(0, kNoEnd);
  fill(0, 4);
  ring_.finish(4, true);
  EXPECT_EQ(ring_.take()->size, 4);
  EXPECT_EQ(ring_.take(), nullptr);
}

TEST_F(RingOfBatches, GapsOfSlotsWithoutASampleAreClosed) {
  ring_.restart(0, kNoEnd);
  fill(0, 4);
  RingBatch& batch = *ring_.take();
  batch.buffer->remove({0, 2}, 4);
  EXPECT_EQ(batch.buffer->index(0), 1);
  EXPECT_EQ(batch.buffer->index(1), 3);
  EXPECT_EQ(*static_cast<std::uint8_t*>(batch.buffer->input(1)), 3);
}

// Three producers, and a depth that goes up and down on the way.
TEST_F(RingOfBatches, EverySampleArrivesOnceWhateverTheDepthDoes) {
  constexpr std::int64_t kEnd = 6001;
  ring_.restart(0, kEnd);
  std::atomic<std::int64_t> next{0};
  std::vector<std::thread> producers;
  for (int i = 0; i < 3; ++i)
    producers.emplace_back([&] {
      for (std::int64_t at = next++; at < kEnd; at = next++)
        fill(at);
    });
  RandomStream random(1, 0, 0);
  std::int64_t expected = 0;
  while (RingBatch* batch = ring_.take()) {
    for (int slot = 0; slot < batch->size; ++slot, ++expected) {
      EXPECT_EQ(batch->buffer->index(slot), expected);
      EXPECT_EQ(
          *static_cast<std::uint8_t*>(batch->buffer->input(slot)),
          static_cast<std::uint8_t>(expected));
    }
    if (random.below(3) == 0)
      ring_.set_depth(1 + static_cast<int>(random.below(6)));
    ring_.give_back();
  }
  EXPECT_EQ(expected, kEnd);
  for (std::thread& producer : producers)
    producer.join();
}

} // namespace
} // namespace temper::data

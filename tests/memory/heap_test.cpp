#include "temper/memory/heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "temper/base/random/philox.h"
#include "tests/memory/sizes.h"

namespace temper::memory {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

TEST(Heap, ABlockTakesTheSmallestFreePieceThatItFits) {
  Heap heap;
  void* large = heap.take(8 * kPiece).memory;
  void* first_wall = heap.take(kPiece).memory;
  void* small = heap.take(3 * kPiece).memory;
  void* second_wall = heap.take(kPiece).memory;
  heap.put(large, 8 * kPiece);
  heap.put(small, 3 * kPiece);
  const Heap::Taken again = heap.take(2 * kPiece);
  EXPECT_EQ(again.memory, small);
  EXPECT_TRUE(again.again);
  EXPECT_EQ(heap.take(4 * kPiece).memory, large);
  heap.put(first_wall, kPiece);
  heap.put(second_wall, kPiece);
}

TEST(Heap, NeighboursThatAreFreeBecomeOne) {
  Heap heap;
  char* parts[4];
  for (char*& part : parts)
    part = static_cast<char*>(heap.take(kPiece).memory);
  EXPECT_EQ(parts[3], parts[0] + 3 * kPiece);
  for (const int i : {1, 3, 0, 2})
    heap.put(parts[i], kPiece);
  EXPECT_EQ(heap.touched_bytes(), 4 * kPiece);
  const Heap::Taken whole = heap.take(4 * kPiece);
  EXPECT_EQ(whole.memory, parts[0]);
  EXPECT_TRUE(whole.again);
  EXPECT_EQ(heap.touched_bytes(), 0U);
}

TEST(Heap, PagesThatGoBackAreFreshWhenTheyAreTakenAgain) {
  Heap heap;
  void* memory = heap.take(16 * kPiece).memory;
  std::memset(memory, 7, 16 * kPiece);
  heap.put(memory, 16 * kPiece);
  heap.trim(16 * kPiece);
  EXPECT_EQ(heap.touched_bytes(), 16 * kPiece);
  heap.trim(0);
  EXPECT_EQ(heap.touched_bytes(), 0U);
  const Heap::Taken again = heap.take(16 * kPiece);
  EXPECT_EQ(again.memory, memory);
  EXPECT_FALSE(again.again);
}

TEST(Heap, RefusesMoreThanTheMachineHas) {
  Heap heap;
  EXPECT_EQ(heap.take(std::size_t{1} << 60).memory, nullptr);
  EXPECT_NE(heap.take(kPiece).memory, nullptr);
}

// Blocks of all sizes in any order: nobody writes where another lies, and the
// books are right.
TEST(Heap, KeepsBlocksApartWhateverIsTakenAndGivenBack) {
  Heap heap;
  RandomStream random(3, 0, 0);
  std::map<char*, std::pair<std::size_t, char>> live;
  std::uint64_t held = 0;
  std::uint64_t most = 0;
  for (int i = 0; i < 4000; ++i) {
    const bool takes = live.size() < 8 || random.uniform(0, 1) < 0.5;
    if (takes) {
      const auto bytes = 64 * static_cast<std::size_t>(random.uniform(1, 3000));
      auto* at = static_cast<char*>(heap.take(bytes).memory);
      ASSERT_NE(at, nullptr);
      const auto mark = static_cast<char>(i % 120 + 1);
      at[0] = at[bytes - 1] = mark;
      ASSERT_TRUE(live.emplace(at, std::pair(bytes, mark)).second);
      held += bytes;
    } else {
      auto gone = live.begin();
      std::advance(
          gone,
          static_cast<long>(
              random.uniform(0, static_cast<double>(live.size()) - 0.01)));
      const auto [bytes, mark] = gone->second;
      ASSERT_EQ(gone->first[0], mark);
      ASSERT_EQ(gone->first[bytes - 1], mark);
      heap.put(gone->first, bytes);
      live.erase(gone);
      held -= bytes;
    }
    if (i % 500 == 499) heap.trim(0);
    most = std::max(most, held);
    char* end = nullptr;
    for (const auto& [at, of] : live) {
      ASSERT_GE(at, end);
      end = at + of.first;
    }
  }
  EXPECT_LE(heap.touched_bytes() + held, most * 5 / 4);
  for (const auto& [at, of] : live)
    heap.put(at, of.first);
  heap.trim(0);
  EXPECT_EQ(heap.touched_bytes(), 0U);
}

} // namespace
} // namespace temper::memory

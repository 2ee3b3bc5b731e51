#include "temper/memory/byte_ranges.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "temper/base/random/philox.h"

namespace temper::memory {
namespace {

// Held against a plain set of bytes.
TEST(ByteRanges, CountWhatASetOfBytesCounts) {
  std::array<char, 200> memory{};
  RandomStream random(9, 0, 0);
  ByteRanges ranges;
  std::set<int> bytes;
  for (int i = 0; i < 3000; ++i) {
    const int from = static_cast<int>(random.uniform(0, 180));
    const int count = static_cast<int>(random.uniform(1, 20));
    const bool adds = random.uniform(0, 1) < 0.5;
    std::size_t changed = 0;
    std::size_t there = 0;
    for (int k = from; k < from + count; ++k) {
      there += bytes.count(k);
      changed += adds ? bytes.insert(k).second : bytes.erase(k);
    }
    char* at = memory.data() + from;
    const auto size = static_cast<std::size_t>(count);
    ASSERT_EQ(ranges.overlap(at, size), there) << i;
    ASSERT_EQ(adds ? ranges.add(at, size) : ranges.remove(at, size), changed);
    ASSERT_EQ(ranges.bytes(), bytes.size());
  }
}

} // namespace
} // namespace temper::memory

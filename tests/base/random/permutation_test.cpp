#include "temper/base/random/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "temper/base/error.h"

namespace temper {
namespace {

TEST(Permutation, IsABijectionForEverySizeUpToFiveThousand) {
  std::vector<bool> seen;
  for (std::uint64_t size = 1; size <= 5000; ++size) {
    const Permutation permutation(size, 42 + size);
    seen.assign(size, false);
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t index = permutation(i);
      ASSERT_LT(index, size);
      ASSERT_FALSE(seen[index]) << "size " << size << " position " << i;
      seen[index] = true;
    }
  }
}

TEST(Permutation, WorksAtSizesNoArrayCouldHold) {
  const std::uint64_t size = (std::uint64_t{1} << 62) + 12345;
  const Permutation permutation(size, 1);
  EXPECT_LT(permutation(0), size);
  EXPECT_LT(permutation(size - 1), size);
  EXPECT_NE(permutation(0), permutation(1));
}

TEST(Permutation, AnotherKeyIsAnotherOrder) {
  for (const std::uint64_t size : {50, 1000}) {
    int equal = 0;
    for (std::uint64_t i = 0; i < size; ++i)
      equal += Permutation(size, 1)(i) == Permutation(size, 2)(i) ? 1 : 0;
    EXPECT_LT(equal, 10);
  }
}

// Where does position 0 go, over many keys? Evenly everywhere.
TEST(Permutation, EveryPlaceIsEquallyLikely) {
  for (const std::uint64_t size : {10, 100}) {
    constexpr int kKeys = 20'000;
    std::vector<int> counts(size, 0);
    for (std::uint64_t key = 0; key < kKeys; ++key)
      ++counts[Permutation(size, key)(3)];
    const double expected = kKeys / static_cast<double>(size);
    double chi_squared = 0;
    for (const int count : counts)
      chi_squared += (count - expected) * (count - expected) / expected;
    // Five standard deviations above the mean of the distribution.
    const double freedom = static_cast<double>(size) - 1;
    EXPECT_LT(chi_squared, freedom + 5 * std::sqrt(2 * freedom)) << size;
  }
}

TEST(Permutation, APositionOutsideIsABug) {
  EXPECT_THROW(Permutation(10, 0)(10), Bug);
}

} // namespace
} // namespace temper

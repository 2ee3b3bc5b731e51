#include "temper/base/random/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace temper {
namespace {

// From the known-answer file of Random123, the authors' own library.
TEST(Philox, GivesTheAuthorsKnownAnswers) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(
      philox({0, 0, 0, 0}, {0, 0}),
      (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      philox(
          {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
          {0xffffffff, 0xffffffff}),
      (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox(
          {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
          {0xa4093822, 0x299f31d0}),
      (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, IsAFunctionOfItsKeyAlone) {
  RandomStream a(7, 3, 100, 2);
  RandomStream b(7, 3, 100, 2);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(a.bits(), b.bits());
  EXPECT_EQ(a.substream(5).bits(), RandomStream(7, 3, 100, 5).bits());
}

TEST(RandomStream, DiffersInEveryPartOfTheKey) {
  std::set<std::uint32_t> firsts;
  for (const auto& stream :
       {RandomStream(1, 2, 3, 4),
        RandomStream(2, 2, 3, 4),
        RandomStream(std::uint64_t{1} << 32 | 1, 2, 3, 4),
        RandomStream(1, 3, 3, 4),
        RandomStream(1, 2, 4, 4),
        RandomStream(1, 2, std::uint64_t{1} << 32 | 3, 4),
        RandomStream(1, 2, 3, 5)}) {
    RandomStream copy = stream;
    firsts.insert(copy.bits());
  }
  EXPECT_EQ(firsts.size(), 7U);
}

TEST(RandomStream, DrawsAreEvenAndInRange) {
  RandomStream random(1, 1, 1);
  std::array<int, 10> counts{};
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    ++counts[random.below(10)];
    const double u = random.uniform(2, 4);
    EXPECT_GE(u, 2);
    EXPECT_LT(u, 4);
    const double z = random.normal();
    sum += z;
    squares += z * z;
  }
  for (const int count : counts)
    EXPECT_NEAR(count, kDraws / 10, 500); // five standard deviations
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
}

} // namespace
} // namespace temper

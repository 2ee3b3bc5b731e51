#include <gtest/gtest.h>

#include <array>

#include "temper/base/byte_order.h"
#include "temper/base/checkpoint_name.h"
#include "temper/base/cut_text.h"
#include "temper/base/hex.h"
#include "temper/base/statistics.h"

namespace temper {
namespace {

TEST(ByteOrder, NumbersAreReadFromEitherEnd) {
  const std::array<std::uint8_t, 8> bytes{1, 2, 3, 4, 5, 6, 7, 0xFF};
  EXPECT_EQ(read_big_endian<std::uint32_t>(bytes.data()), 0x01020304U);
  EXPECT_EQ(read_little_endian<std::uint32_t>(bytes.data()), 0x04030201U);
  EXPECT_EQ(read_little_endian<std::uint16_t>(bytes.data() + 1), 0x0302U);
  EXPECT_EQ(
      read_little_endian<std::uint64_t>(bytes.data()), 0xFF07060504030201U);
  EXPECT_EQ(little_endian_text(0x0102, 3), std::string("\2\1\0", 3));
}

TEST(Hex, BytesAreTwoDigitsEach) {
  EXPECT_EQ(hex_of_bytes(std::string("\0\x7f\xff", 3)), "007fff");
  EXPECT_EQ(random_hex(32).size(), 32U);
  EXPECT_NE(random_hex(32), random_hex(32));
}

TEST(Median, OfTwoInTheMiddleIsTheirMeanOrTheLarger) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(upper_median({3, 1, 2}), 2);
  EXPECT_EQ(upper_median({4, 1, 2, 3}), 3);
}

TEST(CutText, NoLetterIsCutInTwo) {
  EXPECT_EQ(cut_text("short", 5), "short");
  EXPECT_EQ(cut_text("longer", 4), "long");
  EXPECT_EQ(cut_text("caf\xC3\xA9s", 4), "caf");
  EXPECT_EQ(cut_text("caf\xC3\xA9s", 5), "caf\xC3\xA9");
}

TEST(CheckpointName, IsTheUpdateBehindItsPrefix) {
  EXPECT_EQ(checkpoint_name(12), "step-12");
  EXPECT_TRUE(names_checkpoint("step-12.before"));
  EXPECT_FALSE(names_checkpoint(".step-12"));
}

} // namespace
} // namespace temper

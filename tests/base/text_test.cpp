#include "temper/base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace temper {
namespace {

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
}

TEST(Text, WrapBreaksBetweenWordsOnly) {
  EXPECT_EQ(
      wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(
      wrap("unbreakable a", 4), (std::vector<std::string>{"unbreakable", "a"}));
  EXPECT_EQ(wrap("", 10), (std::vector<std::string>{""}));
}

TEST(Text, TrimRemovesBlanksOnBothSidesOnly) {
  EXPECT_EQ(trim("  a b\t\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, NumbersMustBeTheWholeText) {
  EXPECT_EQ(parse_int("-42"), -42);
  EXPECT_EQ(parse_int("42 "), std::nullopt);
  EXPECT_EQ(parse_int(""), std::nullopt);
  EXPECT_EQ(parse_int("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_double("0.5"), 0.5);
  EXPECT_EQ(parse_double(" 0.5"), std::nullopt);
  EXPECT_EQ(parse_double("0.5x"), std::nullopt);
}

TEST(Text, CountsCarryThousandsSeparators) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(-1234567), "-1,234,567");
  EXPECT_EQ(plural(1, "file"), "1 file");
  EXPECT_EQ(plural(2000, "file"), "2,000 files");
}

TEST(Text, BytesUseTheLargestUnitThatFits) {
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{24} << 30), "24.0 GiB");
  EXPECT_EQ(bytes_text(std::numeric_limits<std::uint64_t>::max()), "16384 PiB");
}

TEST(Text, DurationsReadNaturally) {
  EXPECT_EQ(seconds_text(0.0000035), "4 us");
  EXPECT_EQ(seconds_text(0.0031), "3.1 ms");
  EXPECT_EQ(seconds_text(59.94), "59.9 s");
  EXPECT_EQ(seconds_text(75), "1 min 15 s");
  EXPECT_EQ(seconds_text(7260), "2 h 1 min");
}

TEST(Text, PercentagesShowADashForWhatIsNoNumber) {
  EXPECT_EQ(percent_text(0.925, 1), "92.5 %");
  EXPECT_EQ(percent_text(0.8, 0), "80 %");
  EXPECT_EQ(percent_text(std::numeric_limits<double>::quiet_NaN(), 1), "-");
}

TEST(Text, NumbersAreJoinedByTheirSeparator) {
  EXPECT_EQ(numbers_text({3, 32, -1}, " x "), "3 x 32 x -1");
  EXPECT_EQ(numbers_text({}, ", "), "");
}

TEST(Text, HexadecimalNumbersHaveSixteenDigits) {
  EXPECT_EQ(hex_text(255), "00000000000000ff");
  EXPECT_EQ(hex_text(0x0123456789abcdef), "0123456789abcdef");
}

TEST(Text, PaddingNeverCutsAText) {
  EXPECT_EQ(padded("ab", 4), "ab  ");
  EXPECT_EQ(padded("abcde", 4), "abcde");
}

TEST(Text, VersionsCompareByNumber) {
  EXPECT_EQ(parse_version("2.14.0+cpu"), (Version{2, 14, 0}));
  EXPECT_EQ(parse_version("15"), (Version{15, 0, 0}));
  EXPECT_EQ(parse_version("13.x"), (Version{13, 0, 0}));
  EXPECT_EQ(parse_version("dev"), std::nullopt);
  EXPECT_LT(*parse_version("2.9.1"), *parse_version("2.14"));
}

} // namespace
} // namespace temper

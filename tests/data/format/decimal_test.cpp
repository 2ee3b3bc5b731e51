#include "temper/data/format/decimal.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "temper/base/random/philox.h"

namespace temper::data {
namespace {

TEST(Decimal, UsualSpellingsAreNumbers) {
  EXPECT_EQ(parse_decimal("0"), 0.0);
  EXPECT_EQ(parse_decimal("-1.5e3"), -1500.0);
  EXPECT_EQ(parse_decimal(".5"), 0.5);
  EXPECT_EQ(parse_decimal("7."), 7.0);
  EXPECT_EQ(parse_decimal("+2"), 2.0);
  EXPECT_EQ(parse_decimal("1E-2"), 0.01);
  EXPECT_EQ(parse_decimal("0.1"), 0.1);
  EXPECT_EQ(parse_decimal("000000000000000000000000012.50"), 12.5);
  EXPECT_EQ(parse_decimal("0e999999999999"), 0.0);
  EXPECT_EQ(parse_decimal("1e-40"), 1e-40);
  EXPECT_EQ(
      parse_decimal("123456789012345678901234567890"), 1.2345678901234568e29);
  EXPECT_TRUE(std::signbit(*parse_decimal("-0")));
}

TEST(Decimal, AnythingElseIsNot) {
  for (const char* text :
       {"",
        ".",
        "-",
        "+",
        "e5",
        "1e",
        "1e+",
        "1e5x",
        " 1",
        "1 ",
        "1,5",
        "0x10",
        "inf",
        "nan",
        "--1",
        "1.2.3",
        "1e999",
        "1_000"})
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  EXPECT_EQ(parse_decimal(std::string(1000, '1')), std::nullopt);
}

TEST(Decimal, FloatsAreThoseOfTheLibraryForEveryPrecision) {
  RandomStream random(1, 0, 0);
  char text[64];
  for (int i = 0; i < 100000; ++i) {
    const double value =
        random.normal() * std::pow(10.0, random.uniform(-20, 20));
    const int digits = 1 + static_cast<int>(random.below(19));
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    const double exact = std::strtod(text, nullptr);
    const auto parsed = parse_decimal(text);
    ASSERT_TRUE(parsed) << text;
    if (digits <= 15) {
      ASSERT_EQ(*parsed, exact) << text;
    }
    ASSERT_EQ(static_cast<float>(*parsed), static_cast<float>(exact)) << text;
    ASSERT_NEAR(*parsed, exact, std::abs(exact) * 1e-15) << text;
  }
}

TEST(Decimal, TextNextToTheMiddleOfTwoFloatsFallsOnTheRightSide) {
  char text[64];
  RandomStream random(2, 0, 0);
  for (int i = 0; i < 20000; ++i) {
    const float low = static_cast<float>(random.uniform(1, 2));
    const double middle =
        (double{low} + double{std::nextafterf(low, FLT_MAX)}) / 2;
    std::snprintf(text, sizeof text, "%.17f", middle);
    ASSERT_EQ(
        static_cast<float>(*parse_decimal(text)),
        static_cast<float>(std::strtod(text, nullptr)))
        << text;
  }
}

} // namespace
} // namespace temper::data

#include "temper/base/nearest.h"

#include <gtest/gtest.h>

namespace temper {
namespace {

TEST(Nearest, DistanceCountsASwapAsOneSlip) {
  EXPECT_EQ(edit_distance("doctor", "doctor"), 0U);
  EXPECT_EQ(edit_distance("doctro", "doctor"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, ASlipFindsTheWordMeant) {
  const std::vector<std::string> known{"train", "doctor", "data"};
  EXPECT_EQ(nearest("docter", known), "doctor");
  EXPECT_EQ(nearest("Trian", known), "train");
  EXPECT_EQ(nearest("dat", known), "data");
}

TEST(Nearest, AnotherWordFindsNothing) {
  EXPECT_EQ(nearest("frobnicate", {"train", "doctor"}), std::nullopt);
  EXPECT_EQ(nearest("x", {"train"}), std::nullopt);
  EXPECT_EQ(nearest("train", {}), std::nullopt);
}

} // namespace
} // namespace temper

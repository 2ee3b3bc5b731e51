#include "temper/supervise/patience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::supervise {
namespace {

using testing::HasSubstr;

TEST(Patience, ATrainerThatMakesProgressIsStartedAgainAtOnce) {
  Patience patience;
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(patience.after(10 * i, true), 0);
}

TEST(Patience, WithoutProgressTheWaitsDouble) {
  Patience patience;
  EXPECT_EQ(patience.after(5, false), 0);
  EXPECT_EQ(patience.after(6, false), 1);
  EXPECT_EQ(patience.after(7, false), 2);
  EXPECT_EQ(patience.after(8, false), 4);
  EXPECT_EQ(patience.after(9, true), 0);
  EXPECT_EQ(patience.after(10, false), 1);
}

TEST(Patience, TheSameStepThreeTimesInARowIsTheEnd) {
  Patience patience;
  EXPECT_TRUE(patience.after(41, false));
  EXPECT_TRUE(patience.after(40, false));
  EXPECT_TRUE(patience.after(41, false));
  EXPECT_TRUE(patience.after(41, true));
  EXPECT_FALSE(patience.after(41, false));
  EXPECT_THAT(patience.verdict(), HasSubstr("3 times in a row in step 42"));
}

TEST(Patience, SoIsNeverGettingToTheFirstStep) {
  Patience patience;
  EXPECT_TRUE(patience.after(-1, false));
  EXPECT_TRUE(patience.after(-1, false));
  EXPECT_FALSE(patience.after(-1, false));
  EXPECT_THAT(patience.verdict(), HasSubstr("before its first step"));
}

TEST(Patience, SoIsDyingHereAndThereWithoutAnotherCheckpoint) {
  Patience patience;
  for (int i = 1; i < Patience::kNoProgress; ++i) {
    const auto wait_s = patience.after(i, false);
    ASSERT_TRUE(wait_s);
    EXPECT_LE(*wait_s, 60);
  }
  EXPECT_FALSE(patience.after(100, false));
  EXPECT_THAT(patience.verdict(), HasSubstr("without another checkpoint"));
}

} // namespace
} // namespace temper::supervise

#include "temper/checkpoint/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace temper::checkpoint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(Retention, TwoGoodOnesStayWhateverIsAsked) {
  EXPECT_THAT(
      to_remove({{1, true, {}}, {2, true, {}}, {3, true, {}}}, {0, 0}, {}),
      ElementsAre(1));
  EXPECT_THAT(
      to_remove({{1, true, {}}, {2, false, {}}, {3, true, {}}}, {2, 0}, {}),
      IsEmpty())
      << "without the first there would be one good one";
}

TEST(Retention, WhatIsDamagedGoesWhenEnoughNewerOnesAreGood) {
  EXPECT_THAT(
      to_remove({{1, false, {}}, {2, true, {}}, {3, true, {}}}, {2, 1}, {}),
      ElementsAre(1));
}

TEST(Retention, WhatIsNotFiniteIsNeverAmongTheBest) {
  const std::vector<Candidate> all{
      {1, true, HUGE_VAL},
      {2, true, std::nan("")},
      {3, true, -2.0},
      {4, true, {}},
      {5, true, {}}};
  EXPECT_THAT(to_remove(all, {2, 1}, {}), UnorderedElementsAre(1, 2));
}

TEST(Retention, TheBestStayAndOfEqualsTheEarlier) {
  const std::vector<Candidate> all{
      {1, true, 5.0},
      {2, true, 5.0},
      {3, true, 9.0},
      {4, true, 1.0},
      {5, true, {}},
      {6, true, {}}};
  EXPECT_THAT(to_remove(all, {2, 2}, {}), UnorderedElementsAre(2, 4));
  EXPECT_THAT(to_remove(all, {2, 1}, 4), UnorderedElementsAre(1, 2));
}

} // namespace
} // namespace temper::checkpoint

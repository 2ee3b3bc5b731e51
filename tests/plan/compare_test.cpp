#include "temper/plan/compare.h"

#include <gtest/gtest.h>

namespace temper::plan {
namespace {

TEST(Compare, PairsThatAreSlowedAlikeAreToldApart) {
  // Recorded on two cores while a compiler ran: ms a step, round by round.
  const std::vector<double> contiguous{16.0, 77.7, 24.4, 19.2, 45.8, 41.8};
  std::vector<double> faster;
  for (const double each : contiguous)
    faster.push_back(each * 0.8);
  const Comparison seen = compare(faster, contiguous);
  EXPECT_NEAR(seen.ratio, 0.8, 1e-9);
  EXPECT_TRUE(seen.faster());
  EXPECT_TRUE(compare(contiguous, faster).slower());
  EXPECT_TRUE(seen.settled());
}

TEST(Compare, NoiseOfEachIsNoLead) {
  const std::vector<double> one{16.0, 77.7, 24.4, 19.2, 45.8, 41.8};
  const std::vector<double> other{24.4, 19.2, 16.0, 41.8, 77.7, 45.8};
  const Comparison seen = compare(one, other);
  EXPECT_FALSE(seen.faster());
  EXPECT_FALSE(seen.slower());
  EXPECT_FALSE(seen.settled());
}

TEST(Compare, FewPairsMustBeFarApart) {
  EXPECT_FALSE(compare({0.9}, {1.0}).faster());
  EXPECT_TRUE(compare({0.5}, {1.0}).faster());
  EXPECT_FALSE(compare({0.95, 0.95, 0.95}, {1, 1, 1}).faster());
  const std::vector<double> ones(20, 1.0);
  EXPECT_TRUE(compare(std::vector<double>(20, 0.95), ones).faster());
}

TEST(Compare, ADifferenceTooSmallToMatterIsSettledAsEqual) {
  const std::vector<double> ones(20, 1.0);
  const Comparison seen = compare(std::vector<double>(20, 0.99), ones);
  EXPECT_FALSE(seen.faster());
  EXPECT_TRUE(seen.settled());
}

TEST(Compare, OneStallChangesNothing) {
  const Comparison seen =
      compare({0.7, 0.7, 40, 0.7, 0.7, 0.7}, {1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(seen.faster());
  EXPECT_NEAR(spread_of({1, 1.02, 0.98, 1, 50}), 0.03, 0.02);
}

TEST(Compare, NoTimeAtAllIsNoAnswer) {
  const Comparison seen = compare({0, 0}, {0, 0});
  EXPECT_FALSE(seen.faster());
  EXPECT_FALSE(seen.slower());
}

} // namespace
} // namespace temper::plan

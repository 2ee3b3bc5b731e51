#include "temper/data/loader/order.h"

#include <gtest/gtest.h>

#include <set>

namespace temper::data {
namespace {

TEST(Order, IsABijectionThatChangesWithSeedAndEpoch) {
  const auto all = [](const Order& order) {
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < order.size(); ++i)
      indices.push_back(order.index(i));
    return indices;
  };
  const auto first = all(Order(1000, true, 1, 0));
  EXPECT_EQ(std::set<std::int64_t>(first.begin(), first.end()).size(), 1000U);
  EXPECT_EQ(all(Order(1000, true, 1, 0)), first);
  EXPECT_NE(all(Order(1000, true, 1, 1)), first);
  EXPECT_NE(all(Order(1000, true, 2, 0)), first);
  EXPECT_EQ(all(Order(3, false, 2, 0)), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(Order, SubstitutesAreFixedAndSpreadOut) {
  const Order order(1000, true, 1, 0);
  std::set<std::int64_t> seen;
  for (std::int64_t position = 0; position < 100; ++position)
    for (int attempt = 0; attempt < 10; ++attempt) {
      const auto index = order.substitute(position, attempt);
      EXPECT_EQ(index, Order(1000, true, 1, 0).substitute(position, attempt));
      ASSERT_GE(index, 0);
      ASSERT_LT(index, 1000);
      seen.insert(index);
    }
  EXPECT_GT(seen.size(), 550U);
}

} // namespace
} // namespace temper::data

#include "temper/train/metrics/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

namespace temper::train {
namespace {

graph::TensorData tensor(const std::vector<float>& numbers) {
  auto made = graph::make_tensor(
      graph::DType::kFloat32, {static_cast<std::int64_t>(numbers.size())});
  if (!numbers.empty())
    std::memcpy(made.bytes, numbers.data(), numbers.size() * sizeof(float));
  return made.data;
}

TEST(Histogram, CountsEveryFiniteNumberOnce) {
  const auto spread =
      histogram_of(tensor({-1, 0, NAN, 0.5F, 2, HUGE_VALF, -HUGE_VALF}));
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->low, -1);
  EXPECT_EQ(spread->high, 2);
  ASSERT_EQ(spread->counts.size(), 30U);
  EXPECT_EQ(spread->counts.front(), 1);
  EXPECT_EQ(spread->counts[10], 1); // 0 is a third of the way
  EXPECT_EQ(spread->counts[15], 1);
  EXPECT_EQ(spread->counts.back(), 1);
  EXPECT_EQ(
      std::accumulate(spread->counts.begin(), spread->counts.end(), 0), 4);
}

TEST(Histogram, OfEqualNumbersIsOneBucketAndOfNoneNothing) {
  EXPECT_THAT(histogram_of(tensor({3, 3, 3}))->counts, testing::ElementsAre(3));
  EXPECT_FALSE(histogram_of(tensor({})));
  EXPECT_FALSE(histogram_of(tensor({NAN, HUGE_VALF})));
  EXPECT_FALSE(
      histogram_of(graph::make_tensor(graph::DType::kInt64, {2}).data));
  // The widest there is: no bucket is beside them.
  const float most = 3.4028235e38F;
  EXPECT_EQ(histogram_of(tensor({-most, most}))->counts.back(), 1);
}

TEST(Histogram, IsWrittenByName) {
  const auto all = nlohmann::json::parse(
      spreads_json({{"a", tensor({1, 2})}, {"b", tensor({NAN})}}));
  EXPECT_EQ(all.size(), 1U);
  EXPECT_EQ(all.at("a").at("low"), 1);
  EXPECT_EQ(all.at("a").at("counts").size(), 30U);
}

} // namespace
} // namespace temper::train

#include "temper/kernels/gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/kernels/vector_units.h"

namespace temper::kernels {
namespace {

std::vector<float> numbers(std::size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> any(0, 3);
  std::vector<float> made(count);
  for (float& each : made)
    each = any(random);
  return made;
}

constexpr std::size_t kLengths[] = {0, 1, 15, 16, 127, 128, 129, 1021, 16384};

// Number i belongs to the sum of i % 16; then the sums in their order.
double by_definition(const std::vector<float>& all) {
  double sums[16] = {};
  for (std::size_t i = 0; i < all.size(); ++i)
    sums[i % 16] += static_cast<double>(all[i]) * static_cast<double>(all[i]);
  double sum = 0;
  for (const double each : sums)
    sum += each;
  return sum;
}

TEST(Gradient, TheSumOfSquaresHasTheSameBitsOnEveryVectorUnit) {
  on_every_vector_unit([] {
    for (const std::size_t count : kLengths) {
      const std::vector<float> all = numbers(count);
      EXPECT_EQ(sum_of_squares(count, all.data()), by_definition(all)) << count;
    }
  });
}

// The largest float squared is no infinity in float64; what is not finite
// shows wherever it stands.
TEST(Gradient, TheSumOfSquaresIsFiniteOnlyIfAllNumbersAre) {
  on_every_vector_unit([] {
    std::vector<float> all = numbers(1021);
    all[100] = std::numeric_limits<float>::max();
    EXPECT_TRUE(std::isfinite(sum_of_squares(all.size(), all.data())));
    for (const std::size_t at : {0U, 77U, 1020U})
      for (const float bad :
           {std::numeric_limits<float>::infinity(),
            std::numeric_limits<float>::quiet_NaN()}) {
        std::vector<float> worse = all;
        worse[at] = bad;
        EXPECT_FALSE(std::isfinite(sum_of_squares(worse.size(), worse.data())));
      }
  });
}

TEST(Gradient, ClippingIsItsFormulaToTheBitOnEveryVectorUnit) {
  for (const float limit : {0.0F, 0.5F})
    for (const float factor : {1.0F, 0.37F})
      on_every_vector_unit([&] {
        for (const std::size_t count : kLengths) {
          std::vector<float> expected = numbers(count);
          for (float& each : expected) {
            each *= factor;
            if (limit > 0) each = std::clamp(each, -limit, limit);
          }
          std::vector<float> found = numbers(count);
          clip({factor, limit}, count, found.data());
          EXPECT_EQ(found, expected) << count;
        }
      });
}

} // namespace
} // namespace temper::kernels

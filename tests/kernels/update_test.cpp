#include "temper/kernels/update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "tests/kernels/vector_units.h"

namespace temper::kernels {
namespace {

// A length that no vector divides.
constexpr std::size_t kCount = 1021;

struct Numbers {
  std::vector<float> gradient;
  std::vector<float> weight;
  std::vector<float> first;
  std::vector<float> second;

  Numbers() {
    std::mt19937 random(11);
    std::normal_distribution<float> any(0, 1);
    for (std::size_t i = 0; i < kCount; ++i) {
      gradient.push_back(any(random));
      weight.push_back(any(random));
      first.push_back(any(random));
      second.push_back(std::abs(any(random)));
    }
    gradient[5] = 0;
    first[5] = 0;
  }
};

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), kCount * sizeof(float)) == 0;
}

// `one` is the definition, a number at a time; `run` the kernel over a run.
void expect_same(
    const std::function<void(Numbers&, std::size_t i)>& one,
    const std::function<void(Numbers&, std::size_t from, std::size_t count)>&
        run) {
  Numbers expected;
  for (std::size_t i = 0; i < kCount; ++i)
    one(expected, i);
  on_every_vector_unit([&] {
    for (const std::size_t cut : {kCount, std::size_t{1}, std::size_t{67}}) {
      Numbers found;
      run(found, 0, cut);
      if (cut < kCount) run(found, cut, kCount - cut);
      EXPECT_TRUE(same(found.weight, expected.weight)) << cut;
      EXPECT_TRUE(same(found.first, expected.first)) << cut;
      EXPECT_TRUE(same(found.second, expected.second)) << cut;
    }
  });
}

TEST(Update, SgdIsItsFormulaToTheBitOnEveryVectorUnit) {
  for (const bool nesterov : {false, true})
    for (const bool keeps : {false, true})
      for (const float l2 : {0.0F, 0.01F}) {
        SgdRule rule;
        rule.rate = 0.1F;
        rule.momentum = 0.9F;
        rule.l2 = l2;
        rule.nesterov = nesterov;
        expect_same(
            [&](Numbers& n, std::size_t i) {
              float way = n.gradient[i];
              if (l2 != 0) way = way + n.weight[i] * l2;
              if (keeps) {
                n.first[i] = n.first[i] * 0.9F + way;
                way = nesterov ? way + n.first[i] * 0.9F : n.first[i];
              }
              n.weight[i] = n.weight[i] - way * 0.1F;
            },
            [&](Numbers& n, std::size_t from, std::size_t count) {
              sgd(rule,
                  count,
                  n.gradient.data() + from,
                  n.weight.data() + from,
                  keeps ? n.first.data() + from : nullptr);
            });
      }
}

TEST(Update, AdamIsItsFormulaToTheBitOnEveryVectorUnit) {
  for (const bool decoupled : {false, true}) {
    AdamRule rule;
    rule.rate = 0.02F;
    rule.keep = decoupled ? 0.999F : 1.0F;
    rule.l2 = decoupled ? 0.0F : 0.01F;
    rule.correction = 0.7F;
    rule.eps = 1e-8F;
    expect_same(
        [&](Numbers& n, std::size_t i) {
          const float old = n.weight[i] * rule.keep;
          const float way = n.gradient[i] + old * rule.l2;
          n.first[i] = n.first[i] * rule.beta1 + way * rule.rest1;
          n.second[i] = n.second[i] * rule.beta2 + way * rule.rest2 * way;
          const float spread =
              std::sqrt(n.second[i]) / rule.correction + rule.eps;
          n.weight[i] = old - n.first[i] * rule.rate / spread;
        },
        [&](Numbers& n, std::size_t from, std::size_t count) {
          adam(
              rule,
              count,
              n.gradient.data() + from,
              n.weight.data() + from,
              n.first.data() + from,
              n.second.data() + from);
        });
  }
}

TEST(Update, LionIsItsFormulaToTheBitOnEveryVectorUnit) {
  LionRule rule;
  rule.rate = 0.01F;
  rule.keep = 0.999F;
  expect_same(
      [&](Numbers& n, std::size_t i) {
        const float way = n.first[i] * rule.beta1 + n.gradient[i] * rule.rest1;
        const float sign = way > 0 ? rule.rate : way < 0 ? -rule.rate : 0.0F;
        n.weight[i] = n.weight[i] * rule.keep - sign;
        n.first[i] = n.first[i] * rule.beta2 + n.gradient[i] * rule.rest2;
      },
      [&](Numbers& n, std::size_t from, std::size_t count) {
        lion(
            rule,
            count,
            n.gradient.data() + from,
            n.weight.data() + from,
            n.first.data() + from);
      });
}

TEST(Update, AnAverageApproachesToTheBitOnEveryVectorUnit) {
  for (const float by : {0.001F, 0.9F})
    expect_same(
        [&](Numbers& n, std::size_t i) {
          const float way = n.gradient[i] - n.first[i];
          n.first[i] = by < 0.5F ? n.first[i] + way * by
                                 : n.gradient[i] - way * (1 - by);
        },
        [&](Numbers& n, std::size_t from, std::size_t count) {
          approach(by, count, n.gradient.data() + from, n.first.data() + from);
        });
}

} // namespace
} // namespace temper::kernels

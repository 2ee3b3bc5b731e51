#include "temper/data/source/synthetic_source.h"

#include <gmock/gmock.h>

#include <cmath>

#include "temper/base/digest/hash.h"
#include "tests/complaint.h"

namespace temper::data {
namespace {

using testing::HasSubstr;
using tests::complaint;

TEST(SyntheticSource, AnImageDependsOnItsIndexAlone) {
  const Splits splits =
      open_synthetic("images=100,size=17,channels=3,classes=7", {});
  Sample a;
  Sample b;
  splits.train->read(40, a);
  splits.train->read(3, b);
  splits.train->read(40, b);
  ASSERT_EQ(a.image.bytes(), 17U * 17 * 3);
  EXPECT_EQ(
      hash64(a.image.pixels(), a.image.bytes()),
      hash64(b.image.pixels(), b.image.bytes()));
  EXPECT_EQ(a.label, 40 % 7);
  splits.val->read(0, b);
  EXPECT_EQ(splits.val->size(), 10);
  EXPECT_NE(
      hash64(a.image.pixels(), a.image.bytes()),
      hash64(b.image.pixels(), b.image.bytes()));
}

// Written down once; another value on another system is a defect.
TEST(SyntheticSource, PixelsRowsAndTokensAreTheSameEverywhere) {
  Sample sample;
  open_synthetic("images=100", {}).train->read(17, sample);
  EXPECT_EQ(
      hash64(sample.image.pixels(), sample.image.bytes()),
      1518770200290034457U);
  open_synthetic("rows=100,targets=2", {}).train->read(17, sample);
  EXPECT_EQ(
      hash64(sample.numbers.data(), sample.numbers.size() * sizeof(float)),
      11835727743055295581U);
  EXPECT_EQ(
      hash64(sample.target_numbers.data(), 2 * sizeof(float)),
      16167912998515780375U);
  open_synthetic("tokens=10000", {}).train->read(17, sample);
  EXPECT_EQ(
      hash64(sample.tokens.data(), sample.tokens.size() * 8),
      7378770925803386305U);
}

// The nearest class mean, learnt from one half, must name the other half.
double nearest_mean_accuracy(const IndexedSource& source, int classes) {
  const auto features = [](const Sample& sample) {
    if (!sample.numbers.empty())
      return std::vector<double>(sample.numbers.begin(), sample.numbers.end());
    return std::vector<double>(
        sample.image.pixels(), sample.image.pixels() + sample.image.bytes());
  };
  std::vector<std::vector<double>> means(static_cast<std::size_t>(classes));
  Sample sample;
  const std::int64_t half = source.size() / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    source.read(i, sample);
    const auto x = features(sample);
    auto& mean = means[static_cast<std::size_t>(sample.label)];
    mean.resize(x.size());
    for (std::size_t f = 0; f < x.size(); ++f)
      mean[f] += x[f] * classes / static_cast<double>(half);
  }
  int right = 0;
  for (std::int64_t i = half; i < source.size(); ++i) {
    source.read(i, sample);
    const auto x = features(sample);
    double least = INFINITY;
    std::int64_t guess = 0;
    for (std::size_t c = 0; c < means.size(); ++c) {
      double distance = 0;
      for (std::size_t f = 0; f < x.size(); ++f)
        distance += (x[f] - means[c][f]) * (x[f] - means[c][f]);
      if (distance >= least) continue;
      least = distance;
      guess = static_cast<std::int64_t>(c);
    }
    right += guess == sample.label ? 1 : 0;
  }
  return right / static_cast<double>(source.size() - half);
}

TEST(SyntheticSource, ClassesCanBeLearnt) {
  const Splits images = open_synthetic("images=600,size=16,classes=4", {});
  EXPECT_GT(nearest_mean_accuracy(*images.train, 4), 0.8);
  const Splits rows = open_synthetic("rows=1000,features=20,classes=2", {});
  const double accuracy = nearest_mean_accuracy(*rows.train, 2);
  EXPECT_GT(accuracy, 0.8);
}

TEST(SyntheticSource, TokensFollowARule) {
  const Splits splits =
      open_synthetic("tokens=64000,vocabulary=16,sequence=64", {});
  ASSERT_EQ(splits.train->size(), 1000);
  std::vector<std::vector<int>> follows(16, std::vector<int>(16));
  Sample sample;
  for (std::int64_t i = 0; i < 1000; ++i) {
    splits.train->read(i, sample);
    for (std::size_t t = 0; t < 64; ++t) {
      ++follows[static_cast<std::size_t>(sample.tokens[t])]
               [static_cast<std::size_t>(sample.target_tokens[t])];
      if (t > 0) {
        ASSERT_EQ(sample.tokens[t], sample.target_tokens[t - 1]);
      }
    }
  }
  int best = 0;
  for (const auto& row : follows)
    best += *std::max_element(row.begin(), row.end());
  EXPECT_GT(best, 64000 * 7 / 10);
}

TEST(SyntheticSource, TargetsAreALinearRuleOfTheFeatures) {
  const Splits splits = open_synthetic("rows=10,features=3,targets=1", {});
  Sample sample;
  splits.train->read(1, sample);
  EXPECT_EQ(splits.train->info().target, Target::numbers);
  EXPECT_EQ(sample.numbers.size(), 3U);
  EXPECT_EQ(sample.target_numbers.size(), 1U);
}

TEST(SyntheticSource, AThousandBillionSamplesTakeNoMemory) {
  const Splits splits = open_synthetic("images=1099511627776,size=8", {});
  Sample first;
  Sample last;
  splits.train->read(0, first);
  splits.train->read(splits.train->size() - 1, last);
  EXPECT_NE(
      hash64(first.image.pixels(), first.image.bytes()),
      hash64(last.image.pixels(), last.image.bytes()));
}

TEST(SyntheticSource, AWrongSpecSaysWhatIsWrong) {
  const auto refusal = [](const char* spec) {
    return complaint([&] { parse_synthetic(spec, 128); });
  };
  EXPECT_THAT(refusal("imags=10"), HasSubstr("Did you mean images?"));
  EXPECT_THAT(refusal("images=0"), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal("images=10,images=10"), HasSubstr("twice"));
  EXPECT_THAT(refusal("images=10,features=3"), HasSubstr("does not go with"));
  EXPECT_THAT(refusal("images=10,rows=3"), HasSubstr("exclude"));
  EXPECT_THAT(refusal("size=3"), HasSubstr("needs images="));
  EXPECT_THAT(refusal(""), HasSubstr("key=number"));
  EXPECT_THAT(refusal("images=10,channels=2"), HasSubstr("1 or 3"));
  EXPECT_THAT(refusal("rows=9,classes=2,targets=1"), HasSubstr("exclude"));
  EXPECT_THAT(refusal("tokens=100"), HasSubstr("fewer tokens"));
  EXPECT_THAT(refusal("images=99999999999999999999"), HasSubstr("from 1"));
}

TEST(SyntheticSource, AnotherSpecIsAnotherFingerprint) {
  const auto print = [](const char* spec) {
    return open_synthetic(spec, {}).train->fingerprint();
  };
  EXPECT_EQ(print("images=10"), print("images=10,size=32"));
  EXPECT_NE(print("images=10"), print("images=11"));
  EXPECT_NE(print("images=10"), print("images=10,seed=1"));
}

} // namespace
} // namespace temper::data

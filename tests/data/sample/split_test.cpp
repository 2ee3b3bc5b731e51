#include "temper/data/sample/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/complaint.h"

namespace temper::data {
namespace {

using testing::HasSubstr;
using tests::complaint;

class CountingSource final : public IndexedSource {
 public:
  explicit CountingSource(std::int64_t size) : size_(size) {
    info_.name = "counting";
  }
  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return size_;
  }
  void read(std::int64_t index, Sample& sample) const override {
    sample.label = index;
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return index;
  }
  std::uint64_t fingerprint() const override {
    return 17;
  }

 private:
  std::int64_t size_;
  SourceInfo info_;
};

std::vector<std::int64_t> labels_in(const IndexedSource& source) {
  std::vector<std::int64_t> all;
  Sample sample;
  for (std::int64_t i = 0; i < source.size(); ++i) {
    source.read(i, sample);
    EXPECT_EQ(source.label(i), sample.label);
    all.push_back(sample.label);
  }
  return all;
}

TEST(Split, EverySampleIsInExactlyOnePart) {
  for (const std::int64_t size : {2, 3, 10, 63, 64, 65, 1000}) {
    const auto whole = std::make_shared<CountingSource>(size);
    const Splits parts = split_at_random(whole, 0.1, 5);
    std::set<std::int64_t> seen;
    for (const auto* part : {parts.train.get(), parts.val.get()})
      for (const std::int64_t index : labels_in(*part))
        EXPECT_TRUE(seen.insert(index).second);
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), size);
    EXPECT_EQ(parts.val->size(), std::max<std::int64_t>(1, (size + 5) / 10));
  }
}

TEST(Split, TheSeedDecidesWhichOnes) {
  const auto whole = std::make_shared<CountingSource>(500);
  const Splits one = split_at_random(whole, 0.2, 1);
  EXPECT_EQ(
      labels_in(*one.val), labels_in(*split_at_random(whole, 0.2, 1).val));
  EXPECT_NE(
      labels_in(*one.val), labels_in(*split_at_random(whole, 0.2, 2).val));
  EXPECT_NE(
      one.val->fingerprint(),
      split_at_random(whole, 0.2, 2).val->fingerprint());
  EXPECT_NE(one.val->fingerprint(), one.train->fingerprint());
}

TEST(Split, APartNamesTheSamplesOfTheWhole) {
  const auto whole = std::make_shared<CountingSource>(100);
  const Splits parts = split_at_random(whole, 0.5, 3);
  const std::int64_t index = *parts.val->label(7);
  EXPECT_EQ(parts.val->describe(7), whole->describe(index));
}

TEST(Split, NoFractionLeavesEverythingForTraining) {
  const auto whole = std::make_shared<CountingSource>(9);
  const Splits parts = split_at_random(whole, 0, 3);
  EXPECT_EQ(parts.train, whole);
  EXPECT_EQ(parts.val, nullptr);
}

TEST(Split, WhatCannotBeDividedIsRefused) {
  const auto one = std::make_shared<CountingSource>(1);
  EXPECT_THAT(
      complaint([&] { split_at_random(one, 0.1, 0); }),
      HasSubstr("too few to divide"));
  for (const double fraction : {-0.1, 1.0, std::nan("")})
    EXPECT_THAT(
        complaint([&] { split_at_random(one, fraction, 0); }),
        HasSubstr("data.val_fraction"));
}

// Labels in runs, as a folder has them: 60 of class 0, 30 of 1, 9 of 2, 1 of 3.
class ImbalancedSource final : public IndexedSource {
 public:
  ImbalancedSource() {
    info_.name = "imbalanced";
    info_.classes = {"0", "1", "2", "3"};
  }
  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return 100;
  }
  void read(std::int64_t index, Sample& sample) const override {
    sample.label = *label(index);
    sample.tokens = {index};
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return index < 60 ? 0 : index < 90 ? 1 : index < 99 ? 2 : 3;
  }
  std::uint64_t fingerprint() const override {
    return 18;
  }

 private:
  SourceInfo info_;
};

std::vector<std::int64_t> classes_in(const IndexedSource& source) {
  std::vector<std::int64_t> counts(4);
  for (std::int64_t i = 0; i < source.size(); ++i)
    ++counts[static_cast<std::size_t>(*source.label(i))];
  return counts;
}

TEST(StratifiedSplit, GivesBothPartsTheSameShareOfEveryClass) {
  OpenOptions options;
  options.val_fraction = 0.2;
  const auto whole = std::make_shared<ImbalancedSource>();
  for (const std::uint64_t seed : {0, 1, 2}) {
    options.seed = seed;
    const Splits parts = divide(whole, options);
    EXPECT_EQ(classes_in(*parts.val), (std::vector<std::int64_t>{12, 6, 2, 0}));
    EXPECT_EQ(
        classes_in(*parts.train), (std::vector<std::int64_t>{48, 24, 7, 1}));
    std::set<std::int64_t> seen;
    Sample sample;
    for (const auto* part : {parts.train.get(), parts.val.get()})
      for (std::int64_t i = 0; i < part->size(); ++i) {
        part->read(i, sample);
        EXPECT_TRUE(seen.insert(sample.tokens[0]).second);
      }
    EXPECT_EQ(seen.size(), 100U);
  }
}

TEST(StratifiedSplit, TheSeedDecidesAndTheFirstSamplesAreOfAllClasses) {
  OpenOptions options;
  const auto whole = std::make_shared<ImbalancedSource>();
  const Splits one = divide(whole, options);
  const Splits again = divide(whole, options);
  options.seed = 5;
  const Splits other = divide(whole, options);
  const auto names = [](const IndexedSource& source) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < source.size(); ++i)
      all.push_back(source.describe(i));
    return all;
  };
  EXPECT_EQ(names(*one.train), names(*again.train));
  EXPECT_EQ(one.train->fingerprint(), again.train->fingerprint());
  EXPECT_NE(names(*one.train), names(*other.train));
  EXPECT_NE(one.train->fingerprint(), other.train->fingerprint());
  std::set<std::int64_t> first; // data.limit takes them
  for (std::int64_t i = 0; i < 20; ++i)
    first.insert(*one.train->label(i));
  EXPECT_GE(first.size(), 2U);
}

TEST(StratifiedSplit, IsRandomWhereThatIsAskedForOrNoLabelsAreKnown) {
  OpenOptions options;
  options.stratified = false;
  const auto whole = std::make_shared<ImbalancedSource>();
  const Splits random = divide(whole, options);
  const Splits plain =
      split_at_random(whole, options.val_fraction, options.seed);
  EXPECT_EQ(random.val->fingerprint(), plain.val->fingerprint());
  options.whole = true;
  EXPECT_EQ(divide(whole, options).train, whole);
}

} // namespace
} // namespace temper::data

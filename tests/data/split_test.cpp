#include "temper/data/split.h"

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

std::vector<std::int64_t> contents(const IndexedSource& source) {
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
    const Splits parts = split(whole, 0.1, 5);
    std::set<std::int64_t> seen;
    for (const auto* part : {parts.train.get(), parts.val.get()})
      for (const std::int64_t index : contents(*part))
        EXPECT_TRUE(seen.insert(index).second);
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), size);
    EXPECT_EQ(parts.val->size(), std::max<std::int64_t>(1, (size + 5) / 10));
  }
}

TEST(Split, TheSeedDecidesWhichOnes) {
  const auto whole = std::make_shared<CountingSource>(500);
  const Splits one = split(whole, 0.2, 1);
  EXPECT_EQ(contents(*one.val), contents(*split(whole, 0.2, 1).val));
  EXPECT_NE(contents(*one.val), contents(*split(whole, 0.2, 2).val));
  EXPECT_NE(one.val->fingerprint(), split(whole, 0.2, 2).val->fingerprint());
  EXPECT_NE(one.val->fingerprint(), one.train->fingerprint());
}

TEST(Split, APartNamesTheSamplesOfTheWhole) {
  const auto whole = std::make_shared<CountingSource>(100);
  const Splits parts = split(whole, 0.5, 3);
  const std::int64_t index = *parts.val->label(7);
  EXPECT_EQ(parts.val->describe(7), whole->describe(index));
}

TEST(Split, NoFractionLeavesEverythingForTraining) {
  const auto whole = std::make_shared<CountingSource>(9);
  const Splits parts = split(whole, 0, 3);
  EXPECT_EQ(parts.train, whole);
  EXPECT_EQ(parts.val, nullptr);
}

TEST(Split, WhatCannotBeDividedIsRefused) {
  const auto one = std::make_shared<CountingSource>(1);
  EXPECT_THAT(
      complaint([&] { split(one, 0.1, 0); }), HasSubstr("too few to divide"));
  for (const double fraction : {-0.1, 1.0, std::nan("")})
    EXPECT_THAT(
        complaint([&] { split(one, fraction, 0); }),
        HasSubstr("data.val_fraction"));
}

} // namespace
} // namespace temper::data

// Floats that nobody has standardised are, by the training part; others stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "temper/base/text.h"
#include "temper/data/open/open.h"
#include "tests/data/format/npy_file.h"
#include "tests/data/format_bytes.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The first number of each sample as the network gets it, where `value` is
// what the file has.
std::vector<float> opened(
    const tests::TempFolder& folder,
    const std::function<double(int)>& value,
    std::vector<std::string>& notes) {
  std::string x = npy_file("<f4", "(100, 3, 8, 8)");
  std::string y = npy_file("|u1", "(100,)");
  for (int i = 0; i < 100; ++i) {
    const auto number = static_cast<float>(value(i));
    for (int j = 0; j < 3 * 8 * 8; ++j)
      x.append(reinterpret_cast<const char*>(&number), sizeof(number));
    y += byte(i % 2);
  }
  folder.write("x.npy", x);
  folder.write("y.npy", y);
  OpenOptions options;
  options.val_fraction = 0;
  options.numbers.as_images = true;
  const Splits splits = open_source(cat("npy:", folder.text()), options);
  notes = splits.notes;
  std::vector<float> first;
  Sample sample;
  for (std::int64_t i = 0; i < splits.train->size(); ++i) {
    splits.train->read(i, sample);
    first.push_back(sample.numbers[0]);
  }
  return first;
}

TEST(ArrayScale, PixelsOfZeroToOneAreStandardised) {
  const tests::TempFolder folder;
  std::vector<std::string> notes;
  double sum = 0;
  double squares = 0;
  for (const float each : opened(
           folder, [](int i) { return i / 99.0; }, notes)) {
    sum += double{each};
    squares += double{each} * double{each};
  }
  EXPECT_NEAR(sum / 100, 0, 1e-5);
  EXPECT_NEAR(squares / 100, 1, 0.02);
  EXPECT_THAT(notes, Contains(HasSubstr("0 to 1 are standardised")));
}

TEST(ArrayScale, WhatSomebodyHasStandardisedStaysAsItIs) {
  const tests::TempFolder folder;
  std::vector<std::string> notes;
  const auto value = [](int i) { return (i - 45) / 30.0; };
  const auto numbers = opened(folder, value, notes);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(
        numbers[static_cast<std::size_t>(i)], static_cast<float>(value(i)));
  EXPECT_THAT(notes, IsEmpty());
}

} // namespace
} // namespace temper::data

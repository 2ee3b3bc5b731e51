#include "temper/data/source/npy_source.h"

#include <gmock/gmock.h>

#include "temper/base/text.h"
#include "temper/data/open/open.h"
#include "tests/complaint.h"
#include "tests/data/format/npy_file.h"
#include "tests/data/format_bytes.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::complaint;
using tests::TempFolder;

std::string counting(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes += byte(i);
  return bytes;
}

TEST(NpySource, BytesInFourDimensionsAreImages) {
  OpenOptions options;
  options.val_fraction = 0;
  const Splits splits = open_npy(array_fixture("stored.npz"), options);
  const SourceInfo& info = splits.train->info();
  EXPECT_EQ(info.input, Input::image);
  EXPECT_EQ(info.channels, 3);
  EXPECT_EQ(info.height, 2);
  EXPECT_THAT(info.classes, ElementsAre("0", "1", "2"));
  EXPECT_EQ(splits.train->size(), 4);
}

TEST(NpySource, PlanesRowsAndFortranOrderGiveTheSamePixels) {
  const TempFolder folder;
  const std::string labels = npy_file("|u1", "(2,)", counting(2));
  // Two images of 2 x 2: value = 12 n + 6 y + 3 x + c.
  std::string planes;
  std::string fortran(24, '\0');
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 2; ++x) {
          const int value = 12 * n + 6 * y + 3 * x + c;
          planes += byte(value);
          fortran[static_cast<std::size_t>(n + 2 * y + 4 * x + 8 * c)] =
              static_cast<char>(value);
        }
  folder.write("hwc.npy", npy_file("|u1", "(2, 2, 2, 3)", counting(24)));
  folder.write("chw.npy", npy_file("|u1", "(2, 3, 2, 2)", planes));
  folder.write("fortran.npy", npy_file("|u1", "(2, 2, 2, 3)", fortran, true));
  for (const char* name : {"hwc", "chw", "fortran"}) {
    folder.write(cat(name, "_labels.npy"), labels);
    const auto path = folder.path() / cat(name, ".npy");
    const NpySource source(
        name, map_npy(path), map_npy(folder.path() / cat(name, "_labels.npy")));
    Sample sample;
    source.read(1, sample);
    EXPECT_EQ(sample.label, 1);
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(sample.image.pixels()[i], 12 + i) << name;
  }
}

TEST(NpySource, FloatsAreNumbersAndFloatTargetsARegression) {
  const Splits splits = open_npy(array_fixture("deflated.npz"), {});
  const SourceInfo& info = splits.train->info();
  EXPECT_EQ(info.input, Input::numbers);
  EXPECT_THAT(info.shape, ElementsAre(40));
  EXPECT_EQ(info.target, Target::numbers);
  EXPECT_EQ(info.target_size, 1);
  EXPECT_EQ(splits.train->size(), 50);
  EXPECT_EQ(splits.val->size(), 5);
  Sample sample;
  splits.train->read(7, sample);
  EXPECT_EQ(sample.numbers, std::vector<float>(40, 7.0F));
  EXPECT_THAT(sample.target_numbers, ElementsAre(14.0F));
}

TEST(NpySource, AFolderOfArraysMayBringItsValidation) {
  const TempFolder folder;
  folder.write("X_train.npy", npy_file("|u1", "(2, 3)", counting(6)));
  folder.write("y_train.npy", npy_file("|u1", "(2, 1)", counting(2)));
  folder.write("x_val.npy", npy_file("|u1", "(1, 3)", counting(3)));
  folder.write("y_val.npy", npy_file("|u1", "(1,)", byte(4)));
  const Splits splits = open_npy(folder.path(), {});
  EXPECT_EQ(splits.train->size(), 2);
  EXPECT_EQ(splits.val->size(), 1);
  // The classes are those of training: open_source() does not score class 4.
  EXPECT_EQ(splits.train->info().classes.size(), 2U);
  Sample sample;
  splits.train->read(1, sample);
  EXPECT_THAT(sample.numbers, ElementsAre(3.0F, 4.0F, 5.0F));
}

TEST(NpySource, OneFileFindsItsLabelsBesideIt) {
  const TempFolder folder;
  const auto path =
      folder.write("digits.npy", npy_file("|u1", "(10, 2, 2)", counting(40)));
  EXPECT_THAT(
      complaint([&] { open_npy(path, {}); }), HasSubstr("digits_labels.npy"));
  folder.write("digits_labels.npy", npy_file("|i1", "(10,)", counting(10)));
  const Splits splits = open_npy(path, {});
  EXPECT_EQ(splits.train->size(), 9);
  EXPECT_EQ(splits.val->size(), 1);
  EXPECT_EQ(splits.train->info().channels, 1);
}

TEST(NpySource, WhatDoesNotGoTogetherIsRefused) {
  const TempFolder folder;
  const auto x = folder.write("x.npy", npy_file("|u1", "(2, 3)", counting(6)));
  const auto y = folder.write("y.npy", npy_file("|u1", "(3,)", counting(3)));
  EXPECT_THAT(
      complaint([&] { open_npy(folder.path(), {}); }),
      HasSubstr("are 3 and not 2"));
  folder.write("y.npy", npy_file("|i1", "(2,)", byte(0) + byte(-1)));
  EXPECT_THAT(
      complaint([&] { open_npy(folder.path(), {}); }),
      HasSubstr("number 1 is -1"));
  folder.write("y.npy", npy_file("|u1", "(2,)", counting(2)));
  folder.write("x.npy", npy_file("|u1", "(2, 5, 2, 4)", counting(80)));
  EXPECT_THAT(
      complaint([&] { open_npy(folder.path(), {}); }),
      HasSubstr("one or three channels"));
  folder.write("x.npy", npy_file("|u1", "()", counting(1)));
  EXPECT_THROW(open_npy(folder.path(), {}), Error);
  folder.write("x.npy", npy_file("|u1", "(0, 3)", ""));
  EXPECT_THROW(open_npy(folder.path(), {}), Error);
}

TEST(NpySource, AFolderWithoutAKnownPairListsWhatIsThere) {
  const TempFolder folder;
  folder.write("weights.npy", npy_file("|u1", "(2, 3)", counting(6)));
  const std::string error = complaint([&] { open_npy(folder.path(), {}); });
  EXPECT_THAT(error, HasSubstr("weights"));
  EXPECT_THAT(error, HasSubstr("x/y"));
}

} // namespace
} // namespace temper::data

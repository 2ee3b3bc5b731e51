#include "temper/data/sample/first_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/data/inspect/check.h"
#include "temper/data/open/open.h"
#include "temper/data/sample/image_size.h"
#include "temper/data/source/tar_source.h"
#include "tests/data/small_image.h"
#include "tests/data/tar_writer.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::TempFolder;

// `count` images with labels 0, 1, 2 in turn; the one at `odd` is larger.
std::string archive(int count, int odd = -1) {
  std::string tar;
  for (int i = 0; i < count; ++i) {
    const int side = i == odd ? 9 : 6;
    tar += tar_member(cat(1000 + i, ".ppm"), small_image(i, side, side));
    tar += tar_member(cat(1000 + i, ".cls"), cat(i % 3));
  }
  return tar + tar_end();
}

TEST(FirstSamples, OfAProgramAreCheckedLikeAnyOther) {
  const TempFolder folder;
  const auto file = folder.write("a.tar", archive(40));
  const auto stream = open_stream("cmd:cat " + file.string());
  FirstSamplesOptions options;
  options.most = 30;
  const auto source = first_samples(*stream, options);
  EXPECT_EQ(source->size(), 30);
  EXPECT_EQ(source->info().classes.size(), 3U);
  const auto report = check_data({source, nullptr}, {});
  EXPECT_EQ(report.bad(), 0);
  EXPECT_THAT(
      report.parts[0].sizes,
      testing::ElementsAre(testing::Pair("6 x 6 RGB", 30)));
  EXPECT_THAT(report.parts[0].class_counts, testing::ElementsAre(10, 10, 10));
}

TEST(FirstSamples, ThatAreBadAreAmongThem) {
  const TempFolder folder;
  const auto file = folder.write(
      "a.tar",
      tar_member("1.ppm", "P6 not") + tar_member("1.cls", "0") + archive(5));
  const auto stream = open_stream("cmd:cat " + file.string());
  const auto source = first_samples(*stream, {});
  EXPECT_EQ(source->size(), 6);
  EXPECT_EQ(check_data({source, nullptr}, {}).bad(), 1);
}

TEST(ImageSize, OfImagesThatAreEqualIsFound) {
  const TempFolder folder;
  const auto file = folder.write("a.tar", archive(100));
  const ImageSize size =
      probe_image_size(*open_tar(file.string(), {}).train, 16);
  EXPECT_EQ(size.width, 6);
  EXPECT_EQ(size.height, 6);
  EXPECT_EQ(size.samples, 16);
  EXPECT_EQ(size.difference, "");
}

TEST(ImageSize, OfImagesThatDifferIsNoneAndTwoAreNamed) {
  const TempFolder folder;
  const auto file = folder.write("a.tar", archive(30, 29));
  OpenOptions all;
  all.val_fraction = 0;
  const ImageSize size = probe_image_size(*open_tar(file.string(), all).train);
  EXPECT_EQ(size.width, 0);
  EXPECT_THAT(
      size.difference,
      AllOf(
          HasSubstr("1000.ppm in"),
          HasSubstr("is 6 x 6 and 1029.ppm in"),
          HasSubstr("9 x 9")));
}

} // namespace
} // namespace temper::data

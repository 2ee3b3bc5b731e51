#include "temper/data/source/cifar_source.h"

#include <gmock/gmock.h>

#include "temper/base/text.h"
#include "tests/complaint.h"
#include "tests/data/format_bytes.h"
#include "tests/shared_data.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::complaint;
using tests::shared_data;
using tests::TempFolder;

// Pixel i of plane p is (i + 50 p + shift) mod 256.
std::string planes(int shift) {
  std::string bytes;
  for (int plane = 0; plane < 3; ++plane)
    for (int i = 0; i < 1024; ++i)
      bytes += byte(i + 50 * plane + shift);
  return bytes;
}

std::string cifar_record(int label, int shift) {
  return byte(label) + planes(shift);
}

TEST(CifarSource, PlanesBecomeInterleavedPixels) {
  const TempFolder folder;
  folder.write("data_batch_1.bin", cifar_record(3, 0) + cifar_record(9, 7));
  folder.write("data_batch_3.bin", cifar_record(1, 11));
  folder.write("test_batch.bin", cifar_record(2, 0));
  const Splits splits = open_cifar10(folder.path(), {});
  ASSERT_EQ(splits.train->size(), 3);
  ASSERT_EQ(splits.val->size(), 1);
  Sample sample;
  splits.train->read(1, sample);
  EXPECT_EQ(sample.label, 9);
  ASSERT_EQ(sample.image.width(), 32);
  ASSERT_EQ(sample.image.height(), 32);
  ASSERT_EQ(sample.image.channels(), 3);
  for (int i = 0; i < 1024; ++i)
    for (int plane = 0; plane < 3; ++plane)
      ASSERT_EQ(
          sample.image.pixels()[3 * i + plane], (i + 50 * plane + 7) % 256);
  splits.train->read(2, sample);
  EXPECT_EQ(sample.label, 1);
  EXPECT_EQ(splits.train->label(0), 3);
  EXPECT_EQ(splits.train->describe(2), "data_batch_3.bin record 0");
}

TEST(CifarSource, MissingBatchesAreNamedInANote) {
  const TempFolder folder;
  folder.write("data_batch_2.bin", cifar_record(0, 0));
  folder.write("test_batch.bin", cifar_record(0, 0));
  EXPECT_THAT(
      open_cifar10(folder.path(), {}).notes,
      ElementsAre(HasSubstr("data_batch_1.bin, data_batch_3.bin")));
}

TEST(CifarSource, WithoutATestBatchAPartOfTheTrainingImagesValidates) {
  const TempFolder folder;
  std::string ten;
  for (int i = 0; i < 10; ++i)
    ten += cifar_record(i, i);
  folder.write("data_batch_1.bin", ten);
  OpenOptions options;
  options.val_fraction = 0.2;
  const Splits splits = open_cifar10(folder.path(), options);
  EXPECT_EQ(splits.train->size(), 8);
  EXPECT_EQ(splits.val->size(), 2);
}

TEST(CifarSource, OfAHundredClassesUsesTheFineLabel) {
  const TempFolder folder;
  folder.write("train.bin", byte(19) + cifar_record(99, 5));
  folder.write("test.bin", byte(1) + cifar_record(0, 0));
  const Splits splits = open_cifar100(folder.path(), {});
  Sample sample;
  splits.train->read(0, sample);
  EXPECT_EQ(sample.label, 99);
  EXPECT_EQ(sample.image.pixels()[0], 5);
  EXPECT_EQ(splits.train->info().classes.size(), 100U);
  EXPECT_EQ(splits.train->info().classes[99], "worm");
  EXPECT_EQ(splits.train->info().classes[52], "oak_tree");
}

TEST(CifarSource, ATruncatedFileIsRefusedWithItsSize) {
  const TempFolder folder;
  folder.write("data_batch_1.bin", cifar_record(0, 0) + "cut");
  const std::string error = complaint([&] { open_cifar10(folder.path(), {}); });
  EXPECT_THAT(error, HasSubstr("data_batch_1.bin"));
  EXPECT_THAT(error, HasSubstr("3,076 bytes"));
  EXPECT_THAT(error, HasSubstr("3073"));
}

TEST(CifarSource, ALabelOutOfRangeIsABadSample) {
  const TempFolder folder;
  folder.write("data_batch_1.bin", cifar_record(3, 0) + cifar_record(10, 0));
  folder.write("test_batch.bin", cifar_record(2, 0));
  const Splits splits = open_cifar10(folder.path(), {});
  Sample sample;
  EXPECT_NO_THROW(splits.train->read(0, sample));
  EXPECT_THROW(splits.train->read(1, sample), BadSample);
  EXPECT_EQ(splits.train->label(1), std::nullopt);
  EXPECT_THAT(
      complaint([&] { splits.train->read(1, sample); }),
      HasSubstr("data_batch_1.bin record 1"));
}

TEST(CifarSource, AnotherFileIsAnotherFingerprint) {
  const TempFolder folder;
  const auto one = folder.write("a.bin", cifar_record(0, 0));
  const auto two =
      folder.write("b.bin", cifar_record(0, 0) + cifar_record(1, 0));
  const CifarSource first(cifar10_format(), {one});
  EXPECT_EQ(
      first.fingerprint(), CifarSource(cifar10_format(), {one}).fingerprint());
  EXPECT_NE(
      first.fingerprint(), CifarSource(cifar10_format(), {two}).fingerprint());
}

TEST(CifarSource, TheRealOneHasItsKnownMean) {
  const auto directory = shared_data() / "cifar-10-batches-bin";
  if (!std::filesystem::exists(directory))
    GTEST_SKIP() << "CIFAR-10 is not in " << directory;
  const Splits splits = open_cifar10(directory, {});
  ASSERT_EQ(splits.train->size(), 10000);
  EXPECT_EQ(splits.train->info().classes[9], "truck");
  std::array<double, 3> sum{};
  std::array<int, 10> count{};
  Sample sample;
  for (std::int64_t i = 0; i < splits.train->size(); ++i) {
    splits.train->read(i, sample);
    ++count.at(static_cast<std::size_t>(sample.label));
    for (std::size_t p = 0; p < 3072; ++p)
      sum[p % 3] += sample.image.pixels()[p];
  }
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(
        sum[c] / (255.0 * 1024 * 10000), splits.train->info().mean[c], 0.005);
  EXPECT_EQ(
      count,
      (std::array<int, 10>{
          1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981}));
}

} // namespace
} // namespace temper::data

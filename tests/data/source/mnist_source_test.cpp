#include "temper/data/source/mnist_source.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "tests/complaint.h"
#include "tests/data/format/gzip_text.h"
#include "tests/data/format_bytes.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::HasSubstr;
using tests::complaint;
using tests::TempFolder;

std::string idx(
    int type,
    const std::vector<std::uint32_t>& shape,
    const std::string& data) {
  std::string file = byte(0) + byte(0) + byte(type);
  file += static_cast<char>(shape.size());
  for (const auto size : shape)
    file += big_endian32(size);
  return file + data;
}

const std::string kTwoImages = idx(8, {2, 2, 3}, "abcdefghijkl");
const std::string kTwoLabels = idx(8, {2}, byte(7) + byte(4));

TEST(Idx, EveryTypeIsParsedWithItsSize) {
  const std::vector<std::pair<int, std::uint64_t>> types{
      {0x08, 1}, {0x09, 1}, {0x0B, 2}, {0x0C, 4}, {0x0D, 4}, {0x0E, 8}};
  for (const auto& [type, size] : types) {
    const std::string file = idx(type, {3, 5}, "");
    const IdxHeader header = parse_idx_header(bytes_in(file), "x");
    EXPECT_EQ(header.data_bytes, 15 * size);
    EXPECT_EQ(header.header_bytes, 12U);
    EXPECT_EQ(header.shape, (std::vector<std::uint32_t>{3, 5}));
  }
}

TEST(Idx, HostileHeadersAreErrors) {
  const std::string huge =
      idx(0x0E, {4294967295U, 4294967295U, 4294967295U, 4294967295U}, "");
  for (const std::string& file :
       {std::string(),
        std::string("\0\0\x08", 3),
        idx(8, {}, ""),
        idx(0x0A, {1}, "a"),
        idx(8, {1, 2}, "").substr(0, 9),
        huge,
        idx(8, std::vector<std::uint32_t>(9, 1), "a"),
        std::string("PK\x08\x01....", 8)})
    EXPECT_THROW(parse_idx_header(bytes_in(file), "x"), Error);
}

TEST(Idx, AFileMustHoldExactlyWhatItsHeaderSays) {
  const TempFolder folder;
  const auto path = folder.write("a", idx(8, {5}, "abcde"));
  EXPECT_EQ(read_idx(path).data.size(), 5U);
  folder.write("a", idx(8, {5}, "abcd"));
  EXPECT_THAT(
      complaint([&] { read_idx(path); }),
      HasSubstr("announces 5 bytes of numbers, and there are 4"));
  folder.write("a", idx(8, {5}, "abcdef"));
  EXPECT_THROW(read_idx(path), Error);
}

TEST(Idx, GzipIsUnpackedAsFarAsTheHeaderSays) {
  const TempFolder folder;
  const auto path = folder.write("a.gz", gzip(idx(8, {5}, "abcde")));
  const IdxArray array = read_idx(path);
  EXPECT_EQ(std::string(array.data.begin(), array.data.end()), "abcde");
  folder.write("a.gz", gzip(idx(8, {5}, "abcdef")));
  EXPECT_THAT(complaint([&] { read_idx(path); }), HasSubstr("goes on after"));
  folder.write("a.gz", gzip(idx(8, {50}, "abcde")));
  EXPECT_THAT(complaint([&] { read_idx(path); }), HasSubstr("ends after"));
}

TEST(Idx, GzipMayBeSeveralMembers) {
  const TempFolder folder;
  const std::string file = idx(8, {5}, "abcde");
  const auto path =
      folder.write("a.gz", gzip(file.substr(0, 9)) + gzip(file.substr(9)));
  const IdxArray array = read_idx(path);
  EXPECT_EQ(std::string(array.data.begin(), array.data.end()), "abcde");
}

TEST(Idx, ABombIsRefusedBeforeMemoryIsTaken) {
  const TempFolder folder;
  const auto path =
      folder.write("a.gz", gzip(idx(8, {4000000000U, 200000000U}, "abcde")));
  EXPECT_THAT(complaint([&] { read_idx(path); }), HasSubstr("can unpack to"));
}

TEST(Idx, DamagedGzipIsAnError) {
  const TempFolder folder;
  const std::string whole = gzip(idx(8, {2000}, std::string(2000, 'x')));
  const auto path = folder.write("a.gz", whole.substr(0, whole.size() - 8));
  EXPECT_THAT(complaint([&] { read_idx(path); }), HasSubstr("cut short"));
  std::string flipped = whole;
  flipped[whole.size() - 6] ^= 1; // in the checksum
  folder.write("a.gz", flipped);
  EXPECT_THROW(read_idx(path), Error);
}

TEST(MnistSource, BothUsualNamesArePlainOrPacked) {
  const TempFolder folder;
  folder.write("train-images.idx3-ubyte", kTwoImages);
  folder.write("train-labels-idx1-ubyte.gz", gzip(kTwoLabels));
  folder.write("t10k-images-idx3-ubyte", idx(8, {1, 2, 3}, "uvwxyz"));
  folder.write("t10k-labels.idx1-ubyte.gz", gzip(idx(8, {1}, byte(1))));
  const Splits splits = open_mnist(mnist_format(), folder.path(), {});
  ASSERT_EQ(splits.train->size(), 2);
  ASSERT_EQ(splits.val->size(), 1);
  Sample sample;
  splits.train->read(1, sample);
  EXPECT_EQ(sample.label, 4);
  EXPECT_EQ(sample.image.width(), 3);
  EXPECT_EQ(sample.image.height(), 2);
  EXPECT_EQ(sample.image.channels(), 1);
  EXPECT_EQ(
      std::string(sample.image.pixels(), sample.image.pixels() + 6), "ghijkl");
  EXPECT_EQ(splits.train->label(0), 7);
}

TEST(MnistSource, CountsMustAgree) {
  const TempFolder folder;
  folder.write("train-images-idx3-ubyte", kTwoImages);
  folder.write("train-labels-idx1-ubyte", idx(8, {3}, "abc"));
  EXPECT_THAT(
      complaint([&] { open_mnist(mnist_format(), folder.path(), {}); }),
      HasSubstr("2 images, and train-labels-idx1-ubyte has 3 labels"));
}

TEST(MnistSource, ImagesMustBeBytesInThreeDimensions) {
  const TempFolder folder;
  folder.write("train-labels-idx1-ubyte", kTwoLabels);
  folder.write("train-images-idx3-ubyte", idx(8, {2, 3}, "abcdef"));
  EXPECT_THROW(open_mnist(mnist_format(), folder.path(), {}), Error);
  folder.write("train-images-idx3-ubyte", idx(0x0B, {2, 1, 1}, "abcd"));
  EXPECT_THROW(open_mnist(mnist_format(), folder.path(), {}), Error);
}

TEST(MnistSource, ALabelOutOfRangeIsABadSample) {
  const TempFolder folder;
  const auto images = folder.write("i", kTwoImages);
  const auto labels = folder.write("l", idx(8, {2}, byte(3) + byte(200)));
  const MnistSource source(mnist_format(), images, labels);
  Sample sample;
  EXPECT_NO_THROW(source.read(0, sample));
  EXPECT_THROW(source.read(1, sample), BadSample);
}

TEST(MnistSource, TheRealFashionMnistHasItsKnownMean) {
  const std::filesystem::path directory = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(directory))
    GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
  const Splits splits = open_mnist(fashion_mnist_format(), directory, {});
  ASSERT_EQ(splits.train->size(), 60000);
  ASSERT_EQ(splits.val->size(), 10000);
  std::array<int, 10> count{};
  double sum = 0;
  Sample sample;
  for (std::int64_t i = 0; i < splits.train->size(); ++i) {
    splits.train->read(i, sample);
    ++count.at(static_cast<std::size_t>(sample.label));
    for (std::size_t p = 0; p < sample.image.bytes(); ++p)
      sum += sample.image.pixels()[p];
  }
  EXPECT_NEAR(sum / (255.0 * 784 * 60000), splits.train->info().mean[0], 1e-4);
  for (const int each : count)
    EXPECT_EQ(each, 6000);
}

} // namespace
} // namespace temper::data

#include "temper/data/source/tfrecord_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/digest/crc32c.h"
#include "temper/base/text.h"
#include "temper/data/format/tf_example.h"
#include "temper/data/format/tfrecord.h"
#include "tests/complaint.h"
#include "tests/data/format_bytes.h"
#include "tests/data/small_image.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::complaint;
using tests::TempFolder;

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string masked_sum(const std::string& text) {
  return little_endian(mask_crc32c(crc32c(bytes_in(text))), 4);
}

std::string record(const std::string& data) {
  const std::string length = little_endian(data.size(), 8);
  return length + masked_sum(length) + data + masked_sum(data);
}

std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7)
    text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}

// A field of contents with a length.
std::string field(int number, const std::string& contents) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) +
      varint(contents.size()) + contents;
}

std::string feature(const std::string& key, const std::string& value) {
  return field(1, field(1, key) + field(2, value));
}

std::string bytes_feature(const std::string& key, const std::string& value) {
  return feature(key, field(1, field(1, value)));
}

std::string int_feature(const std::string& key, std::int64_t value) {
  return feature(
      key, field(3, field(1, varint(static_cast<std::uint64_t>(value)))));
}

std::string example(const std::string& features) {
  return field(1, features);
}

// As TensorFlow Datasets writes a picture and its class.
std::string record_sample(int number, std::int64_t label) {
  return record(example(
      bytes_feature("image", small_image(number)) +
      int_feature("label", label)));
}

// The check value of the CRC catalogue, and vectors of RFC 3720 (iSCSI).
TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(crc32c(bytes_in("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c(bytes_in("")), 0U);
  EXPECT_EQ(crc32c(bytes_in(std::string(32, '\0'))), 0x8A9136AAU);
  EXPECT_EQ(crc32c(bytes_in(std::string(32, '\xFF'))), 0x62A8AB43U);
}

TEST(TfExample, ListsArePackedOrNot) {
  const std::string floats =
      little_endian(0x3F800000, 4) + little_endian(0xC0000000, 4);
  const std::string loose_int = "\x08";
  const std::string loose_float = "\x0D";
  const std::string message = example(
      feature("packed", field(3, field(1, varint(7) + varint(1ULL << 40)))) +
      feature(
          "loose", field(3, loose_int + varint(7) + loose_int + varint(8))) +
      feature("minus", field(3, field(1, varint(~0ULL)))) +
      feature("floats", field(2, field(1, floats))) +
      feature(
          "loose floats",
          field(
              2,
              loose_float + floats.substr(0, 4) + loose_float +
                  floats.substr(4))) +
      feature("bytes", field(1, field(1, "ab") + field(1, ""))) +
      feature("nothing", ""));
  const auto all = parse_tf_example(bytes_in(message));
  ASSERT_EQ(all.size(), 7U);
  EXPECT_THAT(int_values(all[0]), ElementsAre(7, std::int64_t{1} << 40));
  EXPECT_THAT(int_values(all[1]), ElementsAre(7, 8));
  EXPECT_THAT(int_values(all[2]), ElementsAre(-1));
  EXPECT_THAT(float_values(all[3]), ElementsAre(1.0F, -2.0F));
  EXPECT_THAT(float_values(all[4]), ElementsAre(1.0F, -2.0F));
  EXPECT_EQ(byte_values(all[5]).size(), 2U);
  EXPECT_EQ(all[6].kind, TfFeature::Kind::none);
  EXPECT_EQ(single_int(all, "absent"), std::nullopt);
  EXPECT_THAT(
      complaint([&] { single_int(all, "packed"); }), HasSubstr("2 values"));
  EXPECT_THAT(
      complaint([&] { single_int(all, "bytes"); }),
      HasSubstr("not a list of integers"));
}

TEST(TfExample, UnknownFieldsArePassedOver) {
  const std::string extra = "\x78\x05" + field(9, "later version") + "\x75" +
      std::string(4, 'x') + "\x71" + std::string(8, 'x');
  const std::string message =
      extra + example(extra + int_feature("label", 4)) + extra;
  const auto all = parse_tf_example(bytes_in(message));
  EXPECT_EQ(single_int(all, "label"), 4);
}

TEST(TfExample, EveryTruncationIsRefusedOrHarmless) {
  const std::string whole = example(
      bytes_feature("image", small_image(3)) + int_feature("label", 300));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const std::vector<std::uint8_t> part(
        whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(parse_tf_example(part), BadSample) << size;
  }
  EXPECT_THROW(parse_tf_example(bytes_in(std::string(20, '\xFF'))), BadSample);
  std::string many;
  for (int i = 0; i < 2000; ++i)
    many += int_feature("x", 1);
  EXPECT_THROW(parse_tf_example(bytes_in(example(many))), BadSample);
}

TEST(TfRecord, DamageIsRefusedWithItsPlace) {
  const auto why = [](const std::string& file) {
    return complaint([&] { read_tfrecord_index(bytes_in(file)); });
  };
  const std::string good = record("hello");
  EXPECT_EQ(why(good + good), "");
  EXPECT_THAT(why("this is some other file"), HasSubstr("not a TFRecord"));
  EXPECT_THAT(why(good + good.substr(0, 18)), HasSubstr("cut off at byte 21"));
  EXPECT_THAT(why(good + "x"), HasSubstr("cut off at byte 21"));
  std::string bad = good + good;
  bad[21] ^= 1;
  EXPECT_THAT(why(bad), HasSubstr("does not fit its checksum at byte 21"));
  const std::string huge = little_endian(~0ULL, 8);
  EXPECT_THAT(
      why(huge + masked_sum(huge) + "data"), HasSubstr("cut off at byte 0"));
}

ShardSource record_shard(const std::string& shard) {
  return {tfrecord_format(), index_shards(tfrecord_format(), {shard}), {}};
}

TEST(TfRecordSource, ReadsWhatTensorFlowDatasetsWrites) {
  const TempFolder folder;
  folder.write(
      "cifar10-train.tfrecord-00000-of-00001",
      record_sample(10, 1) + record_sample(11, 0));
  folder.write(
      "cifar10-validation.tfrecord-00000-of-00001", record_sample(12, 1));
  folder.write("label.labels.txt", "airplane\nautomobile\nbird\n");
  const Splits parts = open_tfrecord(folder.text("cifar10-*"), {});
  ASSERT_EQ(parts.train->size(), 2);
  ASSERT_EQ(parts.val->size(), 1);
  EXPECT_THAT(
      parts.train->info().classes,
      ElementsAre("airplane", "automobile", "bird"));
  Sample sample;
  parts.train->read(0, sample);
  EXPECT_EQ(sample.label, 1);
  EXPECT_EQ(sample.image.pixels()[0], 10);
  parts.val->read(0, sample);
  EXPECT_EQ(sample.image.pixels()[0], 12);
  EXPECT_EQ(parts.train->label(0), 1);
}

TEST(TfRecordSource, ReadsTheKeysOfTheImageNetScriptsAndRawPixels) {
  const TempFolder folder;
  folder.write(
      "a",
      record(example(
          int_feature("image/class/label", 7) +
          bytes_feature("image/encoded", small_image(9)))) +
          record(example(
              bytes_feature("image_raw", "abcdef") + int_feature("height", 1) +
              int_feature("width", 2) + int_feature("depth", 3) +
              int_feature("label", 2))) +
          record(example(
              bytes_feature("image_raw", "abcdef") + int_feature("height", 3) +
              int_feature("width", 2) + int_feature("depth", 1) +
              int_feature("label", 2))));
  const ShardSource source = record_shard(folder.text("a"));
  Sample sample;
  source.read(0, sample);
  EXPECT_EQ(sample.label, 7);
  EXPECT_EQ(sample.image.pixels()[0], 9);
  source.read(1, sample);
  EXPECT_EQ(sample.image.width(), 2);
  EXPECT_EQ(sample.image.pixels()[5], 'f');
  source.read(2, sample);
  EXPECT_EQ(sample.image.height(), 3);
  EXPECT_EQ(sample.image.channels(), 3);
  EXPECT_EQ(sample.image.pixels()[17], 'f');
}

TEST(TfRecordSource, BadRecordsAreSamplesAndNotTheEnd) {
  const TempFolder folder;
  const std::string image = bytes_feature("image", small_image(9));
  const std::string label = int_feature("label", 1);
  std::string flipped = record_sample(1, 1);
  flipped[60] ^= 1;
  const std::string raw = bytes_feature("image", "123456");
  const auto sized = [&](std::int64_t height, std::int64_t width) {
    return record(example(
        raw + label + int_feature("height", height) +
        int_feature("width", width)));
  };
  folder.write(
      "a",
      flipped + record(example(image)) + record(example(label)) +
          record("nonsense") + record(example(raw + label)) + sized(5, 5) +
          sized(-1, -2) + sized(INT64_MAX, 3) +
          record(example(image + int_feature("label", -3))));
  const ShardSource source = record_shard(folder.text("a"));
  ASSERT_EQ(source.size(), 9);
  Sample sample;
  const auto why = [&](std::int64_t index) {
    return complaint([&] { source.read(index, sample); });
  };
  EXPECT_THAT(
      why(0),
      AllOf(
          HasSubstr("cannot decode the record at byte 12 of "),
          HasSubstr("does not fit its checksum")));
  EXPECT_THAT(why(1), HasSubstr("no feature image/class/label or label"));
  EXPECT_THAT(why(2), HasSubstr("no feature image/encoded"));
  EXPECT_THAT(why(3), HasSubstr("malformed tf.Example"));
  EXPECT_THAT(why(4), HasSubstr("no height and width"));
  for (const std::int64_t index : {5, 6, 7})
    EXPECT_THAT(why(index), HasSubstr("6 raw bytes are not")) << index;
  EXPECT_THAT(why(8), HasSubstr("its label is -3"));
}

// 0x1F 0x8B, the mark of gzip, is also the length of a record.
TEST(TfRecordSource, AShardMayBeginAsGzipDoes) {
  const TempFolder folder;
  const auto padded = [](std::size_t filler) {
    return example(
        bytes_feature("image", small_image(9)) + int_feature("label", 1) +
        bytes_feature("filler", std::string(filler, 'x')));
  };
  constexpr std::size_t kSome = 35'000;
  const std::string shard =
      record(padded(kSome + 0x8B1F - padded(kSome).size()));
  ASSERT_EQ(shard.substr(0, 2), "\x1F\x8B");
  folder.write("a", shard);
  Sample sample;
  record_shard(folder.text("a")).read(0, sample);
  EXPECT_EQ(sample.label, 1);
}

TEST(TfRecordSource, DamagedOrUnlabelledShardsAreNamed) {
  const TempFolder folder;
  folder.write("cut", record_sample(1, 1).substr(0, 40));
  folder.write("gzip", "\x1F\x8B\x08 and so on and so on");
  folder.write("bare", record(example(bytes_feature("image", "x"))));
  const auto why = [&](const char* name) {
    return complaint([&] { open_tfrecord(folder.text(name), {}); });
  };
  EXPECT_THAT(why("cut"), AllOf(HasSubstr("/cut"), HasSubstr("cut off")));
  EXPECT_THAT(why("gzip"), HasSubstr("gunzip"));
  EXPECT_THAT(why("bare"), HasSubstr("1 record and no label"));
}

} // namespace
} // namespace temper::data

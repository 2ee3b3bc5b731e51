#include "temper/data/codec/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/data/sample/source.h"
#include "tests/paths.h"
#include "tests/shared_data.h"

namespace temper::data {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using tests::photographs;

std::filesystem::path fixtures() {
  return tests::fixtures() / "decode";
}

std::vector<std::uint8_t> load(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::uint8_t> fixture_bytes(const std::string& name) {
  return load(fixtures() / name);
}

nlohmann::json expected(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(fixtures() / name)).at("files");
}

std::uint32_t crc(const Image& image) {
  return static_cast<std::uint32_t>(
      crc32(0, image.pixels(), static_cast<uInt>(image.bytes())));
}

Image decoded(Bytes bytes, int channels = 0) {
  Image image;
  int warnings = 0;
  decode_image(bytes, {channels}, image, warnings);
  return image;
}

std::string reason(Bytes bytes, const DecodeOptions& options = {}) {
  Image image;
  int warnings = 0;
  try {
    decode_image(bytes, options, image, warnings);
  } catch (const BadSample& error) {
    return error.what();
  }
  return "decoded";
}

void compare_with_pil(
    const std::filesystem::path& folder,
    const nlohmann::json& files) {
  for (const auto& [name, answer] : files.items()) {
    SCOPED_TRACE(name);
    const auto bytes = load(folder / name);
    try {
      const Image as_stored = decoded(bytes);
      EXPECT_EQ(as_stored.width(), answer.at("width"));
      EXPECT_EQ(as_stored.height(), answer.at("height"));
      EXPECT_EQ(crc(decoded(bytes, 3)), answer.at("rgb_crc32"));
      EXPECT_EQ(crc(decoded(bytes, 1)), answer.at("grey_crc32"));
    } catch (const BadSample& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Decode, EveryFormatAndModeGivesThePixelsOfPil) {
  const auto files = expected("expected.json");
  EXPECT_GT(files.size(), 50U);
  compare_with_pil(fixtures(), files);
}

TEST(Decode, PhotographsGiveThePixelsOfPil) {
  const auto folder = photographs();
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no photographs at " << folder
                 << "; TEMPER_SHARED_DATA says where they are";
  compare_with_pil(folder, expected("photos.json"));
}

TEST(Decode, TheFormatIsToldByTheFirstBytesAndNotByTheName) {
  EXPECT_EQ(sniff_image(fixture_bytes("png/png_named.jpg")), ImageFormat::png);
  EXPECT_EQ(sniff_image(fixture_bytes("jpeg/jpeg_420.jpg")), ImageFormat::jpeg);
  EXPECT_EQ(
      sniff_image(fixture_bytes("webp/webp_lossy.webp")), ImageFormat::webp);
  EXPECT_EQ(sniff_image(fixture_bytes("bmp/bmp_24.bmp")), ImageFormat::bmp);
  EXPECT_EQ(sniff_image(fixture_bytes("pnm/pnm_p6.ppm")), ImageFormat::pnm);
  EXPECT_EQ(sniff_image({}), ImageFormat::unknown);
}

TEST(Decode, AsStoredMeansOneChannelForGreyAndThreeForColour) {
  EXPECT_EQ(decoded(fixture_bytes("jpeg/jpeg_grey.jpg")).channels(), 1);
  EXPECT_EQ(decoded(fixture_bytes("png/png_grey_alpha8.png")).channels(), 1);
  EXPECT_EQ(decoded(fixture_bytes("png/png_palette8.png")).channels(), 3);
  EXPECT_EQ(decoded(fixture_bytes("jpeg/jpeg_cmyk.jpg")).channels(), 3);
}

TEST(Decode, WhatIsNotAnImageSaysSo) {
  const std::string text = "hello, this is not an image";
  const auto* data = reinterpret_cast<const std::uint8_t*>(text.data());
  EXPECT_EQ(reason({data, text.size()}), "not an image");
  EXPECT_EQ(reason({}), "the file is empty");
  const std::string gif = "GIF89a............";
  data = reinterpret_cast<const std::uint8_t*>(gif.data());
  EXPECT_EQ(reason({data, gif.size()}), "GIF images are not supported");
}

// PIL calls a JPEG without its last two bytes truncated, and so do we.
TEST(Decode, ATruncatedFileSaysAfterHowManyBytes) {
  const auto jpeg = fixture_bytes("jpeg/jpeg_420.jpg");
  const Bytes bytes(jpeg);
  EXPECT_EQ(
      reason(bytes.first(jpeg.size() - 2)),
      cat("truncated after ", count_text(jpeg.size() - 2), " bytes"));
  EXPECT_EQ(reason(bytes.first(900)), "truncated after 900 bytes");
  EXPECT_EQ(reason(bytes.first(20)), "truncated after 20 bytes");
}

TEST(Decode, EveryTruncationOfEveryFormatIsRefusedOrComplete) {
  const auto files = expected("expected.json");
  for (const auto& [name, answer] : files.items()) {
    SCOPED_TRACE(name);
    const auto whole = fixture_bytes(name);
    // The last digits of a plain text cannot be missed.
    const std::size_t slack = contains(name, "pnm_p") ? 4 : 0;
    for (std::size_t size = 0; size + slack < whole.size(); size += 7) {
      // A copy of the exact size, so that the sanitizer sees a read behind it.
      const std::vector<std::uint8_t> part(
          whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      Image image;
      int warnings = 0;
      try {
        decode_image(part, {3}, image, warnings);
      } catch (const BadSample&) {
        continue;
      }
      EXPECT_EQ(crc(image), answer.at("rgb_crc32")) << size;
    }
  }
}

TEST(Decode, FlippedBytesAreRefusedOrDecodedButNeverWorse) {
  const auto files = expected("expected.json");
  for (const auto& [name, answer] : files.items()) {
    SCOPED_TRACE(name);
    auto bytes = fixture_bytes(name);
    for (std::size_t at = 0; at < bytes.size(); at += 5) {
      bytes[at] ^= 0x5A;
      Image image;
      int warnings = 0;
      try {
        decode_image(bytes, {3, 1'000'000}, image, warnings);
      } catch (const BadSample&) {
      }
      bytes[at] ^= 0x5A;
    }
  }
}

TEST(Decode, AnImageAboveTheLimitIsRefusedBeforeItIsDecoded) {
  // 0x4e1d = 19,997 and 0x4e13 = 19,987: the low bytes are those of 29 and 19.
  auto bytes = fixture_bytes("png/png_rgb8.png");
  bytes[18] = bytes[22] = 0x4e;
  EXPECT_EQ(
      reason(bytes), "19,997 × 19,987 pixels are more than the 64 Mpx limit");
  EXPECT_THAT(
      reason(fixture_bytes("jpeg/jpeg_420.jpg"), {3, 550}),
      HasSubstr("more than the"));
  EXPECT_THAT(
      reason(fixture_bytes("webp/webp_lossy.webp"), {3, 550}),
      HasSubstr("more than the"));
  EXPECT_THAT(
      reason(fixture_bytes("bmp/bmp_24.bmp"), {3, 550}),
      HasSubstr("more than the"));
  EXPECT_THAT(
      reason(fixture_bytes("pnm/pnm_p6.ppm"), {3, 550}),
      HasSubstr("more than the"));
  EXPECT_EQ(reason(fixture_bytes("jpeg/jpeg_420.jpg"), {3, 551}), "decoded");
}

void expect_nothing_taken(Bytes bytes) {
  Image image;
  int warnings = 0;
  EXPECT_THROW(decode_image(bytes, {3}, image, warnings), BadSample);
  EXPECT_EQ(image.pixels(), nullptr);
}

TEST(Decode, AHeaderThatPromisesMoreThanTheFileHoldsTakesNoMemory) {
  // 5,917 x 5,907 pixels, within the limit, in a file of two kilobytes; the
  // header's own checksum is right.
  auto bytes = fixture_bytes("png/png_rgb8.png");
  bytes[18] = bytes[22] = 0x17;
  const auto sum = crc32(0, bytes.data() + 12, 17);
  for (std::size_t i = 0; i < 4; ++i)
    bytes[29 + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
  expect_nothing_taken(bytes);

  bytes = fixture_bytes("jpeg/jpeg_grey.jpg");
  const std::array<std::uint8_t, 2> frame{0xFF, 0xC0};
  const auto at =
      std::search(bytes.begin(), bytes.end(), frame.begin(), frame.end());
  ASSERT_NE(at, bytes.end());
  at[5] = at[7] = 0x1F; // 7,9xx pixels either way
  expect_nothing_taken(bytes);

  bytes = fixture_bytes("bmp/bmp_24.bmp");
  bytes[19] = bytes[23] = 0x17;
  EXPECT_THAT(reason(bytes), StartsWith("truncated after"));
}

TEST(Decode, WhatTheDecoderPutsUpWithIsCounted) {
  auto bytes = fixture_bytes("jpeg/jpeg_grey.jpg");
  Image image;
  int warnings = 0;
  decode_image(bytes, {3}, image, warnings);
  EXPECT_EQ(warnings, 0);
  // Bytes between two segments: libjpeg skips them with a warning.
  bytes.insert(bytes.begin() + 20, {1, 2, 3, 4});
  decode_image(bytes, {3}, image, warnings);
  EXPECT_GT(warnings, 0);
}

TEST(Decode, ADecoderIsAsGoodAsNewAfterABadImage) {
  const auto jpeg = fixture_bytes("jpeg/jpeg_progressive.jpg");
  const std::uint32_t before = crc(decoded(jpeg, 3));
  for (std::size_t size = 2; size < jpeg.size(); size += 100)
    EXPECT_NE(reason(Bytes(jpeg).first(size)), "decoded");
  EXPECT_EQ(crc(decoded(jpeg, 3)), before);
}

} // namespace
} // namespace temper::data

// A window of a JPEG has the pixels of the whole image, and a damaged file is
// refused in the same words, whatever the window.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "temper/base/random/philox.h"
#include "temper/base/text.h"
#include "temper/data/codec/decode.h"
#include "tests/data/jpeg_file.h"
#include "tests/data/picture.h"
#include "tests/paths.h"
#include "tests/shared_data.h"

namespace temper::data {
namespace {

class FixedWindow final : public WindowChooser {
 public:
  explicit FixedWindow(std::optional<Box> box) : box_(box) {}
  std::optional<Box> choose(int width, int height) const override {
    size = {0, 0, width, height};
    return box_;
  }
  mutable Box size;

 private:
  std::optional<Box> box_;
};

struct DecodedJpeg {
  Image image;
  std::optional<Box> window;
  int warnings = 0;
  std::string reason; // why it could not be decoded; empty: it could
};

DecodedJpeg whole_of(Bytes bytes, int channels = 3) {
  DecodedJpeg got;
  try {
    decode_image(bytes, {channels}, got.image, got.warnings);
  } catch (const BadSample& error) {
    got.reason = error.what();
  }
  return got;
}

DecodedJpeg window_of(Bytes bytes, const Box& box, int channels = 3) {
  DecodedJpeg got;
  try {
    got.window = decode_window(
        bytes, {channels}, FixedWindow(box), got.image, got.warnings);
  } catch (const BadSample& error) {
    got.reason = error.what();
  }
  return got;
}

std::string box_text(const Box& box) {
  return cat(box.left, ",", box.top, " ", box.width, "x", box.height);
}

// The window's pixels, wherever they came from, are those of the whole image.
bool same_pixels(const DecodedJpeg& whole, const DecodedJpeg& part, Box box) {
  if (!part.window) box = {0, 0, whole.image.width(), whole.image.height()};
  const Image& image = part.image;
  if (image.width() != box.width || image.height() != box.height ||
      image.channels() != whole.image.channels())
    return false;
  const auto offset = static_cast<std::size_t>(box.left) *
      static_cast<std::size_t>(image.channels());
  for (int y = 0; y < box.height; ++y)
    if (std::memcmp(
            image.row(y),
            whole.image.row(box.top + y) + offset,
            image.row_bytes()) != 0)
      return false;
  return true;
}

// Edges, corners, single pixels, and others anywhere.
std::vector<Box> boxes_in(int width, int height, RandomStream& random) {
  const int w = std::max(1, width / 2);
  const int h = std::max(1, height / 2);
  std::vector<Box> boxes{
      {0, 0, w, h},
      {width - w, 0, w, h},
      {0, height - h, w, h},
      {width - w, height - h, w, h},
      {(width - w) / 2, (height - h) / 2, w, h},
      {0, 0, 1, 1},
      {width - 1, height - 1, 1, 1},
      {0, height / 2, width, 1},
      {width / 2, 0, 1, height}};
  const auto below = [&](int bound) {
    return static_cast<int>(random.below(static_cast<std::uint32_t>(bound)));
  };
  for (int i = 0; i < 16; ++i) {
    Box box;
    box.width = 1 + below(width);
    box.height = 1 + below(height);
    box.left = below(width - box.width + 1);
    box.top = below(height - box.height + 1);
    boxes.push_back(box);
  }
  return boxes;
}

// How many of the windows were decoded as such.
int expect_windows(Bytes file, RandomStream& random, int channels = 3) {
  const DecodedJpeg whole = whole_of(file, channels);
  EXPECT_EQ(whole.reason, "");
  int windows = 0;
  for (const Box& box :
       boxes_in(whole.image.width(), whole.image.height(), random)) {
    const DecodedJpeg part = window_of(file, box, channels);
    EXPECT_EQ(part.reason, "") << box_text(box);
    EXPECT_EQ(part.warnings, whole.warnings) << box_text(box);
    EXPECT_TRUE(same_pixels(whole, part, box)) << box_text(box);
    windows += part.window ? 1 : 0;
  }
  return windows;
}

std::vector<JpegKind> usual_kinds() {
  std::vector<JpegKind> kinds;
  for (const auto& [across, down] : {std::pair(1, 1), {2, 1}, {2, 2}, {1, 2}})
    for (const int restarts : {0, 1, 5})
      for (const int way : {0, 1, 2}) {
        JpegKind kind;
        kind.across = across;
        kind.down = down;
        kind.restart_interval = restarts;
        kind.progressive = way == 1;
        kind.interleaved = way != 2;
        kinds.push_back(kind);
      }
  return kinds;
}

std::string kind_text(const JpegKind& kind) {
  return cat(
      kind.across,
      "x",
      kind.down,
      kind.progressive ? " progressive" : "",
      kind.interleaved ? "" : " apart",
      " restarts ",
      kind.restart_interval);
}

TEST(DecodeWindow, HasThePixelsOfTheWholeImageForEverySamplingAndSize) {
  RandomStream random(1, 0, 0);
  int windows = 0;
  for (const JpegKind& kind : usual_kinds())
    for (const auto& [width, height] :
         {std::pair(1, 1),
          {2, 3},
          {5, 4},
          {16, 16},
          {17, 33},
          {31, 50},
          {64, 15},
          {15, 64},
          {100, 97},
          {129, 66}}) {
      SCOPED_TRACE(cat(kind_text(kind), ", ", width, "x", height));
      const auto file =
          jpeg_file(picture(width, height, 3, width % 2, 7), kind);
      windows += expect_windows(file, random);
    }
  EXPECT_GT(windows, 6000) << "most of them were decoded as windows";
}

TEST(DecodeWindow, EveryEdgeOfAWindowIsExact) {
  for (const JpegKind& kind : usual_kinds()) {
    if (kind.restart_interval != 0) continue;
    SCOPED_TRACE(kind_text(kind));
    const auto file = jpeg_file(picture(75, 70, 3, 0, 3), kind);
    const DecodedJpeg whole = whole_of(file);
    for (int at = 0; at < 70; ++at)
      for (const Box& box :
           {Box{at, at, 5, 1},
            Box{at, 0, 75 - at, 70 - at},
            Box{0, at, at + 1, 70 - at},
            Box{at, 69 - at, 1, at + 1}})
        EXPECT_TRUE(same_pixels(whole, window_of(file, box), box))
            << box_text(box);
  }
}

TEST(DecodeWindow, GreyImagesToo) {
  RandomStream random(2, 0, 0);
  int windows = 0;
  for (const bool progressive : {false, true})
    for (const int restarts : {0, 3})
      for (const int channels : {0, 1, 3}) {
        JpegKind kind;
        kind.across = kind.down = 1;
        kind.progressive = progressive;
        kind.restart_interval = restarts;
        const auto file = jpeg_file(picture(83, 59, 1, 0, 4), kind);
        windows += expect_windows(file, random, channels);
      }
  EXPECT_GT(windows, 200);
}

TEST(DecodeWindow, UnusualSamplingAndCodingAreDecodedWhole) {
  RandomStream random(3, 0, 0);
  std::vector<JpegKind> kinds(5);
  kinds[0].across = 4;
  kinds[0].down = 1;
  kinds[1].across = 1;
  kinds[1].down = 4;
  kinds[2].across = 4;
  kinds[2].down = 2;
  kinds[3].across = 3;
  kinds[4].arithmetic = true;
  for (const JpegKind& kind : kinds) {
    SCOPED_TRACE(kind_text(kind));
    const auto file = jpeg_file(picture(90, 71, 3, 0, 5), kind);
    EXPECT_EQ(expect_windows(file, random), 0);
  }
}

TEST(DecodeWindow, OtherFormatsAreDecodedWhole) {
  const std::string file = "P6 3 2 255\n" + std::string(18, 'x');
  const std::vector<std::uint8_t> bytes(file.begin(), file.end());
  EXPECT_FALSE(window_of(bytes, {1, 0, 1, 1}).window);
  EXPECT_EQ(window_of(bytes, {1, 0, 1, 1}).image.width(), 3);
}

TEST(DecodeWindow, IsChosenForTheSizeOfTheImage) {
  const auto file = jpeg_file(picture(40, 30, 3, 1, 1), {});
  const FixedWindow all(std::nullopt);
  Image image;
  int warnings = 0;
  EXPECT_FALSE(decode_window(file, {3}, all, image, warnings));
  EXPECT_EQ(all.size, (Box{0, 0, 40, 30}));
  EXPECT_EQ(image.width(), 40);
  EXPECT_FALSE(window_of(file, {0, 0, 40, 30}).window) << "that is all of it";
}

// Scans are dropped from the end of a progressive file: libjpeg guesses what
// is missing from the neighbouring blocks.
TEST(DecodeWindow, ProgressiveFilesThatLackScansHaveThePixelsOfTheWhole) {
  RandomStream random(4, 0, 0);
  JpegKind kind;
  kind.progressive = true;
  const auto file = jpeg_file(picture(99, 70, 3, 1, 9), kind);
  int cut_files = 0;
  for (std::size_t at = 2; at + 1 < file.size(); ++at) {
    constexpr std::uint8_t kTables = 0xC4; // stand before each scan
    if (file[at] != 0xFF || file[at + 1] != kTables) continue;
    auto cut = std::vector<std::uint8_t>(
        file.begin(), file.begin() + static_cast<std::ptrdiff_t>(at));
    cut.insert(cut.end(), {0xFF, JPEG_EOI});
    if (!whole_of(cut).reason.empty()) continue;
    SCOPED_TRACE(at);
    expect_windows(cut, random);
    ++cut_files;
  }
  EXPECT_GT(cut_files, 4);
}

TEST(DecodeWindow, ATruncatedFileIsRefusedWhereverItWasCut) {
  const Box top{8, 0, 40, 10};
  for (const JpegKind& kind : usual_kinds()) {
    SCOPED_TRACE(kind_text(kind));
    const auto file = jpeg_file(picture(90, 80, 3, 0, 2), kind);
    for (std::size_t size = 0; size < file.size(); size += 61) {
      const std::vector<std::uint8_t> cut(
          file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      const std::string reason = window_of(cut, top).reason;
      ASSERT_NE(reason, "");
      ASSERT_EQ(reason, whole_of(cut).reason) << size;
    }
  }
}

TEST(DecodeWindow, DamageIsRefusedInTheWordsOfAWholeDecode) {
  for (const JpegKind& kind : usual_kinds()) {
    SCOPED_TRACE(kind_text(kind));
    auto file = jpeg_file(picture(70, 60, 3, 0, 2), kind);
    for (std::size_t at = 0; at < file.size(); at += at < 800 ? 3 : 97)
      for (const std::uint8_t flip : {0x5A, 0xFF}) {
        file[at] ^= flip;
        const DecodedJpeg whole = whole_of(file);
        for (const Box& box : {Box{9, 4, 20, 9}, Box{30, 30, 40, 30}}) {
          // A damaged header may say another size.
          if (whole.reason.empty() &&
              (whole.image.width() != 70 || whole.image.height() != 60))
            continue;
          const DecodedJpeg part = window_of(file, box);
          ASSERT_EQ(part.reason, whole.reason) << at;
          if (whole.reason.empty()) {
            ASSERT_TRUE(same_pixels(whole, part, box)) << at;
          }
          ASSERT_LE(part.warnings, whole.warnings) << at;
        }
        file[at] ^= flip;
      }
  }
}

TEST(DecodeWindow, AStrangeMarkerBelowItIsMetAsInAWholeDecode) {
  const auto file = jpeg_file(picture(90, 80, 3, 0, 2), {});
  for (const std::uint8_t marker :
       {0x01, 0x02, 0xC0, 0xC4, 0xD8, 0xD9, 0xDA, 0xE1, 0xFE})
    for (const std::size_t back : {2U, 200U, 900U}) {
      SCOPED_TRACE(cat(int{marker}, " ", back));
      auto marked = file;
      marked.insert(
          marked.end() - static_cast<std::ptrdiff_t>(back), {0xFF, marker});
      const DecodedJpeg whole = whole_of(marked);
      const Box top{20, 3, 30, 8};
      const DecodedJpeg part = window_of(marked, top);
      EXPECT_EQ(part.reason, whole.reason);
      if (whole.reason.empty()) {
        EXPECT_TRUE(same_pixels(whole, part, top));
      }
    }
}

TEST(DecodeWindow, PhotographsAndFixturesHaveThePixelsOfTheWhole) {
  RandomStream random(5, 0, 0);
  std::vector<std::filesystem::path> files;
  for (const auto& folder :
       {tests::fixtures() / "decode", tests::photographs() / "val"}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  int windows = 0;
  for (const auto& path : files) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<std::uint8_t> bytes{
        std::istreambuf_iterator<char>(in), {}};
    if (sniff_image(bytes) != ImageFormat::jpeg) continue;
    if (!whole_of(bytes).reason.empty()) continue;
    SCOPED_TRACE(path);
    windows += expect_windows(bytes, random);
  }
  EXPECT_GT(windows, 50);
}

} // namespace
} // namespace temper::data

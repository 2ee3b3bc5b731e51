#include "temper/data/contact_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <cstring>
#include <filesystem>

#include "picture_source.h"
#include "temper/base/hash.h"
#include "temper/data/bitmap_font.h"
#include "temper/data/png_file.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;

PictureSource pictures(int count, int width = 32, int height = 32) {
  std::vector<Picture> list;
  for (int i = 0; i < count; ++i)
    list.push_back({width, height, 3, i, i % 2});
  return {list, {"cat", "dog"}};
}

std::uint64_t hash_of(const Image& image) {
  return hash64(image.pixels(), image.bytes());
}

TEST(ContactSheet, IsTheSameForTheSameSeedAndEpochOnly) {
  const auto source = pictures(100);
  SheetOptions options;
  const auto first = contact_sheet(source, nullptr, options);
  EXPECT_EQ(first.channels(), 3);
  EXPECT_EQ(hash_of(contact_sheet(source, nullptr, options)), hash_of(first));
  options.epoch = 1;
  EXPECT_NE(hash_of(contact_sheet(source, nullptr, options)), hash_of(first));
}

TEST(ContactSheet, IsNoLargerThanItsSamples) {
  SheetOptions options;
  const auto full = contact_sheet(pictures(48), nullptr, options);
  const auto one_row = contact_sheet(pictures(3), nullptr, options);
  EXPECT_EQ(one_row.width(), full.width());
  EXPECT_EQ((full.height() - 8) % (one_row.height() - 8), 0);
  EXPECT_EQ((full.height() - 8) / (one_row.height() - 8), 6);
}

TEST(ContactSheet, TakesImagesOfAnySizeAndBadOnes) {
  SheetOptions options;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {500, 3}, {3, 500}, {160, 160}, {161, 7}}) {
    auto source = pictures(4, width, height);
    source.bad = {0, 3};
    EXPECT_GT(contact_sheet(source, nullptr, options).bytes(), 0U);
  }
  EXPECT_THROW(contact_sheet(pictures(0), nullptr, options), Error);
}

TEST(ContactSheet, SmallPixelsBecomeBlocks) {
  SheetOptions options;
  const auto sheet = contact_sheet(pictures(1), nullptr, options);
  // 32 pixels in 160: blocks of five from the tile's corner at (8, 8).
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(sheet.row(8 + i)[3 * (8 + i)], 0);
  EXPECT_EQ(sheet.row(8)[3 * 13], 3);
  EXPECT_EQ(sheet.row(13)[3 * 8], 96);
}

// Fills the image with what it draws.
class Paint : public Transform {
 public:
  void apply(Image& image, Image&, RandomStream& random) const override {
    std::memset(
        image.pixels(), static_cast<int>(random.below(256)), image.bytes());
  }
  std::string describe() const override {
    return "paint";
  }
};

TEST(ContactSheet, ShowsWhatTheAugmentationLeaves) {
  const auto source = pictures(1);
  Augment augment;
  augment.transforms = {std::make_shared<Paint>(), std::make_shared<Paint>()};
  SheetOptions options;
  const auto sheet = contact_sheet(source, &augment, options);
  const int painted = RandomStream(0, 0, 0).substream(1).below(256);
  EXPECT_EQ(sheet.row(100)[3 * 100], painted);
}

TEST(BitmapFont, DrawsLettersAndStaysInside) {
  Image image(40, 9, 3);
  std::memset(image.pixels(), 0, image.bytes());
  draw_text(image, "iL", 0, 1, 40, 1, {1, 2, 3});
  EXPECT_EQ(image.row(1)[3 * 2 + 1], 2); // the i's stem
  EXPECT_EQ(image.row(7)[3 * 10 + 2], 3); // the L's foot
  EXPECT_EQ(image.row(1)[3 * 10], 0);
  const auto before = hash_of(image);
  draw_text(image, "M", 37, 1, 40, 1, {9, 9, 9}); // no room
  EXPECT_EQ(hash_of(image), before);
  draw_text(image, "MMMMMMMMMMMMMMMM", -3, -3, 400, 4, {9, 9, 9});
}

TEST(PngFile, ReadsBackAsItWas) {
  const tests::TempFolder folder;
  const fs::path path = folder / "sheet.png";
  for (const int channels : {1, 3}) {
    Image image(37, 5, channels);
    for (std::size_t i = 0; i < image.bytes(); ++i)
      image.pixels()[i] = static_cast<std::uint8_t>(i * 31);
    write_png(path, image);
    png_image read{};
    read.version = PNG_IMAGE_VERSION;
    ASSERT_NE(png_image_begin_read_from_file(&read, path.c_str()), 0);
    read.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    ASSERT_EQ(PNG_IMAGE_SIZE(read), image.bytes());
    std::vector<std::uint8_t> pixels(image.bytes());
    ASSERT_NE(
        png_image_finish_read(&read, nullptr, pixels.data(), 0, nullptr), 0);
    EXPECT_EQ(std::memcmp(pixels.data(), image.pixels(), image.bytes()), 0);
  }
  EXPECT_THROW(write_png("/no/such/folder/a.png", Image(1, 1, 3)), Error);
}

} // namespace
} // namespace temper::data

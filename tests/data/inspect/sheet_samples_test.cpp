#include "temper/data/inspect/sheet_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <cstring>
#include <filesystem>

#include "temper/base/digest/hash.h"
#include "temper/data/codec/png_file.h"
#include "tests/data/picture_source.h"
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

std::uint64_t sheet_hash(const std::vector<SheetSample>& samples) {
  Hasher hasher;
  for (const SheetSample& sample : samples) {
    hasher.add(static_cast<std::uint64_t>(sample.index));
    hasher.add(hash64(sample.image.pixels(), sample.image.bytes()));
  }
  return hasher.value();
}

TEST(SheetSamples, AreTheSameForTheSameSeedAndEpochOnly) {
  const auto source = pictures(100);
  SheetOptions options;
  const auto first = sheet_samples(source, nullptr, options);
  EXPECT_EQ(first.size(), 48U);
  EXPECT_EQ(
      sheet_hash(sheet_samples(source, nullptr, options)), sheet_hash(first));
  options.epoch = 1;
  EXPECT_NE(
      sheet_hash(sheet_samples(source, nullptr, options)), sheet_hash(first));
}

TEST(SheetSamples, AreNoMoreThanThereAre) {
  EXPECT_EQ(sheet_samples(pictures(3), nullptr, {}).size(), 3U);
  EXPECT_THROW(sheet_samples(pictures(0), nullptr, {}), Error);
}

TEST(SheetSamples, HaveTheNamesOfTheirClasses) {
  for (const SheetSample& sample : sheet_samples(pictures(4), nullptr, {}))
    EXPECT_EQ(sample.label, sample.index % 2 == 0 ? "cat" : "dog");
}

TEST(SheetSamples, AreMadeSmallerSoThatPhotographsFitInMemory) {
  for (const auto& [width, height] :
       {std::pair{1, 1}, {500, 3}, {3, 500}, {224, 224}, {225, 7}}) {
    auto source = pictures(4, width, height);
    source.bad = {0, 3};
    for (const SheetSample& sample : sheet_samples(source, nullptr, {})) {
      const bool bad = sample.index == 0 || sample.index == 3;
      EXPECT_EQ(sample.image.width() == 0, bad);
      EXPECT_LE(std::max(sample.image.width(), sample.image.height()), 224);
    }
  }
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

TEST(SheetSamples, ShowWhatTheAugmentationLeaves) {
  const auto source = pictures(1);
  Augment augment;
  augment.transforms = {std::make_shared<Paint>(), std::make_shared<Paint>()};
  const auto shown = sheet_samples(source, &augment, {});
  const int painted = RandomStream(0, 0, 0).substream(1).below(256);
  EXPECT_EQ(shown.at(0).image.row(9)[3 * 9], painted);
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

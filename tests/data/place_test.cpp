#include "temper/data/place.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loader_samples.h"
#include "temper/data/erase.h"

namespace temper::data {
namespace {

Image counting(int width, int height, int channels) {
  Image image(width, height, channels);
  for (std::size_t i = 0; i < image.bytes(); ++i)
    image.pixels()[i] = static_cast<std::uint8_t>(37 * i + 11);
  return image;
}

TEST(Place, BothLayoutsHoldTheSamePixels) {
  for (const int channels : {1, 3}) {
    const Image image = counting(5, 4, channels);
    const NormaliseTable table(channels, {0.5F}, {0.25F});
    std::vector<std::uint8_t> last(image.bytes());
    std::vector<std::uint8_t> first(image.bytes());
    std::vector<float> last_f(image.bytes());
    std::vector<float> first_f(image.bytes());
    place_u8(image, true, last.data());
    place_u8(image, false, first.data());
    place_f32(image, table, true, last_f.data());
    place_f32(image, table, false, first_f.data());
    const auto count = static_cast<std::size_t>(channels);
    for (std::size_t p = 0; p < 20; ++p)
      for (std::size_t c = 0; c < count; ++c) {
        const std::uint8_t pixel = image.pixels()[p * count + c];
        EXPECT_EQ(last[p * count + c], pixel);
        EXPECT_EQ(first[c * 20 + p], pixel);
        const float value = (static_cast<float>(pixel) / 255.0F - 0.5F) / 0.25F;
        EXPECT_EQ(last_f[p * count + c], value);
        EXPECT_EQ(first_f[c * 20 + p], value);
      }
  }
}

// Of torchvision 0.14.1: ToTensor, then Normalize(0.4914, 0.2470).
TEST(Place, NormalisesToTheFloatsOfTorchvision) {
  const NormaliseTable table(3, {0.4914F, 0.5F, 0.0F}, {0.2470F, 0.5F, 1.0F});
  // Value by value, as hexadecimal floats.
  EXPECT_EQ(table.channel(0)[0], -0x1.fd4e260000000p+0F);
  EXPECT_EQ(table.channel(0)[1], -0x1.f93da60000000p+0F);
  EXPECT_EQ(table.channel(0)[7], -0x1.e0daa40000000p+0F);
  EXPECT_EQ(table.channel(0)[64], -0x1.f25c120000000p-1F);
  EXPECT_EQ(table.channel(0)[100], -0x1.9b6fe80000000p-2F);
  EXPECT_EQ(table.channel(0)[127], 0x1.b864640000000p-6F);
  EXPECT_EQ(table.channel(0)[128], 0x1.5e42800000000p-5F);
  EXPECT_EQ(table.channel(0)[200], 0x1.2f96320000000p+0F);
  EXPECT_EQ(table.channel(0)[254], 0x1.0588a40000000p+1F);
  EXPECT_EQ(table.channel(0)[255], 0x1.0790e60000000p+1F);
  EXPECT_EQ(table.channel(1)[255], 1.0F);
  EXPECT_EQ(table.channel(2)[51], 51.0F / 255.0F);
}

TEST(Erase, DrawsBoxesOfTheAreaAndShapeTorchvisionDraws) {
  int drawn = 0;
  for (std::uint64_t item = 0; item < 4000; ++item) {
    RandomStream random(1, 0, item);
    const auto box = draw_erase_box(32, 40, 0.5, random);
    if (!box) continue;
    ++drawn;
    const double area = box->height * box->width / (32.0 * 40.0);
    EXPECT_GT(area, 0.015);
    EXPECT_LT(area, 0.36);
    EXPECT_LT(box->height, 32);
    EXPECT_LT(box->width, 40);
    EXPECT_GE(box->top, 0);
    EXPECT_GE(box->left, 0);
    EXPECT_LE(box->top + box->height, 32);
    EXPECT_LE(box->left + box->width, 40);
  }
  EXPECT_NEAR(drawn, 2000, 150);
}

TEST(Erase, SetsTheBoxAndNothingElse) {
  const EraseBox box{1, 2, 2, 3};
  const float values[3] = {1, 2, 3};
  for (const bool last : {true, false}) {
    std::vector<float> image(6 * 7 * 3, -1);
    erase(box, 6, 7, 3, last, values, image.data());
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 7; ++x)
        for (int c = 0; c < 3; ++c) {
          const bool inside = y >= 1 && y < 3 && x >= 2 && x < 5;
          const int at = last ? (y * 7 + x) * 3 + c : (c * 6 + y) * 7 + x;
          EXPECT_EQ(
              image[static_cast<std::size_t>(at)],
              inside ? static_cast<float>(c + 1) : -1.0F);
        }
  }
}

TEST(Erase, MeansZeroAfterNormalisationAndTheMeanInBytes) {
  auto augment = shifting();
  augment->transforms.clear();
  augment->erase_probability = 1;
  const auto source = std::make_shared<MadeSource>(8, 32);
  LoaderOptions options;
  options.batch = 8;
  options.shuffle = false;
  Loader floats(source, augment, options);
  options.element = Element::u8;
  Loader bytes(source, augment, options);
  floats.start(0);
  bytes.start(0);
  const auto* f = static_cast<const float*>(floats.next()->inputs);
  const auto* u = static_cast<const std::uint8_t*>(bytes.next()->inputs);
  const std::uint8_t mean[3] = {128, 102, 76}; // 0.5, 0.4, 0.3; half to even
  std::size_t erased = 0;
  for (std::size_t i = 0; i < 8 * 32 * 32 * 3; ++i)
    if (f[i] == 0.0F) {
      EXPECT_EQ(u[i], mean[i % 3]);
      ++erased;
    }
  EXPECT_GT(erased, 8 * 32 * 32 * 3 / 50U);
}

} // namespace
} // namespace temper::data

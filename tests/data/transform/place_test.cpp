#include "temper/data/transform/place.h"

#include <gtest/gtest.h>

#include "tests/data/loader/loader_samples.h"

namespace temper::data {
namespace {

Image counting_image(int width, int height, int channels) {
  Image image(width, height, channels);
  for (std::size_t i = 0; i < image.bytes(); ++i)
    image.pixels()[i] = static_cast<std::uint8_t>(37 * i + 11);
  return image;
}

Augment normalising(int channels) {
  Augment augment;
  augment.channels = channels;
  augment.mean.assign(static_cast<std::size_t>(channels), 0.5F);
  augment.deviation.assign(static_cast<std::size_t>(channels), 0.25F);
  return augment;
}

TEST(Place, BothLayoutsHoldTheSamePixels) {
  const RandomStream stream(1, 2, 3);
  for (const int channels : {1, 3}) {
    const Image image = counting_image(5, 4, channels);
    const Placer channels_last(normalising(channels), true);
    const Placer channels_first(normalising(channels), false);
    std::vector<std::uint8_t> last(image.bytes());
    std::vector<std::uint8_t> first(image.bytes());
    std::vector<float> last_f(image.bytes());
    std::vector<float> first_f(image.bytes());
    channels_last.place(image, stream, last.data());
    channels_first.place(image, stream, first.data());
    channels_last.place(image, stream, last_f.data());
    channels_first.place(image, stream, first_f.data());
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
  const std::uint8_t mean[3] = {128, 102, 77}; // nearest to 0.5, 0.4 and 0.3
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

// Chance in transforms: what is drawn depends on the sample's key alone.
#include "temper/data/transform/transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "temper/data/sample/source.h"
#include "temper/data/transform/colour.h"
#include "temper/data/transform/crop.h"
#include "temper/data/transform/erase.h"
#include "temper/data/transform/flip.h"
#include "temper/data/transform/photometric.h"
#include "temper/data/transform/rand_augment.h"
#include "temper/data/transform/resize.h"
#include "tests/data/picture.h"

namespace temper::data {
namespace {

using Pixels = std::string;

Pixels pixels_of(const Image& image) {
  return {image.pixels(), image.pixels() + image.bytes()};
}

// As the loader does it.
Pixels run(
    const Transforms& transforms,
    const RandomStream& stream,
    Image image,
    Image spare = {}) {
  for (std::size_t n = 0; n < transforms.size(); ++n) {
    auto random = stream.substream(static_cast<std::uint8_t>(n));
    transforms[n]->apply(image, spare, random);
  }
  return pixels_of(image);
}

template <class T, class... Arguments>
std::shared_ptr<const Transform> make(Arguments... arguments) {
  return std::make_shared<const T>(arguments...);
}

Transforms all_random() {
  return {
      make<RandomResizedCrop>(40, 36),
      make<RandomCrop>(32, 30, 4),
      make<HorizontalFlip>(),
      make<ColourJitter>(JitterRange{0.4, 0.4, 0.4, 0.1}),
      make<RandAugment>(),
      make<TrivialAugment>(),
      make<Cutout>(8)};
}

TEST(Transform, TheSameKeyGivesTheSameBytesWhateverTheBuffersHeld) {
  const auto transforms = all_random();
  std::set<Pixels> different;
  for (std::uint64_t index = 0; index < 50; ++index) {
    const RandomStream stream(7, 3, index);
    const auto once = run(transforms, stream, picture(64, 48, 3, 1, 1));
    const auto again =
        run(transforms,
            stream,
            picture(64, 48, 3, 1, 1),
            picture(200, 150, 3, 0, 9));
    ASSERT_EQ(once, again) << index;
    different.insert(once);
  }
  EXPECT_GT(different.size(), 45U);
}

TEST(Transform, SeedEpochAndIndexEachChangeTheBytes) {
  const auto transforms = all_random();
  const auto of = [&](std::uint64_t seed, std::uint32_t epoch, int index) {
    const RandomStream stream(seed, epoch, static_cast<std::uint64_t>(index));
    return run(transforms, stream, picture(64, 48, 3, 1, 1));
  };
  EXPECT_NE(of(1, 0, 0), of(2, 0, 0));
  EXPECT_NE(of(1, 0, 0), of(1, 1, 0));
  EXPECT_NE(of(1, 0, 0), of(1, 0, 1));
}

// However much the jitter and RandAugment draw, the crop before them stays.
TEST(Transform, AddingOneDoesNotShiftTheDrawsOfOthers) {
  const auto crop = make<RandomCrop>(16, 16, 4);
  const auto flip = make<HorizontalFlip>();
  const auto none = make<ColourJitter>(JitterRange{});
  for (std::uint64_t index = 0; index < 40; ++index) {
    const RandomStream stream(1, 2, index);
    const auto alone = run({crop}, stream, picture(32, 32, 3, 1, 1));
    const auto more = run({crop, none}, stream, picture(32, 32, 3, 1, 1));
    EXPECT_EQ(alone, more);
    // Number 1 draws the same, however much number 0 does: neither of these
    // changes the image, but one draws twice and the other seven times.
    const auto whole = make<RandomCrop>(32, 32, 0);
    const auto first = run({none, flip}, stream, picture(32, 32, 3, 1, 1));
    const auto second = run({whole, flip}, stream, picture(32, 32, 3, 1, 1));
    EXPECT_EQ(first, second);
  }
}

TEST(Transform, TheFlipMirrorsAboutHalfOfTheImages) {
  const auto flip = make<HorizontalFlip>();
  const auto before = pixels_of(picture(32, 32, 3, 0, 1));
  int flipped = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const RandomStream stream(1, 0, index);
    if (run({flip}, stream, picture(32, 32, 3, 0, 1)) != before) ++flipped;
  }
  EXPECT_GT(flipped, 430);
  EXPECT_LT(flipped, 570);
}

TEST(Transform, ARandomCropReachesEveryPlaceAndPadsWithBlack) {
  const RandomCrop crop(32, 32, 4);
  std::set<Pixels> places;
  for (std::uint64_t index = 0; index < 2000; ++index) {
    Image image = picture(32, 32, 1, 3, 1), spare; // all 77
    RandomStream random(1, 0, index);
    crop.apply(image, spare, random);
    ASSERT_EQ(image.width(), 32);
    places.insert(pixels_of(image));
  }
  EXPECT_EQ(places.size(), 81U); // 9 x 9, each with other black edges
}

TEST(Transform, ACropLargerThanTheImageIsABadSample) {
  Image image = picture(10, 10, 3, 0, 1), spare;
  RandomStream random(1, 0, 0);
  EXPECT_THROW(RandomCrop(32, 32, 4).apply(image, spare, random), BadSample);
}

TEST(Transform, ALineIsNotResizedToGigabytes) {
  Image image = picture(30'000, 1, 3, 0, 1), spare;
  RandomStream random(1, 0, 0);
  EXPECT_THROW(Resize::short_edge(256).apply(image, spare, random), BadSample);
}

TEST(Transform, CutoutIsCutAtTheEdges) {
  const Cutout cutout(16);
  std::set<int> areas;
  for (std::uint64_t index = 0; index < 8000; ++index) {
    Image image = picture(32, 32, 1, 3, 1), spare;
    RandomStream random(1, 0, index);
    cutout.apply(image, spare, random);
    const auto bytes = pixels_of(image);
    areas.insert(static_cast<int>(std::count(bytes.begin(), bytes.end(), 0)));
  }
  EXPECT_EQ(*areas.rbegin(), 256);
  EXPECT_EQ(*areas.begin(), 64); // a quarter, in the corner
}

TEST(Transform, EachPartOfTheColourJitterIsDrawnAnewForEachSample) {
  for (const auto range :
       {JitterRange{0.5, 0, 0, 0},
        JitterRange{0, 0.5, 0, 0},
        JitterRange{0, 0, 0.5, 0},
        JitterRange{0, 0, 0, 0.5}}) {
    const ColourJitter jitter(range);
    std::set<Pixels> results;
    for (std::uint64_t index = 0; index < 100; ++index) {
      Image image = picture(16, 16, 3, 0, 1), spare;
      RandomStream random(1, 0, index);
      jitter.apply(image, spare, random);
      results.insert(pixels_of(image));
    }
    EXPECT_GT(results.size(), 75U) << jitter.describe();
  }
}

TEST(Transform, ColourJitterTakesItsPartsInRandomOrder) {
  // Clipping and rounding make the order of the two show in the pixels.
  const ColourJitter jitter({1.0, 1.0, 0, 0});
  int brightness_first = 0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    Image image = picture(16, 16, 3, 0, 1), spare;
    RandomStream random(1, 0, index);
    jitter.apply(image, spare, random);
    RandomStream again(1, 0, index);
    for (int i = 0; i < 3; ++i) {
      again.bits(); // the order
    }
    const double brightness = again.uniform(0, 2);
    const double contrast = again.uniform(0, 2);
    Image expected = picture(16, 16, 3, 0, 1);
    adjust_brightness(expected, brightness);
    adjust_contrast(expected, contrast);
    if (pixels_of(image) == pixels_of(expected)) ++brightness_first;
  }
  EXPECT_GT(brightness_first, 60);
  EXPECT_LT(brightness_first, 140);
}

} // namespace
} // namespace temper::data

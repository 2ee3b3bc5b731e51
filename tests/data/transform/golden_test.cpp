// Our pixels against those of torchvision on PIL: parameters and CRC-32s made
// by reference/pixels.py. Not one byte may differ.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "temper/data/transform/affine.h"
#include "temper/data/transform/colour.h"
#include "temper/data/transform/crop.h"
#include "temper/data/transform/erase.h"
#include "temper/data/transform/mix.h"
#include "temper/data/transform/photometric.h"
#include "temper/data/transform/rand_augment.h"
#include "temper/data/transform/resize.h"
#include "temper/kernels/normalise.h"
#include "tests/data/picture.h"
#include "tests/paths.h"

namespace temper::data {
namespace {

using nlohmann::json;

std::string read_fixture(const std::string& name) {
  std::ifstream file(tests::fixtures() / "pixels" / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const json& golden(const char* part) {
  static const json index = json::parse(read_fixture("index.json"));
  return index.at(part);
}

// CRC-32 as zlib has it.
std::uint32_t crc32(const void* data, std::size_t bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  const auto* at = static_cast<const std::uint8_t*>(data);
  for (std::size_t i = 0; i < bytes; ++i) {
    crc ^= at[i];
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
  }
  return ~crc;
}

std::uint32_t crc32(const Image& image) {
  return crc32(image.pixels(), image.bytes());
}

std::uint32_t crc32(const std::vector<float>& numbers) {
  return crc32(numbers.data(), numbers.size() * sizeof(float));
}

Image picture_of(const json& p) {
  return picture(p[0], p[1], p[2], p[3], p[4].get<std::uint32_t>());
}

Filter filter(const json& name) {
  if (name == "nearest") return Filter::nearest;
  return name == "bilinear" ? Filter::bilinear : Filter::bicubic;
}

RandomStream no_chance() {
  return {0, 0, 0};
}

TEST(Golden, CroppedAndResizedImagesArePils) {
  int count = 0;
  for (const auto& c : golden("resize")) {
    const Image in = picture_of(c[1]);
    Image out;
    const Box box{c[2][0], c[2][1], c[2][2], c[2][3]};
    resize_window(in, box, c[3][0], c[3][1], filter(c[0]), out);
    EXPECT_EQ(crc32(out), c[4].get<std::uint32_t>()) << c;
    ++count;
  }
  EXPECT_GT(count, 740);
}

TEST(Golden, ResizingTheShortEdgeIsTorchvisions) {
  for (const auto& c : golden("short_edge")) {
    Image image = picture_of(c[1]), spare;
    auto random = no_chance();
    Resize::short_edge(c[2], filter(c[0])).apply(image, spare, random);
    EXPECT_EQ(image.width(), c[3].get<int>()) << c;
    EXPECT_EQ(image.height(), c[4].get<int>()) << c;
    EXPECT_EQ(crc32(image), c[5].get<std::uint32_t>()) << c;
  }
}

TEST(Golden, CentreCropsAreTorchvisions) {
  for (const auto& c : golden("centre_crop")) {
    Image image = picture_of(c[0]), spare;
    auto random = no_chance();
    CentreCrop(c[1], c[2]).apply(image, spare, random);
    EXPECT_EQ(crc32(image), c[3].get<std::uint32_t>()) << c;
  }
}

using Adjust = std::function<void(Image&, Image&, double)>;

// Each case: [name, picture, [[parameter, crc], ...]].
void expect_golden(
    const json& cases,
    const std::map<std::string, Adjust>& adjusts) {
  for (const auto& c : cases) {
    const auto& adjust = adjusts.at(c[0]);
    for (const auto& result : c[2]) {
      Image image = picture_of(c[1]), spare;
      adjust(image, spare, result[0].get<double>());
      EXPECT_EQ(crc32(image), result[1].get<std::uint32_t>())
          << c[0] << " " << c[1] << " " << result;
    }
  }
}

TEST(Golden, ColoursArePils) {
  expect_golden(
      golden("photometric"),
      {{"brightness",
        [](Image& i, Image&, double f) { adjust_brightness(i, f); }},
       {"contrast", [](Image& i, Image&, double f) { adjust_contrast(i, f); }},
       {"saturation",
        [](Image& i, Image&, double f) { adjust_saturation(i, f); }},
       {"sharpness",
        [](Image& i, Image& s, double f) { adjust_sharpness(i, s, f); }},
       {"hue", [](Image& i, Image&, double f) { adjust_hue(i, f); }},
       {"posterize",
        [](Image& i, Image&, double f) { posterize(i, static_cast<int>(f)); }},
       {"solarize", [](Image& i, Image&, double f) { solarize(i, f); }},
       {"autocontrast", [](Image& i, Image&, double) { autocontrast(i); }},
       {"equalize", [](Image& i, Image&, double) { equalize(i); }},
       {"invert", [](Image& i, Image&, double) { invert(i); }}});
}

// For the order and the factors that torch drew.
TEST(Golden, ColourJitterIsTorchvisions) {
  int count = 0;
  for (const auto& c : golden("jitter")) {
    const JitterRange range{c[1][0], c[1][1], c[1][2], c[1][3]};
    for (const auto& draw : c[2]) {
      Jitter drawn;
      drawn.order = draw[0].get<std::array<int, 4>>();
      drawn.brightness = draw[1];
      drawn.contrast = draw[2];
      drawn.saturation = draw[3];
      drawn.turn = draw[4];
      Image image = picture_of(c[0]);
      apply_jitter(image, range, drawn);
      EXPECT_EQ(crc32(image), draw[5].get<std::uint32_t>()) << c[0] << draw;
      ++count;
    }
  }
  EXPECT_GT(count, 100);
}

TEST(Golden, ShearsShiftsAndTurnsArePils) {
  expect_golden(
      golden("affine"),
      {{"ShearX", [](Image& i, Image& s, double f) { shear_x(i, s, f); }},
       {"ShearY", [](Image& i, Image& s, double f) { shear_y(i, s, f); }},
       {"TranslateX",
        [](Image& i, Image& s, double f) {
          translate(i, s, static_cast<int>(f), 0);
        }},
       {"TranslateY",
        [](Image& i, Image& s, double f) {
          translate(i, s, 0, static_cast<int>(f));
        }},
       {"Rotate", [](Image& i, Image& s, double f) { rotate(i, s, f); }}});
}

TEST(Golden, EveryBinOfRandAugmentAndTrivialAugmentIsTorchvisions) {
  int count = 0;
  for (const auto& c : golden("policy")) {
    const auto operation = static_cast<Operation>(c[2].get<int>());
    EXPECT_TRUE(c[3] == 1 || is_signed(operation)) << c;
    const auto& results = c[4];
    for (int bin = 0; bin < static_cast<int>(results.size()); ++bin) {
      Image image = picture_of(c[1]), spare;
      const double magnitude = c[0] == "rand"
          ? rand_augment_magnitude(
                operation, bin, 31, image.width(), image.height())
          : trivial_augment_magnitude(operation, bin, 31);
      apply_operation(operation, magnitude * c[3].get<int>(), image, spare);
      const auto crc = results[static_cast<std::size_t>(bin)];
      EXPECT_EQ(crc32(image), crc.get<std::uint32_t>())
          << c[0] << c[1] << " operation " << c[2] << " bin " << bin;
      ++count;
    }
  }
  EXPECT_GT(count, 3000);
}

// For the draws that torch made: the first that fits, or the fallback.
TEST(Golden, RandomResizedCropChoosesTorchvisionsBoxes) {
  int fallbacks = 0;
  for (const auto& c : golden("resized_crop")) {
    std::optional<Box> box;
    for (const auto& draw : c[2]) {
      EXPECT_FALSE(box) << c;
      box = resized_crop_size(c[0], c[1], draw[0], draw[1]);
    }
    EXPECT_EQ(box.has_value(), c[4].get<bool>()) << c;
    if (!box) {
      box = resized_crop_fallback(c[0], c[1], {});
      ++fallbacks;
    }
    EXPECT_EQ(*box, (Box{c[3][0], c[3][1], c[3][2], c[3][3]})) << c;
  }
  EXPECT_GT(fallbacks, 5);
}

TEST(Golden, RandomErasingChoosesTorchvisionsBoxes) {
  for (const auto& c : golden("erasing")) {
    std::optional<Box> box;
    for (const auto& draw : c[2]) {
      EXPECT_FALSE(box) << c;
      box = erased_size(c[0], c[1], draw[0], draw[1]);
    }
    EXPECT_EQ(box.has_value(), c[4].get<bool>()) << c;
    if (!box) continue;
    EXPECT_EQ(box->width, c[3][2].get<int>()) << c;
    EXPECT_EQ(box->height, c[3][3].get<int>()) << c;
  }
}

TEST(Golden, NormalisedFloatsAreTorchvisionsToTheLastBit) {
  for (const auto& c : golden("normalise")) {
    const Image image = picture_of(c[0]);
    const kernels::Normaliser normaliser(
        image.channels(),
        c[1].get<std::vector<float>>(),
        c[2].get<std::vector<float>>());
    std::vector<float> out(image.bytes());
    const auto pixels =
        image.bytes() / static_cast<std::size_t>(image.channels());
    normaliser.planar(image.pixels(), pixels, out.data());
    EXPECT_EQ(crc32(out), c[3].get<std::uint32_t>()) << c;
    normaliser.interleaved(image.pixels(), pixels, out.data());
    EXPECT_EQ(crc32(out), c[4].get<std::uint32_t>()) << c;
  }
}

TEST(Golden, MixedBatchesAreThoseOfTorchvisionsReference) {
  constexpr int kSamples = 5, kClasses = 4;
  for (const auto& c : golden("mix")) {
    std::vector<float> inputs(kSamples * 3 * 6 * 8);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = static_cast<float>(i) / 7.0F;
    }
    std::vector<float> targets(kSamples * kClasses);
    const std::int64_t labels[] = {0, 1, 2, 3, 0};
    one_hot(labels, kSamples, kClasses, 0, targets.data());
    const MixBatch batch{
        inputs.data(), targets.data(), kSamples, 6, 8, 3, kClasses, false};
    const double lambda = c[1];
    if (c[0] == "mixup") {
      mixup(batch, lambda);
    } else {
      cutmix(batch, cutmix_box(8, 6, lambda, c[2], c[3]));
    }
    EXPECT_EQ(crc32(inputs), c[4].get<std::uint32_t>()) << c;
    EXPECT_EQ(crc32(targets), c[5].get<std::uint32_t>()) << c;
  }
}

void expect_bytes(const Image& image, const std::string& name) {
  const std::string expected = read_fixture(name);
  ASSERT_EQ(image.bytes(), expected.size()) << name;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(expected[i]);
    const auto pixel = i / 3;
    const auto width = static_cast<std::size_t>(image.width());
    ASSERT_EQ(int{image.pixels()[i]}, int{byte})
        << name << " at x " << pixel % width << ", y " << pixel / width
        << ", channel " << i % 3;
  }
}

TEST(Golden, AFewImagesAgreeByteForByte) {
  const Image in = picture(37, 23, 3, 1, 1);
  Image out, spare;
  resize_window(in, {0, 0, 37, 23}, 20, 31, Filter::bilinear, out);
  expect_bytes(out, "bilinear.raw");
  resize_window(in, {0, 0, 37, 23}, 20, 31, Filter::bicubic, out);
  expect_bytes(out, "bicubic.raw");
  out = picture(37, 23, 3, 1, 1);
  adjust_hue(out, 0.1);
  expect_bytes(out, "hue.raw");
  out = picture(37, 23, 3, 1, 1);
  rotate(out, spare, 30.0);
  expect_bytes(out, "rotate.raw");
}

} // namespace
} // namespace temper::data

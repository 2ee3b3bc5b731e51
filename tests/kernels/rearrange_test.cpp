#include "temper/kernels/rearrange.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/vector_units.h"

namespace temper::kernels {
namespace {

std::vector<std::uint8_t> counted(std::size_t bytes) {
  std::vector<std::uint8_t> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    result[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  }
  return result;
}

TEST(Rearrange, FlippingMirrorsEachRowOnEveryVectorUnit) {
  on_every_vector_unit([] {
    for (const std::size_t channels : {1U, 3U}) {
      for (std::size_t width = 1; width < 140; ++width) {
        constexpr std::size_t kHeight = 3;
        const auto before = counted(width * kHeight * channels);
        auto after = before;
        flip_horizontally(
            after.data(), width, kHeight, static_cast<int>(channels));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
          const std::size_t c = i % channels;
          const std::size_t x = i / channels % width;
          const std::size_t y = i / channels / width;
          const auto from = before[(y * width + width - 1 - x) * channels + c];
          if (after[i] != from) ++wrong;
        }
        ASSERT_EQ(wrong, 0U) << width << " x " << channels;
      }
    }
  });
}

TEST(Rearrange, PlanesAndInterleavedAreEachOthersInverse) {
  on_every_vector_unit([] {
    for (const std::size_t pixels : {1U, 15U, 16U, 100U, 1024U, 1031U}) {
      const auto planes = counted(3 * pixels);
      std::vector<std::uint8_t> mixed(3 * pixels);
      std::vector<std::uint8_t> again(3 * pixels);
      planar_to_interleaved(planes.data(), pixels, mixed.data());
      EXPECT_EQ(mixed[0], planes[0]);
      EXPECT_EQ(mixed[1], planes[pixels]);
      EXPECT_EQ(mixed[3 * pixels - 1], planes[3 * pixels - 1]);
      interleaved_to_planar(mixed.data(), pixels, again.data());
      EXPECT_EQ(again, planes);
    }
  });
}

} // namespace
} // namespace temper::kernels

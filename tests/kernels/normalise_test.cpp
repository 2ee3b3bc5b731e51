#include "temper/kernels/normalise.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/kernels/vector_units.h"

namespace temper::kernels {
namespace {

bool same_bits(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

void expect_table_everywhere(const Normaliser& normaliser) {
  const auto channels = static_cast<std::size_t>(normaliser.channels());
  // All values in all channels, and a length that no vector divides.
  constexpr std::size_t kPixels = 256 * 3 + 7;
  std::vector<std::uint8_t> in(kPixels * channels);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<std::uint8_t>(i + i / 256);
  }
  std::vector<float> interleaved(in.size());
  std::vector<float> planar(in.size());
  normaliser.interleaved(in.data(), kPixels, interleaved.data());
  normaliser.planar(in.data(), kPixels, planar.data());
  int different = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t c = i % channels;
    const float expected = normaliser.value(static_cast<int>(c), in[i]);
    if (!same_bits(interleaved[i], expected)) ++different;
    if (!same_bits(planar[c * kPixels + i / channels], expected)) ++different;
  }
  EXPECT_EQ(different, 0);
}

TEST(Normalise, IsTwoRoundedDivisions) {
  const Normaliser n(3, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F});
  const float unit = 77.0F / 255.0F;
  EXPECT_TRUE(same_bits(n.value(1, 77), (unit - 0.456F) / 0.224F));
  const Normaliser plain(1, {}, {});
  EXPECT_TRUE(same_bits(plain.value(0, 77), unit));
}

TEST(Normalise, GivesTheSameBitsOnEveryVectorUnit) {
  on_every_vector_unit([] {
    expect_table_everywhere(
        Normaliser(3, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}));
    expect_table_everywhere(Normaliser(
        3, {0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}));
    expect_table_everywhere(Normaliser(1, {0.1307F}, {0.3081F}));
    expect_table_everywhere(Normaliser(3, {}, {}));
    expect_table_everywhere(Normaliser(1, {}, {}));
  });
}

TEST(Normalise, StaysExactWhereTheReciprocalIsNot) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> any(0.01F, 1.5F);
  on_every_vector_unit([&] {
    for (int i = 0; i < 300; ++i) {
      expect_table_everywhere(Normaliser(1, {any(random)}, {any(random)}));
    }
  });
}

} // namespace
} // namespace temper::kernels

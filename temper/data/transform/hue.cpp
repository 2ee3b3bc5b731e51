// Pillow keeps hue, saturation and value in eight bits each and mixes float32
// and double on the way; which step rounds to which type decides the last bit.
#include <algorithm>
#include <cmath>

#include "temper/data/transform/photometric.h"

namespace temper::data {
namespace {

struct Hsv {
  std::uint8_t h, s, v;
};

std::uint8_t clipped(double x) {
  return static_cast<std::uint8_t>(std::clamp(static_cast<int>(x), 0, 255));
}

Hsv to_hsv(const std::uint8_t* rgb) {
  const int r = rgb[0], g = rgb[1], b = rgb[2];
  const int high = std::max({r, g, b});
  const int low = std::min({r, g, b});
  const auto value = static_cast<std::uint8_t>(high);
  if (high == low) return {0, 0, value};
  const auto range = static_cast<float>(high - low);
  const float saturation = range / static_cast<float>(high);
  const float red = static_cast<float>(high - r) / range;
  const float green = static_cast<float>(high - g) / range;
  const float blue = static_cast<float>(high - b) / range;
  float hue = 0;
  if (r == high) {
    hue = blue - green;
  } else if (g == high) {
    hue = static_cast<float>(
        2.0 + static_cast<double>(red) - static_cast<double>(blue));
  } else {
    hue = static_cast<float>(
        4.0 + static_cast<double>(green) - static_cast<double>(red));
  }
  // Between 5/6 and 11/6: the remainder of a division by 1 is exact.
  double turn = static_cast<double>(hue) / 6.0 + 1.0;
  if (turn >= 1.0) turn -= 1.0;
  const auto position = static_cast<float>(turn);
  return {
      clipped(static_cast<double>(position) * 255.0),
      clipped(static_cast<double>(saturation) * 255.0),
      value};
}

void from_hsv(const Hsv& hsv, std::uint8_t* rgb) {
  const std::uint8_t v = hsv.v;
  if (hsv.s == 0) {
    rgb[0] = rgb[1] = rgb[2] = v;
    return;
  }
  const double sixth = hsv.h * 6.0 / 255.0;
  const int sector = static_cast<int>(sixth);
  const auto f = static_cast<double>(static_cast<float>(sixth - sector));
  const auto s = static_cast<double>(static_cast<float>(hsv.s / 255.0));
  const std::uint8_t p = clipped(std::round(v * (1.0 - s)));
  const std::uint8_t q = clipped(std::round(v * (1.0 - s * f)));
  const std::uint8_t t = clipped(std::round(v * (1.0 - s * (1.0 - f))));
  const std::uint8_t sectors[6][3] = {
      {v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
  std::copy_n(sectors[sector % 6], 3, rgb);
}

} // namespace

void adjust_hue(Image& image, double turn) {
  if (image.channels() == 1) return;
  // By way of int: a negative float has no unsigned value, and ARM and x86
  // disagree about what it becomes.
  const int shift = static_cast<int>(turn * 255);
  std::uint8_t* pixels = image.pixels();
  const std::size_t bytes = image.bytes();
  for (std::size_t i = 0; i < bytes; i += 3) {
    Hsv hsv = to_hsv(pixels + i);
    hsv.h = static_cast<std::uint8_t>(hsv.h + shift);
    from_hsv(hsv, pixels + i);
  }
}

} // namespace temper::data

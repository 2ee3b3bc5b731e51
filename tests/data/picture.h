// The pictures of the golden files, made by the formula of reference/pixels.py.
#pragma once

#include <cstdint>

#include "temper/data/sample/image.h"

namespace temper::data {

// kind 0: noise; 1: slopes with grain; 2: few levels; 3: one value.
inline Image
picture(int width, int height, int channels, int kind, std::uint32_t seed) {
  Image image(width, height, channels);
  std::uint8_t* to = image.pixels();
  const auto w = static_cast<std::uint32_t>(width);
  const auto h = static_cast<std::uint32_t>(height);
  for (std::uint32_t y = 0; y < h; ++y) {
    for (std::uint32_t x = 0; x < w; ++x) {
      for (std::uint32_t c = 0; c < static_cast<std::uint32_t>(channels); ++c) {
        std::uint32_t hash = x * 0x9E3779B1U + y * 0x85EBCA77U +
            c * 0xC2B2AE3DU + seed * 0x27D4EB2FU;
        hash ^= hash >> 15;
        hash *= 0x2C1B3C6DU;
        hash ^= hash >> 12;
        std::uint32_t v = 77 + c;
        if (kind == 0) v = hash >> 24;
        if (kind == 1) v = x * 200 / w + y * 40 / h + c * 20 + (hash >> 28);
        if (kind == 2) v = 90 + c * 10 + (hash >> 27);
        *to++ = static_cast<std::uint8_t>(v);
      }
    }
  }
  return image;
}

} // namespace temper::data

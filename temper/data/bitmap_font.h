// Letters of five by seven pixels, for the labels of contact sheets. Capitals,
// digits and some signs; small letters become capitals, all else a box.
#pragma once

#include <cstdint>
#include <string_view>

#include "temper/data/image.h"

namespace temper::data {

constexpr int kLetterWidth = 6; // with the gap behind it
constexpr int kLetterHeight = 7;

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

// Onto an RGB image, each dot `scale` pixels wide; what does not fit between
// `x` and `right` is left out.
void draw_text(
    Image& image,
    std::string_view text,
    int x,
    int y,
    int right,
    int scale,
    Colour colour);

} // namespace temper::data

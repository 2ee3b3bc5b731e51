// Random erasing (Zhong et al., 2017) as torchvision has it: after
// normalisation, a rectangle of 2 to 33 % of the area becomes 0.
#pragma once

#include <optional>

#include "temper/base/philox.h"

namespace temper::data {

struct EraseBox {
  int top = 0;
  int left = 0;
  int height = 0;
  int width = 0;
};

// Nothing when the coin says no, or ten tries found no box that fits.
std::optional<EraseBox>
draw_erase_box(int height, int width, double probability, RandomStream& random);

// Sets the box to `values[channel]` in an image of either layout.
template <class Number>
void erase(
    const EraseBox& box,
    int height,
    int width,
    int channels,
    bool channels_last,
    const Number* values,
    Number* out) {
  const auto plane = static_cast<std::ptrdiff_t>(height) * width;
  for (int y = box.top; y < box.top + box.height; ++y)
    for (int x = box.left; x < box.left + box.width; ++x) {
      const auto pixel = static_cast<std::ptrdiff_t>(y) * width + x;
      for (int c = 0; c < channels; ++c)
        out[channels_last ? pixel * channels + c : c * plane + pixel] =
            values[c];
    }
}

} // namespace temper::data

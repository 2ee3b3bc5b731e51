#include "temper/data/transform/colour.h"

#include <algorithm>
#include <array>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/transform/photometric.h"

namespace temper::data {

void ToRgb::apply(Image& image, Image& spare, RandomStream&) const {
  if (image.channels() == 3) return;
  convert_to_rgb(image, spare);
  std::swap(image, spare);
}

std::string ToRgb::describe() const {
  return "to_rgb()";
}

void ToGrey::apply(Image& image, Image& spare, RandomStream&) const {
  if (image.channels() == 1) return;
  convert_to_grey(image, spare);
  std::swap(image, spare);
}

std::string ToGrey::describe() const {
  return "to_grey()";
}

ColourJitter::ColourJitter(JitterRange range) : range_(range) {
  check(
      range.brightness >= 0 && range.contrast >= 0 && range.saturation >= 0 &&
          range.hue >= 0 && range.hue <= 0.5,
      "a jitter is not negative, and that of the hue at most half a turn");
}

void ColourJitter::apply(Image& image, Image&, RandomStream& random) const {
  std::array<int, 4> order{0, 1, 2, 3};
  for (std::uint32_t left = 4; left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  // Always four draws, so that leaving one out does not shift the others.
  const auto factor = [&](double x) {
    return random.uniform(std::max(0.0, 1 - x), 1 + x);
  };
  const double brightness = factor(range_.brightness);
  const double contrast = factor(range_.contrast);
  const double saturation = factor(range_.saturation);
  const double turn = random.uniform(-range_.hue, range_.hue);
  for (const int operation : order) {
    if (operation == 0 && range_.brightness > 0) {
      adjust_brightness(image, brightness);
    } else if (operation == 1 && range_.contrast > 0) {
      adjust_contrast(image, contrast);
    } else if (operation == 2 && range_.saturation > 0) {
      adjust_saturation(image, saturation);
    } else if (operation == 3 && range_.hue > 0) {
      adjust_hue(image, turn);
    }
  }
}

std::string ColourJitter::describe() const {
  return cat(
      "colour_jitter(brightness=",
      range_.brightness,
      ", contrast=",
      range_.contrast,
      ", saturation=",
      range_.saturation,
      ", hue=",
      range_.hue,
      ")");
}

} // namespace temper::data

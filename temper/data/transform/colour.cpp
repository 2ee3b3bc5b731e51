#include "temper/data/transform/colour.h"

#include <algorithm>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/transform/photometric.h"

namespace temper::data {

ColourJitter::ColourJitter(JitterRange range) : range_(range) {
  check(
      range.brightness >= 0 && range.contrast >= 0 && range.saturation >= 0 &&
          range.hue >= 0 && range.hue <= 0.5,
      "a jitter is not negative, and that of the hue at most half a turn");
}

void apply_jitter(Image& image, const JitterRange& range, const Jitter& drawn) {
  for (const int operation : drawn.order) {
    if (operation == 0 && range.brightness > 0) {
      adjust_brightness(image, drawn.brightness);
    } else if (operation == 1 && range.contrast > 0) {
      adjust_contrast(image, drawn.contrast);
    } else if (operation == 2 && range.saturation > 0) {
      adjust_saturation(image, drawn.saturation);
    } else if (operation == 3 && range.hue > 0) {
      adjust_hue(image, drawn.turn);
    }
  }
}

void ColourJitter::apply(Image& image, Image&, RandomStream& random) const {
  Jitter drawn;
  for (std::uint32_t left = 4; left > 1; --left) {
    std::swap(drawn.order[left - 1], drawn.order[random.below(left)]);
  }
  // Always four draws, so that leaving one out does not shift the others.
  const auto factor = [&](double x) {
    return random.uniform(std::max(0.0, 1 - x), 1 + x);
  };
  drawn.brightness = factor(range_.brightness);
  drawn.contrast = factor(range_.contrast);
  drawn.saturation = factor(range_.saturation);
  drawn.turn = random.uniform(-range_.hue, range_.hue);
  apply_jitter(image, range_, drawn);
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

#include "temper/data/erase.h"

#include <cmath>

namespace temper::data {

std::optional<EraseBox> draw_erase_box(
    int height,
    int width,
    double probability,
    RandomStream& random) {
  constexpr double kSmallest = 0.02;
  constexpr double kLargest = 0.33;
  constexpr int kTries = 10;
  if (random.uniform() >= probability) return std::nullopt;
  const double low = std::log(0.3);
  const double high = std::log(3.3);
  const double area = static_cast<double>(height) * width;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const double part = area * random.uniform(kSmallest, kLargest);
    const double ratio = std::exp(random.uniform(low, high));
    // Half to even, as Python rounds.
    const double tall = std::nearbyint(std::sqrt(part * ratio));
    const double wide = std::nearbyint(std::sqrt(part / ratio));
    if (!(tall < height && wide < width)) continue;
    EraseBox box;
    box.height = static_cast<int>(tall);
    box.width = static_cast<int>(wide);
    box.top = static_cast<int>(
        random.below(static_cast<std::uint32_t>(height - box.height + 1)));
    box.left = static_cast<int>(
        random.below(static_cast<std::uint32_t>(width - box.width + 1)));
    return box;
  }
  return std::nullopt;
}

} // namespace temper::data

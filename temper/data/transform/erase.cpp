#include "temper/data/transform/erase.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {

Cutout::Cutout(int edge) : edge_(edge) {
  check(edge > 0, "a cutout has a size");
}

void Cutout::apply(Image& image, Image&, RandomStream& random) const {
  const auto anywhere = [&](int size) {
    return static_cast<int>(random.below(static_cast<std::uint32_t>(size)));
  };
  const int y = anywhere(image.height());
  const int x = anywhere(image.width());
  const int left = std::max(x - edge_ / 2, 0);
  const int right = std::min(x - edge_ / 2 + edge_, image.width());
  const int top = std::max(y - edge_ / 2, 0);
  const int bottom = std::min(y - edge_ / 2 + edge_, image.height());
  for (int row = top; row < bottom; ++row) {
    std::memset(
        image.row(row) + left * image.channels(),
        0,
        static_cast<std::size_t>((right - left) * image.channels()));
  }
}

std::string Cutout::describe() const {
  return cat("cutout(", edge_, ")");
}

std::optional<Box>
erased_size(int width, int height, double area, double aspect) {
  const double pixels =
      static_cast<double>(std::int64_t{width} * height) * area;
  const auto h = static_cast<int>(std::nearbyint(std::sqrt(pixels * aspect)));
  const auto w = static_cast<int>(std::nearbyint(std::sqrt(pixels / aspect)));
  if (h >= height || w >= width) return std::nullopt;
  return Box{0, 0, w, h};
}

std::optional<Box>
choose_erased(int width, int height, double probability, RandomStream& random) {
  constexpr int kTries = 10;
  constexpr double kLeast = 0.02, kMost = 0.33;
  const double low = std::log(0.3), high = std::log(3.3);
  if (random.uniform() >= probability) return std::nullopt;
  for (int i = 0; i < kTries; ++i) {
    const double area = random.uniform(kLeast, kMost);
    const double aspect = std::exp(random.uniform(low, high));
    auto box = erased_size(width, height, area, aspect);
    if (!box) continue;
    const auto anywhere = [&](int room) {
      return static_cast<int>(
          random.below(static_cast<std::uint32_t>(room) + 1));
    };
    box->top = anywhere(height - box->height);
    box->left = anywhere(width - box->width);
    return box;
  }
  return std::nullopt;
}

} // namespace temper::data

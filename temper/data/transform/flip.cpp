#include "temper/data/transform/flip.h"

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/kernels/rearrange.h"

namespace temper::data {

HorizontalFlip::HorizontalFlip(double probability) : probability_(probability) {
  check(probability >= 0 && probability <= 1, "a probability is within 0..1");
}

void HorizontalFlip::apply(Image& image, Image&, RandomStream& random) const {
  if (random.uniform() >= probability_) return;
  kernels::flip_horizontally(
      image.pixels(),
      static_cast<std::size_t>(image.width()),
      static_cast<std::size_t>(image.height()),
      image.channels());
}

std::string HorizontalFlip::describe() const {
  return cat("horizontal_flip(", probability_, ")");
}

} // namespace temper::data

#include "temper/data/transform/rand_augment.h"

#include <cmath>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/transform/affine.h"
#include "temper/data/transform/photometric.h"

namespace temper::data {
namespace {

// torch.linspace in float32: from the nearer end, so that both are exact. The
// last bit of torch's own depends on the vector unit it runs on; this is what
// it gives with AVX2, where the multiplication and the addition are fused.
double linspace(double first, double last, int bin, int bins) {
  const auto low = static_cast<float>(first);
  const auto high = static_cast<float>(last);
  const float step = (high - low) / static_cast<float>(bins - 1);
  return static_cast<double>(
      bin < bins / 2
          ? std::fma(step, static_cast<float>(bin), low)
          : std::fma(-step, static_cast<float>(bins - 1 - bin), high));
}

// The same for a shift, of which the whole pixels count: rounded in between,
// or half of 32 would be 15.
double shift(double last, int bin, int bins) {
  const auto high = static_cast<float>(last);
  const float step = high / static_cast<float>(bins - 1);
  const float up = step * static_cast<float>(bin);
  const float down = step * static_cast<float>(bins - 1 - bin);
  return static_cast<double>(bin < bins / 2 ? up : high - down);
}

// The numbers in which the two recipes differ.
struct Extremes {
  double shear;
  double translate_x;
  double translate_y;
  double degrees;
  double factor;
  int posterize_bits; // taken away at most
};

double
magnitude_of(Operation operation, int bin, int bins, const Extremes& most) {
  switch (operation) {
    case Operation::shear_x:
    case Operation::shear_y:
      return linspace(0, most.shear, bin, bins);
    case Operation::translate_x:
      return shift(most.translate_x, bin, bins);
    case Operation::translate_y:
      return shift(most.translate_y, bin, bins);
    case Operation::rotate:
      return linspace(0, most.degrees, bin, bins);
    case Operation::brightness:
    case Operation::saturation:
    case Operation::contrast:
    case Operation::sharpness:
      return linspace(0, most.factor, bin, bins);
    case Operation::posterize: {
      const double per_bit =
          static_cast<double>(bins - 1) / most.posterize_bits;
      return 8 - std::nearbyint(bin / per_bit);
    }
    case Operation::solarize:
      return linspace(255, 0, bin, bins);
    case Operation::identity:
    case Operation::autocontrast:
    case Operation::equalize:
      return 0;
  }
  return 0;
}

Operation draw_operation(RandomStream& random) {
  return static_cast<Operation>(random.below(kOperations));
}

} // namespace

bool is_signed(Operation operation) {
  return operation >= Operation::shear_x && operation <= Operation::sharpness;
}

double rand_augment_magnitude(
    Operation operation,
    int bin,
    int bins,
    int width,
    int height) {
  constexpr double kShift = 150.0 / 331.0;
  return magnitude_of(
      operation,
      bin,
      bins,
      {0.3, kShift * width, kShift * height, 30.0, 0.9, 4});
}

double trivial_augment_magnitude(Operation operation, int bin, int bins) {
  return magnitude_of(operation, bin, bins, {0.99, 32.0, 32.0, 135.0, 0.99, 6});
}

void apply_operation(
    Operation operation,
    double magnitude,
    Image& image,
    Image& spare) {
  switch (operation) {
    case Operation::identity:
      return;
    case Operation::shear_x:
      return shear_x(image, spare, magnitude);
    case Operation::shear_y:
      return shear_y(image, spare, magnitude);
    case Operation::translate_x:
      return translate(image, spare, static_cast<int>(magnitude), 0);
    case Operation::translate_y:
      return translate(image, spare, 0, static_cast<int>(magnitude));
    case Operation::rotate:
      return rotate(image, spare, magnitude);
    case Operation::brightness:
      return adjust_brightness(image, 1.0 + magnitude);
    case Operation::saturation:
      return adjust_saturation(image, 1.0 + magnitude);
    case Operation::contrast:
      return adjust_contrast(image, 1.0 + magnitude);
    case Operation::sharpness:
      return adjust_sharpness(image, spare, 1.0 + magnitude);
    case Operation::posterize:
      return posterize(image, static_cast<int>(magnitude));
    case Operation::solarize:
      return solarize(image, magnitude);
    case Operation::autocontrast:
      return autocontrast(image);
    case Operation::equalize:
      return equalize(image);
  }
}

RandAugment::RandAugment(int operations, int magnitude, int bins)
    : operations_(operations), magnitude_(magnitude), bins_(bins) {
  check(
      operations >= 0 && bins >= 2 && magnitude >= 0 && magnitude < bins,
      "a magnitude is one of its bins");
}

void RandAugment::apply(Image& image, Image& spare, RandomStream& random)
    const {
  for (int i = 0; i < operations_; ++i) {
    const Operation operation = draw_operation(random);
    const bool turned = random.coin();
    double magnitude = rand_augment_magnitude(
        operation, magnitude_, bins_, image.width(), image.height());
    if (turned && is_signed(operation)) magnitude = -magnitude;
    apply_operation(operation, magnitude, image, spare);
  }
}

std::string RandAugment::describe() const {
  return cat(
      "rand_augment(",
      operations_,
      ", magnitude=",
      magnitude_,
      ", bins=",
      bins_,
      ")");
}

TrivialAugment::TrivialAugment(int bins) : bins_(bins) {
  check(bins >= 2, "there are at least two magnitudes");
}

void TrivialAugment::apply(Image& image, Image& spare, RandomStream& random)
    const {
  const Operation operation = draw_operation(random);
  const auto bin =
      static_cast<int>(random.below(static_cast<std::uint32_t>(bins_)));
  double magnitude = trivial_augment_magnitude(operation, bin, bins_);
  if (random.coin() && is_signed(operation)) magnitude = -magnitude;
  apply_operation(operation, magnitude, image, spare);
}

std::string TrivialAugment::describe() const {
  return cat("trivial_augment(bins=", bins_, ")");
}

} // namespace temper::data

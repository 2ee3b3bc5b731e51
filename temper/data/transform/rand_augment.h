// rand_augment (Cubuk et al., 2019) and trivial_augment (Mueller and Hutter,
// 2021) as torchvision has them: some of fourteen operations, chosen by chance.
#pragma once

#include "temper/data/transform/transform.h"

namespace temper::data {

// The operations in torchvision's order.
enum class Operation {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  saturation,
  contrast,
  sharpness,
  posterize,
  solarize,
  autocontrast,
  equalize,
};
inline constexpr int kOperations = 14;

// Whether a coin decides about the sign of the magnitude.
bool is_signed(Operation operation);

// The magnitude of a bin, 0 <= bin < bins, in the operation's own unit.
double rand_augment_magnitude(
    Operation operation,
    int bin,
    int bins,
    int width,
    int height);
double trivial_augment_magnitude(Operation operation, int bin, int bins);

void apply_operation(
    Operation operation,
    double magnitude,
    Image& image,
    Image& spare);

class RandAugment : public Transform {
 public:
  explicit RandAugment(int operations = 2, int magnitude = 9, int bins = 31);
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;

 private:
  int operations_;
  int magnitude_;
  int bins_;
};

// The wide one.
class TrivialAugment : public Transform {
 public:
  explicit TrivialAugment(int bins = 31);
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;

 private:
  int bins_;
};

} // namespace temper::data

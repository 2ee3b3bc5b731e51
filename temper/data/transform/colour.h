// The transform of colours: colour_jitter.
#pragma once

#include <array>

#include "temper/data/transform/transform.h"

namespace temper::data {

// How far from unchanged: factors are drawn from 1 - x .. 1 + x (not below 0),
// the turn of the hue from -hue .. hue. 0: that one is left out.
struct JitterRange {
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double hue = 0; // at most 0.5
};

// One draw: the order of the four (0 brightness, 1 contrast, 2 saturation,
// 3 hue), and by how much each.
struct Jitter {
  std::array<int, 4> order{0, 1, 2, 3};
  double brightness = 1;
  double contrast = 1;
  double saturation = 1;
  double turn = 0;
};

// Applies the parts that the range does not leave out, as ColorJitter of
// torchvision does.
void apply_jitter(Image& image, const JitterRange& range, const Jitter& drawn);

// All four, in random order.
class ColourJitter : public Transform {
 public:
  explicit ColourJitter(JitterRange range);
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;

 private:
  JitterRange range_;
};

} // namespace temper::data

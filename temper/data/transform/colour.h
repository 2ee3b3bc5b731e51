// Transforms of colour: to_rgb, to_grey and colour_jitter.
#pragma once

#include "temper/data/transform/transform.h"

namespace temper::data {

class ToRgb : public Transform {
 public:
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;
  bool is_random() const override {
    return false;
  }
};

class ToGrey : public Transform {
 public:
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;
  bool is_random() const override {
    return false;
  }
};

// How far from unchanged: factors are drawn from 1 - x .. 1 + x (not below 0),
// the turn of the hue from -hue .. hue. 0: that one is left out.
struct JitterRange {
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double hue = 0; // at most 0.5
};

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

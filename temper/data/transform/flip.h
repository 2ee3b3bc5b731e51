// horizontal_flip: the image mirrored, with some probability.
#pragma once

#include "temper/data/transform/transform.h"

namespace temper::data {

class HorizontalFlip : public Transform {
 public:
  explicit HorizontalFlip(double probability = 0.5);
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;

 private:
  double probability_;
};

} // namespace temper::data

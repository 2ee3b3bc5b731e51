// Taking away a part of an image: cutout before normalisation, and the boxes of
// random erasing, which torchvision does after it (place.h).
#pragma once

#include <optional>

#include "temper/data/transform/crop.h"
#include "temper/data/transform/transform.h"

namespace temper::data {

// A square with its centre anywhere in the image, black, cut at the edges
// (DeVries and Taylor, 2017).
class Cutout : public Transform {
 public:
  explicit Cutout(int edge);
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;

 private:
  int edge_;
};

// Width and height of the erased box for these draws (share of the area, and
// height / width), where it leaves something of the image; left and top are 0.
std::optional<Box>
erased_size(int width, int height, double area, double aspect);

// Random erasing with torchvision's defaults: 2 % to 33 % of the area,
// proportions 0.3 to 3.3, ten tries. No value: the image stays whole.
std::optional<Box>
choose_erased(int width, int height, double probability, RandomStream& random);

} // namespace temper::data

// Changing the size of an image: resize and random_resized_crop. The window and
// the resize are one step; nothing is copied in between.
#pragma once

#include <optional>

#include "temper/data/transform/crop.h"
#include "temper/data/transform/transform.h"
#include "temper/kernels/resize.h"

namespace temper::data {

using kernels::Filter;

const char* to_string(Filter filter);

// `out` becomes the window of `in`, which lies inside it, at another size.
void resize_window(
    const Image& in,
    const Box& window,
    int width,
    int height,
    Filter filter,
    Image& out);

class Resize : public Transform {
 public:
  // Exactly so large, whatever that does to the proportions.
  Resize(int width, int height, Filter filter = Filter::bilinear);
  // The shorter edge as given, the proportions as they are.
  static Resize short_edge(int pixels, Filter filter = Filter::bilinear);

  // BadSample when the other edge would become absurdly long.
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;
  bool is_random() const override {
    return false;
  }

 private:
  int width_; // 0: by the shorter edge, height_
  int height_;
  Filter filter_;
};

// A part of the image, of random area (a share of the whole, within `area`)
// and proportions (width / height, within `aspect`), at a given size.
struct ResizedCropRange {
  double area_low = 0.08;
  double area_high = 1.0;
  double aspect_low = 3.0 / 4.0;
  double aspect_high = 4.0 / 3.0;
};

// Width and height of the window for these draws, where it fits. left and top
// are 0.
std::optional<Box>
resized_crop_size(int width, int height, double area, double aspect);
// The window when none fits: the middle, in the nearest allowed proportions.
Box resized_crop_fallback(int width, int height, const ResizedCropRange& range);
// Ten tries, then the fallback.
Box choose_resized_crop(
    int width,
    int height,
    const ResizedCropRange& range,
    RandomStream& random);

class RandomResizedCrop : public Transform {
 public:
  RandomResizedCrop(
      int width,
      int height,
      ResizedCropRange range = {},
      Filter filter = Filter::bilinear);
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::optional<Box> window(int width, int height, RandomStream random)
      const override;
  void apply_to_window(Image& image, Image& spare) const override;
  std::string describe() const override;

 private:
  int width_;
  int height_;
  ResizedCropRange range_;
  Filter filter_;
};

} // namespace temper::data

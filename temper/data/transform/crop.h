// Cutting a window out of an image, or an image out of a larger empty one:
// centre_crop, pad, random_crop. What lies outside the image is black.
#pragma once

#include "temper/data/transform/transform.h"

namespace temper::data {

// `out` becomes the window; it may reach over the edges of `in`.
void copy_window(const Image& in, const Box& window, Image& out);

// Where torchvision cuts a window out of the middle; negative where the image
// is the smaller one.
int centre_offset(int size, int window);

class CentreCrop : public Transform {
 public:
  CentreCrop(int width, int height);
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;
  bool is_random() const override {
    return false;
  }

 private:
  int width_;
  int height_;
};

class Pad : public Transform {
 public:
  explicit Pad(int pixels);
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;
  bool is_random() const override {
    return false;
  }

 private:
  int pixels_;
};

// A window anywhere in the image surrounded by `padding` black pixels; the
// padded image itself is never made. BadSample when that is still too small.
class RandomCrop : public Transform {
 public:
  RandomCrop(int width, int height, int padding);
  void apply(Image& image, Image& spare, RandomStream& random) const override;
  std::string describe() const override;

 private:
  int width_;
  int height_;
  int padding_;
};

} // namespace temper::data

#include "temper/data/sample/image.h"

#include <cstring>

#include "temper/base/error.h"

namespace temper::data {

void Image::reshape(int width, int height, int channels) {
  check(
      width >= 0 && height >= 0 && (channels == 1 || channels == 3),
      "an image has a size and one or three channels");
  width_ = width;
  height_ = height;
  channels_ = channels;
  if (bytes() <= capacity_ && pixels_) return;
  capacity_ = bytes();
  pixels_.reset(new std::uint8_t[capacity_ + kPadding]);
  std::memset(pixels_.get() + capacity_, 0, kPadding);
}

} // namespace temper::data

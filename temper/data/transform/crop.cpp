#include "temper/data/transform/crop.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "temper/base/text.h"
#include "temper/data/sample/source.h"

namespace temper::data {

void copy_window(const Image& in, const Box& window, Image& out) {
  out.reshape(window.width, window.height, in.channels());
  const int left = std::clamp(-window.left, 0, window.width);
  const int end = std::clamp(in.width() - window.left, left, window.width);
  const auto bytes = [&](int pixels) {
    return static_cast<std::size_t>(pixels) *
        static_cast<std::size_t>(in.channels());
  };
  for (int y = 0; y < window.height; ++y) {
    std::uint8_t* to = out.row(y);
    const int from = y + window.top;
    if (from < 0 || from >= in.height() || left == end) {
      std::memset(to, 0, out.row_bytes());
      continue;
    }
    std::memset(to, 0, bytes(left));
    std::memcpy(
        to + bytes(left),
        in.row(from) + bytes(left + window.left),
        bytes(end - left));
    std::memset(to + bytes(end), 0, bytes(window.width - end));
  }
}

int centre_offset(int size, int window) {
  if (window > size) return -((window - size) / 2);
  // Python's round(): halves go to the even neighbour.
  return static_cast<int>(std::nearbyint((size - window) / 2.0));
}

CentreCrop::CentreCrop(int width, int height) : width_(width), height_(height) {
  check(width > 0 && height > 0, "a crop has a size");
}

void CentreCrop::apply(Image& image, Image& spare, RandomStream&) const {
  if (image.width() == width_ && image.height() == height_) return;
  const Box window{
      centre_offset(image.width(), width_),
      centre_offset(image.height(), height_),
      width_,
      height_};
  copy_window(image, window, spare);
  std::swap(image, spare);
}

std::string CentreCrop::describe() const {
  return cat("centre_crop(", width_, "x", height_, ")");
}

Pad::Pad(int pixels) : pixels_(pixels) {
  check(pixels >= 0, "padding is not negative");
}

void Pad::apply(Image& image, Image& spare, RandomStream&) const {
  const Box window{
      -pixels_,
      -pixels_,
      image.width() + 2 * pixels_,
      image.height() + 2 * pixels_};
  copy_window(image, window, spare);
  std::swap(image, spare);
}

std::string Pad::describe() const {
  return cat("pad(", pixels_, ")");
}

RandomCrop::RandomCrop(int width, int height, int padding)
    : width_(width), height_(height), padding_(padding) {
  check(width > 0 && height > 0 && padding >= 0, "a crop has a size");
}

void RandomCrop::apply(Image& image, Image& spare, RandomStream& random) const {
  const int spare_width = image.width() + 2 * padding_ - width_;
  const int spare_height = image.height() + 2 * padding_ - height_;
  if (spare_width < 0 || spare_height < 0) {
    throw BadSample(
        cat("[data] cannot crop ",
            width_,
            "x",
            height_,
            " out of ",
            image.width(),
            "x",
            image.height(),
            " pixels: the image is smaller."),
        "Resize first, or set data.image_size to the smallest image's.");
  }
  const auto anywhere = [&](int room) {
    return static_cast<int>(random.below(static_cast<std::uint32_t>(room) + 1));
  };
  Box window{0, 0, width_, height_};
  window.top = anywhere(spare_height) - padding_;
  window.left = anywhere(spare_width) - padding_;
  copy_window(image, window, spare);
  std::swap(image, spare);
}

std::string RandomCrop::describe() const {
  return cat("random_crop(", width_, "x", height_, ", padding=", padding_, ")");
}

} // namespace temper::data

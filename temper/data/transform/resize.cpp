#include "temper/data/transform/resize.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "temper/base/text.h"
#include "temper/data/sample/source.h"

namespace temper::data {
namespace {

// A one-pixel line resized by its short edge would take gigabytes.
constexpr std::int64_t kLongestEdge = 65'535;

// Python's round(): halves go to the even neighbour.
int rounded(double x) {
  return static_cast<int>(std::nearbyint(x));
}

} // namespace

const char* to_string(Filter filter) {
  switch (filter) {
    case Filter::nearest:
      return "nearest";
    case Filter::bilinear:
      return "bilinear";
    case Filter::bicubic:
      return "bicubic";
  }
  return "";
}

void resize_window(
    const Image& in,
    const Box& window,
    int width,
    int height,
    Filter filter,
    Image& out) {
  static_assert(Image::kPadding >= kernels::Window::kReadAhead);
  // Transforms are shared by all threads; the weights of sizes met before and
  // the rows between the passes belong to one.
  thread_local kernels::ResizeScratch scratch;
  out.reshape(width, height, in.channels());
  const auto offset = static_cast<std::size_t>(window.left) *
      static_cast<std::size_t>(in.channels());
  kernels::resize(
      {in.row(window.top) + offset,
       in.row_bytes(),
       window.width,
       window.height,
       in.channels()},
      width,
      height,
      filter,
      out.pixels(),
      scratch);
}

Resize::Resize(int width, int height, Filter filter)
    : width_(width), height_(height), filter_(filter) {
  check(width >= 0 && height > 0, "an image is resized to some size");
}

Resize Resize::short_edge(int pixels, Filter filter) {
  return Resize(0, pixels, filter);
}

void Resize::apply(Image& image, Image& spare, RandomStream&) const {
  const std::int64_t in_width = image.width();
  const std::int64_t in_height = image.height();
  std::int64_t width = width_;
  std::int64_t height = height_;
  if (width_ == 0) {
    const std::int64_t edge = height_;
    const bool upright = in_width <= in_height;
    width = upright ? edge : edge * in_width / in_height;
    height = upright ? edge * in_height / in_width : edge;
  }
  if (width > kLongestEdge || height > kLongestEdge) {
    throw BadSample(
        cat("[data] cannot resize ",
            in_width,
            "x",
            in_height,
            " pixels: it would become ",
            width,
            "x",
            height,
            "."),
        "Remove the image, or run with data.bad = \"skip\".");
  }
  if (width == in_width && height == in_height) return;
  resize_window(
      image,
      {0, 0, image.width(), image.height()},
      static_cast<int>(width),
      static_cast<int>(height),
      filter_,
      spare);
  std::swap(image, spare);
}

std::string Resize::describe() const {
  const std::string size =
      width_ == 0 ? cat("short_edge=", height_) : cat(width_, "x", height_);
  return cat("resize(", size, ", ", to_string(filter_), ")");
}

std::optional<Box>
resized_crop_size(int width, int height, double area, double aspect) {
  const double pixels =
      static_cast<double>(std::int64_t{width} * height) * area;
  const int w = rounded(std::sqrt(pixels * aspect));
  const int h = rounded(std::sqrt(pixels / aspect));
  if (w <= 0 || w > width || h <= 0 || h > height) return std::nullopt;
  return Box{0, 0, w, h};
}

Box resized_crop_fallback(
    int width,
    int height,
    const ResizedCropRange& range) {
  const double aspect = static_cast<double>(width) / height;
  int w = width;
  int h = height;
  if (aspect < range.aspect_low) h = rounded(w / range.aspect_low);
  if (aspect > range.aspect_high) w = rounded(h * range.aspect_high);
  return {(width - w) / 2, (height - h) / 2, w, h};
}

Box choose_resized_crop(
    int width,
    int height,
    const ResizedCropRange& range,
    RandomStream& random) {
  constexpr int kTries = 10;
  const double low = std::log(range.aspect_low);
  const double high = std::log(range.aspect_high);
  for (int i = 0; i < kTries; ++i) {
    const double area = random.uniform(range.area_low, range.area_high);
    const double aspect = std::exp(random.uniform(low, high));
    auto box = resized_crop_size(width, height, area, aspect);
    if (!box) continue;
    const auto anywhere = [&](int room) {
      return static_cast<int>(
          random.below(static_cast<std::uint32_t>(room) + 1));
    };
    box->top = anywhere(height - box->height);
    box->left = anywhere(width - box->width);
    return *box;
  }
  return resized_crop_fallback(width, height, range);
}

RandomResizedCrop::RandomResizedCrop(
    int width,
    int height,
    ResizedCropRange range,
    Filter filter)
    : width_(width), height_(height), range_(range), filter_(filter) {
  check(
      width > 0 && height > 0 && range.area_low > 0 &&
          range.area_low <= range.area_high && range.aspect_low > 0 &&
          range.aspect_low <= range.aspect_high,
      "a random resized crop has a size and ranges");
}

void RandomResizedCrop::apply(Image& image, Image& spare, RandomStream& random)
    const {
  const Box box =
      choose_resized_crop(image.width(), image.height(), range_, random);
  resize_window(image, box, width_, height_, filter_, spare);
  std::swap(image, spare);
}

std::optional<Box>
RandomResizedCrop::window(int width, int height, RandomStream random) const {
  return choose_resized_crop(width, height, range_, random);
}

// The filter sees the window only, so nothing else is missed.
void RandomResizedCrop::apply_to_window(Image& image, Image& spare) const {
  const Box all{0, 0, image.width(), image.height()};
  resize_window(image, all, width_, height_, filter_, spare);
  std::swap(image, spare);
}

std::string RandomResizedCrop::describe() const {
  return cat(
      "random_resized_crop(",
      width_,
      "x",
      height_,
      ", area=",
      range_.area_low,
      "..",
      range_.area_high,
      ", aspect=",
      range_.aspect_low,
      "..",
      range_.aspect_high,
      ", ",
      to_string(filter_),
      ")");
}

} // namespace temper::data

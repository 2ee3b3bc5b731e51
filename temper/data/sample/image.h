// Eight-bit pixels in memory: rows top to bottom, channels interleaved, no
// gaps. What decoders fill, transforms change and the loader places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace temper::data {

// A rectangle of pixels.
struct Box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  bool operator==(const Box&) const = default;
};

class Image {
 public:
  // Readable (never written) bytes behind the last pixel, so that vector loads
  // may run over the end.
  static constexpr std::size_t kPadding = 64;

  Image() = default;
  Image(int width, int height, int channels) {
    reshape(width, height, channels);
  }

  // Sets the size; the pixels are undefined afterwards. Memory only grows, so
  // that a worker's images stop allocating after the first few samples.
  void reshape(int width, int height, int channels);

  int width() const {
    return width_;
  }
  int height() const {
    return height_;
  }
  int channels() const { // 1 (grey) or 3 (RGB)
    return channels_;
  }
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(width_) *
        static_cast<std::size_t>(channels_);
  }
  std::size_t bytes() const {
    return row_bytes() * static_cast<std::size_t>(height_);
  }
  std::uint8_t* pixels() {
    return pixels_.get();
  }
  const std::uint8_t* pixels() const {
    return pixels_.get();
  }
  std::uint8_t* row(int y) {
    return pixels_.get() + static_cast<std::size_t>(y) * row_bytes();
  }
  const std::uint8_t* row(int y) const {
    return pixels_.get() + static_cast<std::size_t>(y) * row_bytes();
  }

 private:
  std::unique_ptr<std::uint8_t[]> pixels_;
  std::size_t capacity_ = 0;
  int width_ = 0;
  int height_ = 0;
  int channels_ = 0;
};

} // namespace temper::data

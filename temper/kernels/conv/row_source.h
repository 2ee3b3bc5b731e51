// Where the rows of a multiplication lie in an image: a convolution is a
// product of rows with its weights, and a row is a pixel (1x1), every
// stride-th pixel, or the kernel x kernel pixels around it. Rows of the last
// two are gathered block by block while they are used. Its functions are always
// inline because files of every vector unit use them (simd/vector.h).
#pragma once

#include <cstdint>

namespace temper::kernels {

struct RowSource {
  const float* x = nullptr; // [images, height, width, channels]
  std::int64_t images = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;

  [[gnu::always_inline]] std::int64_t out_height() const {
    return (height + 2 * padding - kernel) / stride + 1;
  }
  [[gnu::always_inline]] std::int64_t out_width() const {
    return (width + 2 * padding - kernel) / stride + 1;
  }
  [[gnu::always_inline]] std::int64_t rows() const {
    return images * out_height() * out_width();
  }
  // In the order of weights that lie channels_last: kernel, kernel, channels.
  [[gnu::always_inline]] std::int64_t length() const {
    return kernel * kernel * channels;
  }
  // Rows lie in memory one after another.
  [[gnu::always_inline]] bool plain() const {
    return kernel == 1 && stride == 1 && padding == 0;
  }
};

} // namespace temper::kernels

// A convolution and its gradients as plain loops in double, and what tests of
// kernels compare with them.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "temper/kernels/conv_shape.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

inline Floats random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> any(0, 1);
  Floats made(static_cast<std::size_t>(count));
  for (float& value : made)
    value = any(random);
  return made;
}

inline std::int64_t x_count(const ConvShape& shape) {
  return shape.batch * shape.in_height * shape.in_width * shape.in_channels;
}
inline std::int64_t y_count(const ConvShape& shape) {
  return shape.batch * shape.out_height() * shape.out_width() *
      shape.out_channels;
}
inline std::int64_t weight_count(const ConvShape& shape) {
  return shape.out_channels * shape.kernel_height * shape.kernel_width *
      shape.in_channels;
}

// Calls visit(y, x, weight) with the places of the first of their channels for
// every tap inside.
inline void for_each_tap(
    const ConvShape& s,
    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>&
        visit) {
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t oh = 0; oh < s.out_height(); ++oh)
      for (std::int64_t ow = 0; ow < s.out_width(); ++ow)
        for (std::int64_t kh = 0; kh < s.kernel_height; ++kh)
          for (std::int64_t kw = 0; kw < s.kernel_width; ++kw) {
            const std::int64_t h = oh * s.stride_height - s.pad_height + kh;
            const std::int64_t w = ow * s.stride_width - s.pad_width + kw;
            if (h < 0 || h >= s.in_height || w < 0 || w >= s.in_width) continue;
            visit(
                ((n * s.out_height() + oh) * s.out_width() + ow) *
                    s.out_channels,
                ((n * s.in_height + h) * s.in_width + w) * s.in_channels,
                (kh * s.kernel_width + kw) * s.in_channels);
          }
}

struct PlainResults {
  Doubles y;
  Doubles x_gradient;
  Doubles weight_gradient;
};

inline PlainResults plain_convolution(
    const ConvShape& shape,
    const Floats& x,
    const Floats& weight,
    const Floats& gradient) {
  PlainResults found;
  found.y.resize(static_cast<std::size_t>(y_count(shape)));
  found.x_gradient.resize(x.size());
  found.weight_gradient.resize(weight.size());
  const std::int64_t row =
      shape.kernel_height * shape.kernel_width * shape.in_channels;
  for_each_tap(shape, [&](std::int64_t y, std::int64_t from, std::int64_t tap) {
    for (std::int64_t o = 0; o < shape.out_channels; ++o)
      for (std::int64_t c = 0; c < shape.in_channels; ++c) {
        const auto yi = static_cast<std::size_t>(y + o);
        const auto xi = static_cast<std::size_t>(from + c);
        const auto wi = static_cast<std::size_t>(o * row + tap + c);
        found.y[yi] += double{x[xi]} * double{weight[wi]};
        found.x_gradient[xi] += double{gradient[yi]} * double{weight[wi]};
        found.weight_gradient[wi] += double{gradient[yi]} * double{x[xi]};
      }
  });
  return found;
}

// The length of the difference over the length of the exact values.
inline double relative_error(const Floats& found, const Doubles& exact) {
  double difference = 0;
  double length = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double off = double{found[i]} - exact[i];
    difference += off * off;
    length += exact[i] * exact[i];
  }
  return std::sqrt(difference / (length > 0 ? length : 1));
}

inline std::string text_of(const ConvShape& s) {
  return std::to_string(s.batch) + " x " + std::to_string(s.in_height) + "x" +
      std::to_string(s.in_width) + " " + std::to_string(s.in_channels) + "->" +
      std::to_string(s.out_channels) + " kernel " +
      std::to_string(s.kernel_height) + "x" + std::to_string(s.kernel_width) +
      " stride " + std::to_string(s.stride_height) + "," +
      std::to_string(s.stride_width) + " padding " +
      std::to_string(s.pad_height) + "," + std::to_string(s.pad_width);
}

// Square kernel, stride and padding.
inline ConvShape shape_of(
    std::int64_t batch,
    std::int64_t height,
    std::int64_t width,
    std::int64_t in,
    std::int64_t out,
    std::int64_t kernel,
    std::int64_t stride,
    std::int64_t padding) {
  ConvShape shape;
  shape.batch = batch;
  shape.in_height = height;
  shape.in_width = width;
  shape.in_channels = in;
  shape.out_channels = out;
  shape.kernel_height = shape.kernel_width = kernel;
  shape.stride_height = shape.stride_width = stride;
  shape.pad_height = shape.pad_width = padding;
  return shape;
}

// The number of threads, as the test says.
inline int& threads_of_test() {
  static int threads = 1;
  return threads;
}

inline void run_with_threads(int threads, const std::function<void()>& work) {
  threads_of_test() = threads;
  set_thread_count([] { return threads_of_test(); });
  work();
  set_thread_count(nullptr);
}

} // namespace temper::kernels

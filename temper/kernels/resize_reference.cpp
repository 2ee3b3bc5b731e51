#include <algorithm>

#include "temper/kernels/resize.h"

namespace temper::kernels {
namespace {

std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

// One output from inputs that lie `step` bytes apart.
std::uint8_t weigh(
    const ResampleWeights& weights,
    int output,
    const std::uint8_t* line,
    std::size_t step) {
  const auto i = static_cast<std::size_t>(output);
  const auto taps = static_cast<std::size_t>(weights.taps);
  std::int32_t sum = 1 << (kWeightBits - 1);
  for (int t = 0; t < weights.count[i]; ++t) {
    const auto at = static_cast<std::size_t>(weights.first[i] + t);
    sum += line[at * step] *
        weights.weights[i * taps + static_cast<std::size_t>(t)];
  }
  return rounded(sum);
}

void nearest_reference(
    const Window& in,
    int out_width,
    int out_height,
    std::uint8_t* out) {
  const auto channels = static_cast<std::size_t>(in.channels);
  // Pillow adds up the positions instead of multiplying; the rounding of
  // these sums decides between neighbours.
  const double x_step = static_cast<double>(in.width) / out_width;
  const double y_step = static_cast<double>(in.height) / out_height;
  double y_in = y_step * 0.5;
  for (int y = 0; y < out_height; ++y, y_in += y_step) {
    double x_in = x_step * 0.5;
    for (int x = 0; x < out_width; ++x, x_in += x_step) {
      const bool inside = x_in < in.width && y_in < in.height;
      const std::uint8_t* from = in.pixels +
          static_cast<std::size_t>(y_in) * in.row_bytes +
          static_cast<std::size_t>(x_in) * channels;
      for (std::size_t c = 0; c < channels; ++c) {
        *out++ = inside ? from[c] : std::uint8_t{0};
      }
    }
  }
}

} // namespace

void resize_reference(
    const Window& in,
    int out_width,
    int out_height,
    Filter filter,
    std::uint8_t* out) {
  if (filter == Filter::nearest) {
    nearest_reference(in, out_width, out_height, out);
    return;
  }
  const auto channels = static_cast<std::size_t>(in.channels);
  const auto row_bytes = static_cast<std::size_t>(out_width) * channels;
  const auto in_height = static_cast<std::size_t>(in.height);
  ResampleWeights across;
  ResampleWeights down;
  compute_weights(in.width, out_width, filter, across);
  compute_weights(in.height, out_height, filter, down);
  std::vector<std::uint8_t> rows(row_bytes * in_height);
  for (std::size_t y = 0; y < in_height; ++y) {
    const std::uint8_t* row = in.pixels + y * in.row_bytes;
    for (std::size_t i = 0; i < row_bytes; ++i) {
      const auto x = static_cast<int>(i / channels);
      rows[y * row_bytes + i] = in.width == out_width
          ? row[i]
          : weigh(across, x, row + i % channels, channels);
    }
  }
  for (int y = 0; y < out_height; ++y) {
    for (std::size_t i = 0; i < row_bytes; ++i) {
      *out++ = in.height == out_height
          ? rows[static_cast<std::size_t>(y) * row_bytes + i]
          : weigh(down, y, rows.data() + i, row_bytes);
    }
  }
}

} // namespace temper::kernels

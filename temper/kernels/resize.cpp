#include "temper/kernels/resize.h"

#include <cstring>

#include "temper/kernels/resize_passes.h"

namespace temper::kernels {
namespace {

// Positions (or -1: outside) of the inputs of `out` outputs. Pillow adds up
// the positions instead of multiplying; the rounding of these sums decides
// between neighbours.
void nearest_positions(int in, int out, int* positions) {
  const double step = static_cast<double>(in) / out;
  double at = step * 0.5;
  for (int i = 0; i < out; ++i, at += step) {
    positions[i] = at < in ? static_cast<int>(at) : -1;
  }
}

void resize_nearest(
    const Window& in,
    int out_width,
    int out_height,
    std::uint8_t* out,
    std::vector<int>& positions) {
  const auto channels = static_cast<std::size_t>(in.channels);
  const auto row_bytes = static_cast<std::size_t>(out_width) * channels;
  positions.resize(static_cast<std::size_t>(out_width + out_height));
  int* columns = positions.data();
  int* rows = columns + out_width;
  nearest_positions(in.width, out_width, columns);
  nearest_positions(in.height, out_height, rows);
  for (int y = 0; y < out_height; ++y, out += row_bytes) {
    if (rows[y] < 0) {
      std::memset(out, 0, row_bytes);
      continue;
    }
    const std::uint8_t* row =
        in.pixels + static_cast<std::size_t>(rows[y]) * in.row_bytes;
    std::uint8_t* to = out;
    for (int x = 0; x < out_width; ++x) {
      for (std::size_t c = 0; c < channels; ++c) {
        *to++ = columns[x] < 0
            ? std::uint8_t{0}
            : row[static_cast<std::size_t>(columns[x]) * channels + c];
      }
    }
  }
}

} // namespace

void resize(
    const Window& in,
    int out_width,
    int out_height,
    Filter filter,
    std::uint8_t* out,
    ResizeScratch& scratch) {
  if (filter == Filter::nearest) {
    resize_nearest(in, out_width, out_height, out, scratch.columns);
    return;
  }
  const auto bytes = static_cast<std::size_t>(out_width) *
      static_cast<std::size_t>(in.channels);
  const auto in_height = static_cast<std::size_t>(in.height);
  const bool changes_down = in.height != out_height;
  const std::uint8_t* rows = in.pixels;
  std::size_t row_bytes = in.row_bytes;
  if (in.width != out_width) {
    std::uint8_t* to = out;
    if (changes_down) {
      if (scratch.rows.size() < bytes * in_height) {
        scratch.rows.resize(bytes * in_height);
      }
      to = scratch.rows.data();
    }
    const auto& weights = scratch.weights.get(in.width, out_width, filter);
    resize_across(weights, in, to);
    rows = to;
    row_bytes = bytes;
  } else if (!changes_down) {
    for (std::size_t y = 0; y < in_height; ++y) {
      std::memcpy(out + y * bytes, rows + y * row_bytes, bytes);
    }
  }
  if (!changes_down) return;
  const auto& weights = scratch.weights.get(in.height, out_height, filter);
  for (int y = 0; y < out_height; ++y, out += bytes) {
    resize_down_row(weights, y, rows, row_bytes, bytes, out);
  }
}

} // namespace temper::kernels

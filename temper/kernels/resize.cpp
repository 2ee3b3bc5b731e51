#include "temper/kernels/resize.h"

#include <algorithm>
#include <cstring>

// Highway compiles this file once for every vector unit it knows and picks
// the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "temper/kernels/resize.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace temper::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

template <int kChannels>
void across_row(
    const ResampleWeights& weights,
    const std::uint8_t* HWY_RESTRICT row,
    std::uint8_t* HWY_RESTRICT out) {
  const std::int32_t* w = weights.weights.data();
  for (int x = 0; x < weights.out; ++x, w += weights.taps) {
    const auto i = static_cast<std::size_t>(x);
    const std::uint8_t* from = row + kChannels * weights.first[i];
    for (int c = 0; c < kChannels; ++c) {
      std::int32_t sum = kHalf;
      for (int t = 0; t < weights.count[i]; ++t) {
        sum += from[kChannels * t + c] * w[t];
      }
      *out++ = rounded(sum);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR

// A pixel is loaded as four bytes, the fourth of which is its neighbour's, and
// weighed as four 32-bit numbers. Stores run over by a byte too, into the next
// pixel, which is written after it; so the last one goes byte by byte.
template <>
void across_row<3>(
    const ResampleWeights& weights,
    const std::uint8_t* HWY_RESTRICT row,
    std::uint8_t* HWY_RESTRICT out) {
  const hn::FixedTag<std::int32_t, 4> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const auto half = hn::Set(d, kHalf);
  const std::int32_t* w = weights.weights.data();
  const int last = weights.out - 1;
  for (int x = 0; x <= last; ++x, out += 3, w += weights.taps) {
    const auto i = static_cast<std::size_t>(x);
    const std::uint8_t* from = row + 3 * weights.first[i];
    const int count = weights.count[i];
    auto sum = half;
    for (int t = 0; t < count; ++t, from += 3) {
      const auto pixel = hn::PromoteTo(d, hn::LoadU(d8, from));
      sum = hn::Add(sum, hn::Mul(pixel, hn::Set(d, w[t])));
    }
    const auto bytes = hn::DemoteTo(d8, hn::ShiftRight<kWeightBits>(sum));
    if (x < last) {
      hn::StoreU(bytes, d8, out);
    } else {
      HWY_ALIGN std::uint8_t pixel[4];
      hn::Store(bytes, d8, pixel);
      std::memcpy(out, pixel, 3);
    }
  }
}

#endif

// One output row from `count` input rows.
void down_row(
    const std::int32_t* HWY_RESTRICT w,
    int count,
    const std::uint8_t* HWY_RESTRICT rows,
    std::size_t row_bytes,
    std::size_t bytes,
    std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t block = 4 * lanes;
  const auto half = hn::Set(d, kHalf);
  const auto weigh_block = [&](std::size_t i) HWY_ATTR {
    auto a = half, b = half, c = half, e = half;
    const std::uint8_t* from = rows + i;
    for (int t = 0; t < count; ++t, from += row_bytes) {
      const auto weight = hn::Set(d, w[t]);
      const auto pixels = [&](std::size_t n) HWY_ATTR {
        return hn::PromoteTo(d, hn::LoadU(d8, from + n * lanes));
      };
      a = hn::Add(a, hn::Mul(pixels(0), weight));
      b = hn::Add(b, hn::Mul(pixels(1), weight));
      c = hn::Add(c, hn::Mul(pixels(2), weight));
      e = hn::Add(e, hn::Mul(pixels(3), weight));
    }
    const auto store = [&](auto sum, std::size_t n) HWY_ATTR {
      const auto shifted = hn::ShiftRight<kWeightBits>(sum);
      hn::StoreU(hn::DemoteTo(d8, shifted), d8, out + i + n * lanes);
    };
    store(a, 0);
    store(b, 1);
    store(c, 2);
    store(e, 3);
  };
  std::size_t i = 0;
  for (; i + block <= bytes; i += block) {
    weigh_block(i);
  }
  if (i == bytes) return;
  if (bytes >= block) {
    // The last block overlaps the one before and writes the same again.
    weigh_block(bytes - block);
    return;
  }
  for (; i < bytes; ++i) {
    std::int32_t sum = kHalf;
    for (int t = 0; t < count; ++t) {
      sum += rows[static_cast<std::size_t>(t) * row_bytes + i] * w[t];
    }
    out[i] = rounded(sum);
  }
}

void across(
    const ResampleWeights& weights,
    const Window& in,
    std::uint8_t* out) {
  const auto out_row_bytes = static_cast<std::size_t>(weights.out) *
      static_cast<std::size_t>(in.channels);
  const std::uint8_t* row = in.pixels;
  for (int y = 0; y < in.height;
       ++y, row += in.row_bytes, out += out_row_bytes) {
    if (in.channels == 3) {
      across_row<3>(weights, row, out);
    } else {
      across_row<1>(weights, row, out);
    }
  }
}

void down(
    const ResampleWeights& weights,
    const std::uint8_t* rows,
    std::size_t row_bytes,
    std::size_t bytes,
    std::uint8_t* out) {
  for (int y = 0; y < weights.out; ++y, out += bytes) {
    const auto i = static_cast<std::size_t>(y);
    down_row(
        weights.weights.data() + i * static_cast<std::size_t>(weights.taps),
        weights.count[i],
        rows + static_cast<std::size_t>(weights.first[i]) * row_bytes,
        row_bytes,
        bytes,
        out);
  }
}

} // namespace HWY_NAMESPACE
} // namespace temper::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace temper::kernels {

HWY_EXPORT(across);
HWY_EXPORT(down);

namespace {

// Byte offsets (or -1: outside) of the inputs of `out` outputs. Pillow adds up
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
    HWY_DYNAMIC_DISPATCH(across)(weights, in, to);
    rows = to;
    row_bytes = bytes;
  } else if (!changes_down) {
    for (std::size_t y = 0; y < in_height; ++y) {
      std::memcpy(out + y * bytes, rows + y * row_bytes, bytes);
    }
  }
  if (!changes_down) return;
  const auto& weights = scratch.weights.get(in.height, out_height, filter);
  HWY_DYNAMIC_DISPATCH(down)(weights, rows, row_bytes, bytes, out);
}

} // namespace temper::kernels
#endif

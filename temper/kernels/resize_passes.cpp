#include "temper/kernels/resize_passes.h"

#include <algorithm>
#include <cstring>

// Highway compiles this file once for every vector unit it knows and picks
// the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "temper/kernels/resize_passes.cpp"
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

// Two rows of a window, of which the second may be the first again, and where
// their results go.
struct Rows {
  const std::uint8_t* in[2];
  std::uint8_t* out[2];
};

// Value by value: one channel, or no vectors.
void across_plainly(
    const ResampleWeights& weights,
    int channels,
    const std::uint8_t* HWY_RESTRICT in,
    std::uint8_t* HWY_RESTRICT out) {
  const std::int32_t* w = weights.weights.data();
  for (int x = 0; x < weights.out; ++x, w += weights.taps) {
    const auto i = static_cast<std::size_t>(x);
    for (int c = 0; c < channels; ++c) {
      const std::uint8_t* from = in + weights.first[i] * channels + c;
      std::int32_t sum = kHalf;
      for (int t = 0; t < weights.count[i]; ++t, from += channels) {
        sum += *from * w[t];
      }
      *out++ = rounded(sum);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR

// A pixel in four bytes, the fourth of which belongs to the next pixel: that
// one is written later. The last one has none and is written as three.
HWY_INLINE void store_pixel(std::uint32_t pixel, bool last, std::uint8_t* out) {
  if (last) {
    std::memcpy(out, &pixel, 3);
  } else {
    std::memcpy(out, &pixel, 4);
  }
}

#endif

#if HWY_TARGET != HWY_SCALAR && HWY_ARCH_X86

// One row in each half of a long vector; the first alone in a short one.
template <class D8>
HWY_INLINE hn::Vec<D8>
load_rows(D8 d8, const std::uint8_t* first, const std::uint8_t* second) {
  if constexpr (hn::MaxLanes(D8()) == 32) {
    const hn::Half<D8> half;
    return hn::Combine(d8, hn::LoadU(half, second), hn::LoadU(half, first));
  } else {
    return hn::LoadU(d8, first);
  }
}

// Two pixels at a time, of both rows where the vector is long enough.
// Multiplying 32-bit numbers costs these machines twice as much as multiplying
// and adding pairs of 16-bit ones, so that the weights in two parts are faster
// than whole ones.
void across_rgb(const ResampleWeights& weights, const Rows& rows) {
  const hn::CappedTag<std::int32_t, 8> d;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const hn::Rebind<std::uint8_t, decltype(d)> narrow;
  constexpr std::size_t kTogether = hn::MaxLanes(d) / 4;
  // RGB RGB to RR GG BB of 16 bits each; 128: zero.
  HWY_ALIGN static constexpr std::uint8_t kSpread[16] = {
      0, 128, 3, 128, 1, 128, 4, 128, 2, 128, 5, 128, 128, 128, 128, 128};
  const auto spread = hn::LoadDup128(d8, kSpread);
  const std::uint32_t* high = weights.high.data();
  const std::uint32_t* low = weights.low.data();
  auto unused = hn::Zero(d);
  for (int x = 0; x < weights.out; ++x) {
    const auto i = static_cast<std::size_t>(x);
    const auto at = static_cast<std::size_t>(weights.first[i]) * 3;
    const int pairs = (weights.count[i] + 1) / 2;
    std::uint32_t pixel[2];
    for (std::size_t r = 0; r < 2; r += kTogether) {
      const std::uint8_t* first = rows.in[r] + at;
      const std::uint8_t* second = rows.in[1] + at;
      auto upper = hn::Zero(d);
      auto lower = hn::Set(d, kHalf);
      for (int p = 0; p < pairs; ++p, first += 6, second += 6) {
        const auto bytes = load_rows(d8, first, second);
        const auto pixels =
            hn::BitCast(d16, hn::TableLookupBytesOr0(bytes, spread));
        const auto h = hn::Set(d, static_cast<std::int32_t>(high[p]));
        const auto l = hn::Set(d, static_cast<std::int32_t>(low[p]));
        // On x86 this adds neighbouring products, which Highway leaves open.
        upper = hn::ReorderWidenMulAccumulate(
            d, pixels, hn::BitCast(d16, h), upper, unused);
        lower = hn::ReorderWidenMulAccumulate(
            d, pixels, hn::BitCast(d16, l), lower, unused);
      }
      const auto sum = hn::Add(hn::ShiftLeft<8>(upper), lower);
      hn::StoreU(
          hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sum)),
          narrow,
          reinterpret_cast<std::uint8_t*>(pixel + r));
    }
    const bool last = x + 1 == weights.out;
    store_pixel(pixel[0], last, rows.out[0] + 3 * i);
    store_pixel(pixel[1], last, rows.out[1] + 3 * i);
    high += weights.pairs;
    low += weights.pairs;
  }
}

#elif HWY_TARGET != HWY_SCALAR

// A pixel is weighed as four 32-bit numbers.
void across_rgb(const ResampleWeights& weights, const Rows& rows) {
  const hn::FixedTag<std::int32_t, 4> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::int32_t* w = weights.weights.data();
  for (int x = 0; x < weights.out; ++x, w += weights.taps) {
    const auto i = static_cast<std::size_t>(x);
    const auto at = static_cast<std::size_t>(weights.first[i]) * 3;
    auto a = hn::Set(d, kHalf), b = a;
    for (int t = 0; t < weights.count[i]; ++t) {
      const auto from = at + 3 * static_cast<std::size_t>(t);
      const auto weight = hn::Set(d, w[t]);
      const auto load = [&](const std::uint8_t* row) HWY_ATTR {
        return hn::PromoteTo(d, hn::LoadU(d8, row + from));
      };
      a = hn::Add(a, hn::Mul(load(rows.in[0]), weight));
      b = hn::Add(b, hn::Mul(load(rows.in[1]), weight));
    }
    const auto store = [&](auto sum, std::uint8_t* out) HWY_ATTR {
      const auto bytes = hn::DemoteTo(d8, hn::ShiftRight<kWeightBits>(sum));
      std::uint32_t pixel = 0;
      hn::StoreU(bytes, d8, reinterpret_cast<std::uint8_t*>(&pixel));
      store_pixel(pixel, x + 1 == weights.out, out + 3 * i);
    };
    store(a, rows.out[0]);
    store(b, rows.out[1]);
  }
}

#else

void across_rgb(const ResampleWeights& weights, const Rows& rows) {
  across_plainly(weights, 3, rows.in[0], rows.out[0]);
  across_plainly(weights, 3, rows.in[1], rows.out[1]);
}

#endif

void across(
    const ResampleWeights& weights,
    const Window& in,
    std::uint8_t* out) {
  const auto bytes = static_cast<std::size_t>(weights.out) *
      static_cast<std::size_t>(in.channels);
  for (int y = 0; y < in.height; y += 2) {
    const auto first = static_cast<std::size_t>(y);
    // An odd last row is done twice.
    const std::size_t second = y + 1 < in.height ? first + 1 : first;
    const Rows rows{
        {in.pixels + first * in.row_bytes, in.pixels + second * in.row_bytes},
        {out + first * bytes, out + second * bytes}};
    if (in.channels == 3) {
      across_rgb(weights, rows);
    } else {
      across_plainly(weights, 1, rows.in[0], rows.out[0]);
      across_plainly(weights, 1, rows.in[1], rows.out[1]);
    }
  }
}

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

void resize_across(
    const ResampleWeights& weights,
    const Window& in,
    std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(across)(weights, in, out);
}

void resize_down(
    const ResampleWeights& weights,
    const std::uint8_t* rows,
    std::size_t row_bytes,
    std::size_t bytes,
    std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(down)(weights, rows, row_bytes, bytes, out);
}

} // namespace temper::kernels
#endif

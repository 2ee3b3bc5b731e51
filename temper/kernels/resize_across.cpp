#include <algorithm>
#include <cstring>

#include "temper/kernels/resize_passes.h"

// Highway compiles this file once for every vector unit it knows and picks
// the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "temper/kernels/resize_across.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace temper::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

// Value by value: one channel, few pixels, or no vectors.
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
      *out++ =
          static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
    }
  }
}

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

// Each 128-bit block of a vector works on a row of its own.
using Sums = hn::CappedTag<std::int32_t, 16>;
constexpr std::size_t kRows = hn::MaxLanes(Sums()) / 4;

#elif HWY_TARGET != HWY_SCALAR

constexpr std::size_t kRows = 2;

#else

constexpr std::size_t kRows = 1;

#endif

// kRows rows of a window and where their results go. All the same row, with
// steps of 0, where there are not so many.
struct Rows {
  const std::uint8_t* in;
  std::size_t in_step;
  std::uint8_t* out;
  std::size_t out_step;
};

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

using Words = hn::Repartition<std::int16_t, Sums>;
using Bytes = hn::Repartition<std::uint8_t, Sums>;

// The values read for every pixel. Copied out of the tables, since for all the
// compiler knows the bytes written could lie in them.
struct Line {
  const std::int32_t* first;
  const std::int32_t* count;
  const std::uint32_t* high;
  const std::uint32_t* low;
  std::size_t pairs;
  const std::uint8_t* in;
  std::size_t in_step;
};

// Sixteen bytes of each row.
template <class D>
HWY_INLINE hn::Vec<D> load_rows(D d, const std::uint8_t* in, std::size_t step) {
  if constexpr (hn::MaxLanes(D()) == 16) {
    return hn::LoadU(d, in);
  } else {
    const hn::Half<D> half;
    return hn::Combine(
        d,
        load_rows(half, in + hn::MaxLanes(half) / 16 * step, step),
        load_rows(half, in, step));
  }
}

// Output pixel i of each row, in 32 bits a channel. The inputs are taken two
// by two: multiplying 32-bit numbers costs these machines twice as much as
// multiplying and adding pairs of 16-bit ones, so that the weights in two
// parts are faster than whole ones. kOnePair: no pixel has more than two.
template <bool kOnePair>
HWY_INLINE hn::Vec<Sums> weigh(const Line& line, std::size_t i) {
  const Sums d;
  const Words d16;
  // RGB RGB to RR GG BB of 16 bits each; 128: zero.
  HWY_ALIGN static constexpr std::uint8_t kSpread[16] = {
      0, 128, 3, 128, 1, 128, 4, 128, 2, 128, 5, 128, 128, 128, 128, 128};
  const auto spread = hn::LoadDup128(Bytes(), kSpread);
  const std::uint8_t* in = line.in + std::ptrdiff_t{line.first[i]} * 3;
  const std::uint32_t* high = line.high + i * line.pairs;
  const std::uint32_t* low = line.low + i * line.pairs;
  auto unused = hn::Zero(d);
  auto upper = hn::Zero(d);
  auto lower = hn::Set(d, kHalf);
  const auto add_pair = [&](std::size_t p) HWY_ATTR {
    const auto bytes = load_rows(Bytes(), in + 6 * p, line.in_step);
    const auto pixels =
        hn::BitCast(d16, hn::TableLookupBytesOr0(bytes, spread));
    const auto h = hn::Set(d, static_cast<std::int32_t>(high[p]));
    const auto l = hn::Set(d, static_cast<std::int32_t>(low[p]));
    // On x86 this adds neighbouring products, which Highway leaves open; its
    // emulated unit does not.
    upper = hn::ReorderWidenMulAccumulate(
        d, pixels, hn::BitCast(d16, h), upper, unused);
    lower = hn::ReorderWidenMulAccumulate(
        d, pixels, hn::BitCast(d16, l), lower, unused);
  };
  add_pair(0);
  if constexpr (!kOnePair) {
    const auto pairs = (static_cast<std::uint32_t>(line.count[i]) + 1) / 2;
    for (std::size_t p = 1; p < pairs; ++p) {
      add_pair(p);
    }
  }
  return hn::ShiftRight<kWeightBits>(hn::Add(hn::ShiftLeft<8>(upper), lower));
}

// Four output pixels from i on, of each row: twelve bytes and four of no
// meaning.
template <bool kOnePair>
HWY_INLINE hn::Vec<Bytes> four_pixels(const Line& line, std::size_t i) {
  const Words d16;
  const auto zero = hn::Zero(d16);
  const auto most = hn::Set(d16, 255);
  const auto two = [&](std::size_t n) HWY_ATTR {
    const auto pixels = hn::ReorderDemote2To(
        d16, weigh<kOnePair>(line, n), weigh<kOnePair>(line, n + 1));
    return hn::Min(hn::Max(pixels, zero), most);
  };
  // The first two in the even bytes, the others in the odd ones.
  const auto mixed = hn::Or(two(i), hn::ShiftLeft<8>(two(i + 2)));
  HWY_ALIGN static constexpr std::uint8_t kOrder[16] = {
      0, 2, 4, 8, 10, 12, 1, 3, 5, 9, 11, 13, 0, 0, 0, 0};
  return hn::TableLookupBytes(
      hn::BitCast(Bytes(), mixed), hn::LoadDup128(Bytes(), kOrder));
}

template <bool kOnePair>
void across_by_fours(const ResampleWeights& weights, const Rows& rows) {
  const auto width = static_cast<std::size_t>(weights.out);
  const Line line{
      weights.first.data(),
      weights.count.data(),
      weights.high.data(),
      weights.low.data(),
      static_cast<std::size_t>(weights.pairs),
      rows.in,
      rows.in_step};
  std::uint8_t* const out = rows.out;
  const std::size_t step = rows.out_step;
  const hn::FixedTag<std::uint8_t, 16> block;
  HWY_ALIGN std::uint8_t pixels[16 * kRows];
  std::size_t i = 0;
  // Bytes without a meaning are overwritten by the next four.
  for (; 3 * i + 16 <= 3 * width; i += 4) {
    hn::Store(four_pixels<kOnePair>(line, i), Bytes(), pixels);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto row = hn::Load(block, pixels + 16 * r);
      hn::StoreU(row, block, out + r * step + 3 * i);
    }
  }
  // The last four overlap those before and write the same again.
  for (; i < width; i += 4) {
    const std::size_t last = std::min(i, width - 4);
    hn::Store(four_pixels<kOnePair>(line, last), Bytes(), pixels);
    for (std::size_t r = 0; r < kRows; ++r) {
      std::memcpy(out + r * step + 3 * last, pixels + 16 * r, 12);
    }
  }
}

void across_rgb(const ResampleWeights& weights, const Rows& rows) {
  if (weights.out < 4) {
    for (std::size_t r = 0; r < kRows; ++r) {
      across_plainly(
          weights, 3, rows.in + r * rows.in_step, rows.out + r * rows.out_step);
    }
  } else if (weights.most <= 2) {
    across_by_fours<true>(weights, rows);
  } else {
    across_by_fours<false>(weights, rows);
  }
}

#elif HWY_TARGET != HWY_SCALAR

// A pixel is weighed as four 32-bit numbers. The fourth belongs to the next
// pixel: that one is written later. The last one is written as three.
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
      a = hn::Add(a, hn::Mul(load(rows.in), weight));
      b = hn::Add(b, hn::Mul(load(rows.in + rows.in_step), weight));
    }
    const auto store = [&](auto sum, std::uint8_t* out) HWY_ATTR {
      const auto bytes = hn::DemoteTo(d8, hn::ShiftRight<kWeightBits>(sum));
      std::uint8_t pixel[4];
      hn::StoreU(bytes, d8, pixel);
      std::memcpy(out + 3 * i, pixel, x + 1 == weights.out ? 3 : 4);
    };
    store(a, rows.out);
    store(b, rows.out + rows.out_step);
  }
}

#else

void across_rgb(const ResampleWeights& weights, const Rows& rows) {
  across_plainly(weights, 3, rows.in, rows.out);
}

#endif

void across(
    const ResampleWeights& weights,
    const Window& in,
    std::uint8_t* out) {
  const auto bytes = static_cast<std::size_t>(weights.out) *
      static_cast<std::size_t>(in.channels);
  const auto height = static_cast<std::size_t>(in.height);
  if (in.channels == 1) {
    for (std::size_t y = 0; y < height; ++y) {
      across_plainly(weights, 1, in.pixels + y * in.row_bytes, out + y * bytes);
    }
  } else if (height < kRows) {
    for (std::size_t y = 0; y < height; ++y) {
      across_rgb(
          weights, {in.pixels + y * in.row_bytes, 0, out + y * bytes, 0});
    }
  } else {
    for (std::size_t y = 0; y < height; y += kRows) {
      // The last ones overlap those before and write the same again.
      const std::size_t first = std::min(y, height - kRows);
      across_rgb(
          weights,
          {in.pixels + first * in.row_bytes,
           in.row_bytes,
           out + first * bytes,
           bytes});
    }
  }
}

} // namespace HWY_NAMESPACE
} // namespace temper::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace temper::kernels {

HWY_EXPORT(across);

void resize_across(
    const ResampleWeights& weights,
    const Window& in,
    std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(across)(weights, in, out);
}

} // namespace temper::kernels
#endif

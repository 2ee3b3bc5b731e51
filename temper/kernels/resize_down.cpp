#include <algorithm>

#include "temper/kernels/resize_passes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "temper/kernels/resize_down.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace temper::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

// The input of one output row: `count` input rows, row_bytes apart.
struct Column {
  const std::int32_t* weights;
  const std::uint32_t* high; // the weights in pairs, in two parts
  const std::uint32_t* low;
  int count;
  const std::uint8_t* rows;
  std::size_t row_bytes;
};

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

// In blocks of a whole vector of bytes. As in the pass across, pairs of 16-bit
// numbers are multiplied and added: here a pixel and the one below it.
constexpr std::size_t block_bytes() {
  return hn::MaxLanes(hn::ScalableTag<std::uint8_t>());
}

HWY_INLINE void
weigh_block(const Column& column, std::size_t i, std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::int16_t, decltype(d8)> d16;
  const hn::Repartition<std::int32_t, decltype(d8)> d;
  const auto zero = hn::Zero(d8);
  const auto half = hn::Set(d, kHalf);
  auto unused = hn::Zero(d);
  auto upper0 = unused, upper1 = unused, upper2 = unused, upper3 = unused;
  auto lower0 = half, lower1 = half, lower2 = half, lower3 = half;
  for (int t = 0; t < column.count; t += 2) {
    const std::uint8_t* row =
        column.rows + static_cast<std::size_t>(t) * column.row_bytes + i;
    // The last one of an odd number has a neighbour of no weight.
    const std::uint8_t* below =
        t + 1 < column.count ? row + column.row_bytes : row;
    const auto a = hn::LoadU(d8, row);
    const auto b = hn::LoadU(d8, below);
    const auto h = hn::BitCast(
        d16, hn::Set(d, static_cast<std::int32_t>(column.high[t / 2])));
    const auto l = hn::BitCast(
        d16, hn::Set(d, static_cast<std::int32_t>(column.low[t / 2])));
    const auto add = [&](auto bytes, auto& upper, auto& lower) HWY_ATTR {
      const auto pairs = hn::BitCast(d16, bytes);
      // On x86 this adds neighbouring products, which Highway leaves open.
      upper = hn::ReorderWidenMulAccumulate(d, pairs, h, upper, unused);
      lower = hn::ReorderWidenMulAccumulate(d, pairs, l, lower, unused);
    };
    const auto first = hn::InterleaveLower(d8, a, b);
    const auto second = hn::InterleaveUpper(d8, a, b);
    add(hn::InterleaveLower(d8, first, zero), upper0, lower0);
    add(hn::InterleaveUpper(d8, first, zero), upper1, lower1);
    add(hn::InterleaveLower(d8, second, zero), upper2, lower2);
    add(hn::InterleaveUpper(d8, second, zero), upper3, lower3);
  }
  const auto sum = [&](auto upper, auto lower) HWY_ATTR {
    return hn::ShiftRight<kWeightBits>(hn::Add(hn::ShiftLeft<8>(upper), lower));
  };
  const auto clipped = [&](auto x, auto y) HWY_ATTR {
    const auto both = hn::ReorderDemote2To(d16, x, y);
    return hn::Min(hn::Max(both, hn::Zero(d16)), hn::Set(d16, 255));
  };
  // The first half of each 128 bits in the even bytes, the second in the odd.
  const auto mixed = hn::Or(
      clipped(sum(upper0, lower0), sum(upper1, lower1)),
      hn::ShiftLeft<8>(clipped(sum(upper2, lower2), sum(upper3, lower3))));
  HWY_ALIGN static constexpr std::uint8_t kOrder[16] = {
      0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
  hn::StoreU(
      hn::TableLookupBytes(hn::BitCast(d8, mixed), hn::LoadDup128(d8, kOrder)),
      d8,
      out + i);
}

#else

std::size_t block_bytes() {
  return 4 * hn::Lanes(hn::ScalableTag<std::int32_t>());
}

HWY_INLINE void
weigh_block(const Column& column, std::size_t i, std::uint8_t* out) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  const auto half = hn::Set(d, kHalf);
  auto a = half, b = half, c = half, e = half;
  const std::uint8_t* from = column.rows + i;
  for (int t = 0; t < column.count; ++t, from += column.row_bytes) {
    const auto weight = hn::Set(d, column.weights[t]);
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
}

#endif

void down_row(
    const ResampleWeights& weights,
    int y,
    const std::uint8_t* rows,
    std::size_t row_bytes,
    std::size_t bytes,
    std::uint8_t* out) {
  const auto row = static_cast<std::size_t>(y);
  const auto taps = static_cast<std::size_t>(weights.taps);
  const auto pairs = static_cast<std::size_t>(weights.pairs);
  const Column column{
      weights.weights.data() + row * taps,
      weights.high.data() + row * pairs,
      weights.low.data() + row * pairs,
      weights.count[row],
      rows + static_cast<std::size_t>(weights.first[row]) * row_bytes,
      row_bytes};
  const std::size_t block = block_bytes();
  std::size_t i = 0;
  for (; i + block <= bytes; i += block) {
    weigh_block(column, i, out);
  }
  if (i == bytes) return;
  if (bytes >= block) {
    // The last block overlaps the one before and writes the same again.
    weigh_block(column, bytes - block, out);
    return;
  }
  for (; i < bytes; ++i) {
    std::int32_t sum = kHalf;
    for (int t = 0; t < column.count; ++t) {
      sum += column.rows[static_cast<std::size_t>(t) * row_bytes + i] *
          column.weights[t];
    }
    out[i] = static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
  }
}

} // namespace HWY_NAMESPACE
} // namespace temper::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace temper::kernels {

HWY_EXPORT(down_row);

void resize_down_row(
    const ResampleWeights& weights,
    int y,
    const std::uint8_t* rows,
    std::size_t row_bytes,
    std::size_t bytes,
    std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(down_row)(weights, y, rows, row_bytes, bytes, out);
}

} // namespace temper::kernels
#endif

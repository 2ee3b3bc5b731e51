#include "temper/kernels/rearrange.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "temper/kernels/rearrange.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace temper::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void flip_row(std::uint8_t* row, std::size_t width, std::size_t channels) {
  for (std::size_t left = 0, right = width; left + 2 <= right; ++left) {
    --right;
    std::swap_ranges(
        row + channels * left,
        row + channels * (left + 1),
        row + channels * right);
  }
}

#else

constexpr std::size_t kBlock = 16;
using Bytes = hn::FixedTag<std::uint8_t, kBlock>;

// Reverses the order of a block.
HWY_INLINE hn::Vec<Bytes> reversed(hn::Vec<Bytes> block) {
  HWY_ALIGN static constexpr std::uint8_t kOrder[kBlock] = {
      15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  return hn::TableLookupBytes(block, hn::Load(Bytes(), kOrder));
}

// Swaps blocks of pixels from both ends until they meet, then single ones.
void flip_row(std::uint8_t* row, std::size_t width, std::size_t channels) {
  const Bytes d;
  std::size_t left = 0, right = width;
  for (; left + 2 * kBlock <= right; left += kBlock, right -= kBlock) {
    std::uint8_t* head = row + channels * left;
    std::uint8_t* tail = row + channels * (right - kBlock);
    if (channels == 3) {
      auto a = hn::Zero(d), b = a, c = a, e = a, f = a, g = a;
      hn::LoadInterleaved3(d, head, a, b, c);
      hn::LoadInterleaved3(d, tail, e, f, g);
      hn::StoreInterleaved3(reversed(e), reversed(f), reversed(g), d, head);
      hn::StoreInterleaved3(reversed(a), reversed(b), reversed(c), d, tail);
    } else {
      const auto a = hn::LoadU(d, head);
      const auto b = hn::LoadU(d, tail);
      hn::StoreU(reversed(b), d, head);
      hn::StoreU(reversed(a), d, tail);
    }
  }
  for (; left + 2 <= right; ++left) {
    --right;
    std::swap_ranges(
        row + channels * left,
        row + channels * (left + 1),
        row + channels * right);
  }
}

#endif

void flip(
    std::uint8_t* pixels,
    std::size_t width,
    std::size_t height,
    int channels) {
  const auto count = static_cast<std::size_t>(channels);
  for (std::size_t y = 0; y < height; ++y) {
    flip_row(pixels + y * width * count, width, count);
  }
}

void interleave(
    const std::uint8_t* HWY_RESTRICT planes,
    std::size_t pixels,
    std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    hn::StoreInterleaved3(
        hn::LoadU(d, planes + i),
        hn::LoadU(d, planes + pixels + i),
        hn::LoadU(d, planes + 2 * pixels + i),
        d,
        out + 3 * i);
  }
  for (; i < pixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      out[3 * i + c] = planes[c * pixels + i];
    }
  }
}

void separate(
    const std::uint8_t* HWY_RESTRICT in,
    std::size_t pixels,
    std::uint8_t* HWY_RESTRICT planes) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    auto red = hn::Zero(d), green = red, blue = red;
    hn::LoadInterleaved3(d, in + 3 * i, red, green, blue);
    hn::StoreU(red, d, planes + i);
    hn::StoreU(green, d, planes + pixels + i);
    hn::StoreU(blue, d, planes + 2 * pixels + i);
  }
  for (; i < pixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      planes[c * pixels + i] = in[3 * i + c];
    }
  }
}

} // namespace HWY_NAMESPACE
} // namespace temper::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace temper::kernels {

HWY_EXPORT(flip);
HWY_EXPORT(interleave);
HWY_EXPORT(separate);

void flip_horizontally(
    std::uint8_t* pixels,
    std::size_t width,
    std::size_t height,
    int channels) {
  HWY_DYNAMIC_DISPATCH(flip)(pixels, width, height, channels);
}

void planar_to_interleaved(
    const std::uint8_t* planes,
    std::size_t pixels,
    std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(interleave)(planes, pixels, out);
}

void interleaved_to_planar(
    const std::uint8_t* in,
    std::size_t pixels,
    std::uint8_t* planes) {
  HWY_DYNAMIC_DISPATCH(separate)(in, pixels, planes);
}

} // namespace temper::kernels
#endif

// A division takes five times as long as a multiplication, and there would be
// two for each value. Both are avoided without changing a bit:
//  x / 255 = x * kHigh + x * kLow, where kHigh has 16 significant bits, so that
//    its product with an eight-bit x is exact; the binary digits of x / 255
//    repeat every eight places, so the sum is never near enough to a tie to be
//    rounded differently from the quotient.
//  a / b = q + (a - q * b) * r with r = 1 / b and q = a * r, in fused
//    multiply-adds. This is right for almost every b; the constructor tries
//    all 256 values, and if one differs, divides.
#include "temper/kernels/normalise.h"

#include <cmath>

#include "temper/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "temper/kernels/normalise.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace temper::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Constants = Normaliser::Constants;

// Eight at most. What is written is the limit here, not the arithmetic; with
// sixteen the whole way of a photograph, decoding included, took 7 % longer on
// a Xeon of the Ice Lake generation.
constexpr std::size_t kMostLanes = 8;
using Floats = hn::CappedTag<float, kMostLanes>;

constexpr float kHigh = 0x1.0100p-8F;
constexpr float kLow = static_cast<float>(1.0 / 255 - 0x1.0100p-8);

// A batch of images this large is far larger than the caches: what is written
// leaves them before anyone reads it, so it need not pass through them. Writing
// around them also saves reading the old contents first.
constexpr std::size_t kStreamedBytes = std::size_t{256} << 10;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::uint8_t* in) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::uint8_t, D> d8;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, in)));
}

template <bool kReciprocal, class D, class V>
HWY_INLINE V normal(D d, V x, V mean, V deviation, V reciprocal) {
  const V high = hn::Mul(x, hn::Set(d, kHigh));
  const V low = hn::Mul(x, hn::Set(d, kLow));
  const V a = hn::Sub(hn::Add(high, low), mean);
  if constexpr (kReciprocal) {
    const V q = hn::Mul(a, reciprocal);
    return hn::MulAdd(hn::NegMulAdd(q, deviation, a), reciprocal, q);
  } else {
    return hn::Div(a, deviation);
  }
}

// Whole vectors by threes, so that the pattern of the channels comes round;
// returns how many values were written. kStream: around the caches.
template <bool kReciprocal, bool kStream>
std::size_t interleaved_by(
    const Constants& constants,
    const std::uint8_t* HWY_RESTRICT in,
    std::size_t values,
    float* HWY_RESTRICT out) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 3 * lanes <= values; i += 3 * lanes) {
    for (std::size_t n = 0; n < 3 * lanes; n += lanes) {
      const auto result = normal<kReciprocal>(
          d,
          load(d, in + i + n),
          hn::LoadU(d, constants.mean.data() + n),
          hn::LoadU(d, constants.deviation.data() + n),
          hn::LoadU(d, constants.reciprocal.data() + n));
      if constexpr (kStream) {
        hn::Stream(result, d, out + i + n);
      } else {
        hn::StoreU(result, d, out + i + n);
      }
    }
  }
  if constexpr (kStream) hwy::FlushStream(); // other threads will read it
  return i;
}

#if HWY_TARGET == HWY_SCALAR

template <bool kReciprocal>
std::size_t
planar_by(const Constants&, const std::uint8_t*, std::size_t, float*) {
  return 0; // all of it by the table
}

#else

// Sixteen pixels at a time; returns how many were written.
template <bool kReciprocal>
std::size_t planar_by(
    const Constants& constants,
    const std::uint8_t* HWY_RESTRICT in,
    std::size_t pixels,
    float* HWY_RESTRICT out) {
  constexpr std::size_t kBlock = 16;
  const hn::FixedTag<std::uint8_t, kBlock> d8;
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + kBlock <= pixels; i += kBlock) {
    HWY_ALIGN std::uint8_t planes[3 * kBlock];
    auto red = hn::Zero(d8), green = red, blue = red;
    hn::LoadInterleaved3(d8, in + 3 * i, red, green, blue);
    hn::Store(red, d8, planes);
    hn::Store(green, d8, planes + kBlock);
    hn::Store(blue, d8, planes + 2 * kBlock);
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t n = 0; n < kBlock; n += lanes) {
        const auto result = normal<kReciprocal>(
            d,
            load(d, planes + c * kBlock + n),
            hn::Set(d, constants.mean[c]),
            hn::Set(d, constants.deviation[c]),
            hn::Set(d, constants.reciprocal[c]));
        hn::StoreU(result, d, out + c * pixels + i + n);
      }
    }
  }
  return i;
}

#endif

// Without fused multiply-add the correction would round twice: divide.
constexpr bool kFused = HWY_NATIVE_FMA != 0;

std::size_t interleaved(
    const Constants& constants,
    const std::uint8_t* in,
    std::size_t values,
    float* out) {
  const bool stream = values * sizeof(float) >= kStreamedBytes &&
      reinterpret_cast<std::uintptr_t>(out) %
              (hn::Lanes(Floats()) * sizeof(float)) ==
          0;
  if (kFused && constants.reciprocal_is_exact) {
    return stream ? interleaved_by<kFused, true>(constants, in, values, out)
                  : interleaved_by<kFused, false>(constants, in, values, out);
  }
  return stream ? interleaved_by<false, true>(constants, in, values, out)
                : interleaved_by<false, false>(constants, in, values, out);
}

std::size_t planar(
    const Constants& constants,
    const std::uint8_t* in,
    std::size_t pixels,
    float* out) {
  if (kFused && constants.reciprocal_is_exact) {
    return planar_by<kFused>(constants, in, pixels, out);
  }
  return planar_by<false>(constants, in, pixels, out);
}

} // namespace HWY_NAMESPACE
} // namespace temper::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace temper::kernels {

HWY_EXPORT(interleaved);
HWY_EXPORT(planar);

Normaliser::Normaliser(
    int channels,
    const std::vector<float>& mean,
    const std::vector<float>& deviation)
    : channels_(channels) {
  const auto count = static_cast<std::size_t>(channels);
  check(channels == 1 || channels == 3, "an image has one or three channels");
  check(
      mean.size() == deviation.size() && (mean.empty() || mean.size() == count),
      "each channel has its mean and its deviation");
  for (std::size_t i = 0; i < kPattern; ++i) {
    const std::size_t c = i % count;
    constants_.mean[i] = mean.empty() ? 0.0F : mean[c];
    constants_.deviation[i] = mean.empty() ? 1.0F : deviation[c];
    constants_.reciprocal[i] = 1.0F / constants_.deviation[i];
  }
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t x = 0; x < 256; ++x) {
      const float a = static_cast<float>(x) / 255.0F - constants_.mean[c];
      const float b = constants_.deviation[c];
      const float r = constants_.reciprocal[c];
      const float q = a * r;
      tables_[c][x] = a / b;
      if (std::fma(std::fma(-q, b, a), r, q) != tables_[c][x]) {
        constants_.reciprocal_is_exact = false;
      }
    }
  }
}

void Normaliser::interleaved(
    const std::uint8_t* in,
    std::size_t pixels,
    float* out) const {
  const auto count = static_cast<std::size_t>(channels_);
  const std::size_t values = pixels * count;
  std::size_t i =
      HWY_DYNAMIC_DISPATCH(interleaved)(constants_, in, values, out);
  for (; i < values; ++i) {
    out[i] = tables_[i % count][in[i]];
  }
}

void Normaliser::planar(const std::uint8_t* in, std::size_t pixels, float* out)
    const {
  if (channels_ == 1) {
    interleaved(in, pixels, out);
    return;
  }
  std::size_t i = HWY_DYNAMIC_DISPATCH(planar)(constants_, in, pixels, out);
  for (; i < pixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      out[c * pixels + i] = tables_[c][in[3 * i + c]];
    }
  }
}

} // namespace temper::kernels
#endif

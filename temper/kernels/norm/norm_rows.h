// Rows of channels through a normalisation, forward and backward: what the
// passes of batch_norm.h and the packing of convolutions share. For files named
// *_simd.cpp.
#pragma once

#include "temper/kernels/norm/activate.h"
#include "temper/kernels/norm/batch_norm.h"
#include "temper/kernels/norm/lanes.h"

namespace temper::kernels::TEMPER_TARGET {

// Rows that share one load of a channel's coefficients.
constexpr std::int64_t kRowsAtOnce = 4;

template <Activation kAct, int kRows, class Lanes>
[[gnu::always_inline]] inline void affine_vector(
    Lanes lanes,
    const Affine& norm,
    std::int64_t c,
    const float* x,
    std::int64_t x_stride,
    float* y,
    std::int64_t y_stride) {
  const Vec scale = lanes.load(norm.scale + c);
  const Vec shift = lanes.load(norm.shift + c);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
    lanes.store(
        y + r * y_stride,
        activate<kAct>(lanes.load(x + r * x_stride) * scale + shift));
}

// One vector of `channels` of every row; whole rows if channels end there.
template <Activation kAct, int kRows>
[[gnu::always_inline]] inline void affine_rows_of(
    const Affine& norm,
    std::int64_t channels,
    const float* x,
    std::int64_t x_stride,
    float* y,
    std::int64_t y_stride) {
  std::int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes)
    affine_vector<kAct, kRows>(
        Whole{}, norm, c, x + c, x_stride, y + c, y_stride);
  if (c < channels)
    affine_vector<kAct, kRows>(
        Part{static_cast<int>(channels - c)},
        norm,
        c,
        x + c,
        x_stride,
        y + c,
        y_stride);
}

// y = act(scale x + shift) over rows of `channels`.
template <Activation kAct>
inline void affine_rows(
    const Affine& norm,
    std::int64_t rows,
    std::int64_t channels,
    const float* x,
    std::int64_t x_stride,
    float* y,
    std::int64_t y_stride) {
  std::int64_t r = 0;
  for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce)
    affine_rows_of<kAct, kRowsAtOnce>(
        norm, channels, x + r * x_stride, x_stride, y + r * y_stride, y_stride);
  for (; r < rows; ++r)
    affine_rows_of<kAct, 1>(
        norm, channels, x + r * x_stride, x_stride, y + r * y_stride, y_stride);
}

struct AffineRows {
  const Affine& norm;
  std::int64_t rows;
  std::int64_t channels;
  const float* x;
  std::int64_t x_stride;
  float* y;
  std::int64_t y_stride;
  template <Activation kAct>
  void run() const {
    affine_rows<kAct>(norm, rows, channels, x, x_stride, y, y_stride);
  }
};

// The residual at a place, normalised or as it is.
template <bool kNormed, class Job, class Lanes>
[[gnu::always_inline]] inline Vec
residual_at(Lanes lanes, const Job& job, std::int64_t at, std::int64_t c) {
  const Vec residual = lanes.load(job.residual + at);
  if constexpr (kNormed)
    return residual * lanes.load(job.residual_norm.scale + c) +
        lanes.load(job.residual_norm.shift + c);
  return residual;
}

// Channels from c on of the row that begins at `at`, as NormApply says.
template <Activation kAct, Residual kPlace, bool kNormed = false, class Lanes>
[[gnu::always_inline]] inline void apply_vector(
    Lanes lanes,
    const NormApply& job,
    std::int64_t at,
    std::int64_t c) {
  Vec y = lanes.load(job.x + at) * lanes.load(job.norm.scale + c) +
      lanes.load(job.norm.shift + c);
  if constexpr (kPlace == Residual::kBeforeActivation)
    y += residual_at<kNormed>(lanes, job, at, c);
  y = activate<kAct>(y);
  if constexpr (kPlace == Residual::kAfterActivation)
    y += lanes.load(job.residual + at);
  lanes.store(job.y + at, y);
}

template <Activation kAct, int kRows, class Lanes>
[[gnu::always_inline]] inline void gradient_vector(
    Lanes lanes,
    const NormGradient& norm,
    std::int64_t c,
    const float* g,
    const float* x,
    float* out,
    std::int64_t stride) {
  const Vec scale = lanes.load(norm.scale + c);
  const Vec mean = lanes.load(norm.mean + c);
  const Vec slope = lanes.load(norm.slope + c);
  const Vec offset = lanes.load(norm.offset + c);
  const Vec shift =
      kAct == Activation::kNone ? Vec{} : lanes.load(norm.shift + c);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const Vec at = lanes.load(x + r * stride);
    const Vec through = through_activation<kAct>(
        lanes.load(g + r * stride), at * scale + shift);
    lanes.store(
        out + r * stride, scale * through + (slope * (at - mean) + offset));
  }
}

template <Activation kAct, int kRows>
[[gnu::always_inline]] inline void gradient_rows_of(
    const NormGradient& norm,
    std::int64_t channels,
    const float* g,
    const float* x,
    float* out) {
  std::int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes)
    gradient_vector<kAct, kRows>(
        Whole{}, norm, c, g + c, x + c, out + c, channels);
  if (c < channels)
    gradient_vector<kAct, kRows>(
        Part{static_cast<int>(channels - c)},
        norm,
        c,
        g + c,
        x + c,
        out + c,
        channels);
}

// The formula of NormGradient for `rows` rows that lie one after another; x is
// norm.x at the first of them.
template <Activation kAct>
inline void gradient_rows(
    const NormGradient& norm,
    std::int64_t rows,
    std::int64_t channels,
    const float* g,
    const float* x,
    float* out) {
  std::int64_t r = 0;
  for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce)
    gradient_rows_of<kAct, kRowsAtOnce>(
        norm, channels, g + r * channels, x + r * channels, out + r * channels);
  for (; r < rows; ++r)
    gradient_rows_of<kAct, 1>(
        norm, channels, g + r * channels, x + r * channels, out + r * channels);
}

struct GradientRows {
  const NormGradient& norm;
  std::int64_t rows;
  std::int64_t channels;
  const float* g;
  const float* x;
  float* out;
  template <Activation kAct>
  void run() const {
    gradient_rows<kAct>(norm, rows, channels, g, x, out);
  }
};

} // namespace temper::kernels::TEMPER_TARGET

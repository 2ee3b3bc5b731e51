// The transposed product of a weight gradient: dW += dY^T X, with dY in rows as
// they lie and X in panels of columns. For files named *_simd.cpp.
#pragma once

#include "temper/kernels/conv/pointwise_backward.h"
#include "temper/kernels/conv/pointwise_panel.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {

// Rows of one chain of multiply-adds in a weight gradient; longer sums are sums
// of such chains.
constexpr std::int64_t kChainRows = 192;

// Columns of dY that so few panels read are read where they lie.
constexpr std::int64_t kFewPanels = 2;

// to[outputs, columns] += y^T x over `rows`; y has kOutputs numbers in each row
// and x is a panel.
template <int kOutputs, int kVectors>
[[gnu::always_inline]] inline void outer_tile(
    std::int64_t rows,
    const float* __restrict y,
    std::int64_t y_stride,
    const float* __restrict x,
    float* __restrict to,
    std::int64_t stride,
    Ahead& ahead) {
  Vec sums[kOutputs][kVectors] = {};
  AheadShare share = ahead.share(rows, x);
  for (std::int64_t r = 0; r < rows; ++r) {
    share.ask();
    Vec b[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      b[j] = load(x + r * (kVectors * kLanes) + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kOutputs; ++i) {
      const Vec s = broadcast(y[r * y_stride + i]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j)
        sums[i][j] += s * b[j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kOutputs; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      float* at = to + i * stride + j * kLanes;
      store(at, load(at) + sums[i][j]);
    }
}

template <int kOutputs>
inline void outer_panel(
    std::int64_t vectors,
    std::int64_t rows,
    const float* y,
    std::int64_t y_stride,
    const float* x,
    float* to,
    std::int64_t stride,
    Ahead& ahead) {
  if (vectors == kTileVectors)
    return outer_tile<kOutputs, kTileVectors>(
        rows, y, y_stride, x, to, stride, ahead);
  if constexpr (kTileVectors > 2) {
    if (vectors == 3)
      return outer_tile<kOutputs, 3>(rows, y, y_stride, x, to, stride, ahead);
    if (vectors == 2)
      return outer_tile<kOutputs, 2>(rows, y, y_stride, x, to, stride, ahead);
  }
  outer_tile<kOutputs, 1>(rows, y, y_stride, x, to, stride, ahead);
}

// A few columns of dY, one row after another; columns beyond `there` are zero.
template <int kOutputs>
inline void take_outputs(
    std::int64_t rows,
    std::int64_t there,
    const float* y,
    std::int64_t stride,
    float* to) {
  if (there == kOutputs) {
    for (std::int64_t r = 0; r < rows; ++r)
#pragma GCC unroll 16
      for (int i = 0; i < kOutputs; ++i)
        to[r * kOutputs + i] = y[r * stride + i];
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r)
    for (int i = 0; i < kOutputs; ++i)
      to[r * kOutputs + i] = i < there ? y[r * stride + i] : 0.0F;
}

// Panels of X of `panel_rows` rows each, used from row `at` on.
struct XPanels {
  const float* x;
  std::int64_t panel_rows;
  std::int64_t inputs;
  std::int64_t at;
};

template <int kOutputs>
inline void outer_outputs(
    std::int64_t rows,
    std::int64_t there,
    const float* y,
    std::int64_t y_stride,
    const XPanels& x,
    float* to,
    std::int64_t stride,
    Ahead& ahead) {
  const float* from = y;
  std::int64_t from_stride = y_stride;
  if (there < kOutputs || x.inputs > kFewPanels * kTileColumns) {
    float* few = scratch(
        3, static_cast<std::size_t>(kChainRows * kOutputsAtOnce + kLanes));
    take_outputs<kOutputs>(rows, there, y, y_stride, few);
    from = few;
    from_stride = kOutputs;
  }
  for (std::int64_t p = 0; p * kTileColumns < x.inputs; ++p) {
    const std::int64_t wide = whole_vectors(panel_width(x.inputs, p));
    outer_panel<kOutputs>(
        wide / kLanes,
        rows,
        from,
        from_stride,
        x.x + p * kTileColumns * x.panel_rows + x.at * wide,
        to + p * kTileColumns,
        stride,
        ahead);
  }
}

// to[outputs, inputs] += y^T X, for outputs [0, outputs) of y; `to` has room
// for outputs rounded up to 4.
inline void outer_product(
    std::int64_t rows,
    std::int64_t outputs,
    const float* y,
    std::int64_t y_stride,
    const XPanels& x,
    float* to,
    std::int64_t stride,
    Ahead& ahead) {
  std::int64_t n = 0;
  for (; n + kOutputsAtOnce <= outputs; n += kOutputsAtOnce)
    outer_outputs<kOutputsAtOnce>(
        rows,
        kOutputsAtOnce,
        y + n,
        y_stride,
        x,
        to + n * stride,
        stride,
        ahead);
  if constexpr (kOutputsAtOnce > 8)
    for (; outputs - n > 4; n += 8)
      outer_outputs<8>(
          rows,
          outputs - n < 8 ? outputs - n : 8,
          y + n,
          y_stride,
          x,
          to + n * stride,
          stride,
          ahead);
  for (; n < outputs; n += 4)
    outer_outputs<4>(
        rows,
        outputs - n < 4 ? outputs - n : 4,
        y + n,
        y_stride,
        x,
        to + n * stride,
        stride,
        ahead);
}

} // namespace temper::kernels::TEMPER_TARGET

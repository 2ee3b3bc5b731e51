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

// Columns of dY are read where they lie by so few panels, and by more unless
// rows are so far apart that they fall into the same sets of the caches.
constexpr std::int64_t kFewPanels = 2;
constexpr std::int64_t kSameSets = 1024; // floats

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
    AheadShare share) {
  Vec sums[kOutputs][kVectors] = {};
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
    const AheadShare& share) {
  if (vectors == kTileVectors)
    return outer_tile<kOutputs, kTileVectors>(
        rows, y, y_stride, x, to, stride, share);
  if constexpr (kTileVectors > 2) {
    if (vectors == 3)
      return outer_tile<kOutputs, 3>(rows, y, y_stride, x, to, stride, share);
    if (vectors == 2)
      return outer_tile<kOutputs, 2>(rows, y, y_stride, x, to, stride, share);
  }
  outer_tile<kOutputs, 1>(rows, y, y_stride, x, to, stride, share);
}

// A few columns of dY, one row after another; columns beyond `there` are zero.
template <int kOutputs>
inline void take_outputs(
    std::int64_t rows,
    std::int64_t there,
    const float* y,
    std::int64_t stride,
    float* to) {
  std::int64_t r = 0;
  if (there == kOutputs) {
    // Whole vectors, of which the next row overwrites what is too much, as long
    // as they end before the last row does.
    constexpr int kVectors = (kOutputs + kLanes - 1) / kLanes;
    constexpr std::int64_t kBeyond = kVectors * kLanes - kOutputs;
    for (; r < rows - (kBeyond + stride - 1) / stride; ++r)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j)
        store(
            to + r * kOutputs + j * kLanes, load(y + r * stride + j * kLanes));
  }
  for (; r < rows; ++r)
    for (int i = 0; i < kOutputs; ++i)
      to[r * kOutputs + i] = i < there ? y[r * stride + i] : 0.0F;
}

// Panels of X of `panel_rows` rows each, used from row `at` on. `follows`: more
// rows of X and dY are used next, those behind the present ones.
struct XPanels {
  const float* x;
  std::int64_t panel_rows;
  std::int64_t inputs;
  std::int64_t at;
  bool follows;
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
  if (there < kOutputs ||
      (y_stride % kSameSets == 0 && x.inputs > kFewPanels * kTileColumns)) {
    float* few = scratch(
        3, static_cast<std::size_t>(kChainRows * kOutputsAtOnce + kLanes));
    take_outputs<kOutputs>(rows, there, y, y_stride, few);
    from = few;
    from_stride = kOutputs;
  }
  for (std::int64_t p = 0; p * kTileColumns < x.inputs; ++p) {
    const std::int64_t wide = whole_vectors(panel_width(x.inputs, p));
    const float* panel = x.x + p * kTileColumns * x.panel_rows + x.at * wide;
    outer_panel<kOutputs>(
        wide / kLanes,
        rows,
        from,
        from_stride,
        panel,
        to + p * kTileColumns,
        stride,
        p == 0 && x.follows ? AheadShare{y + rows * y_stride, y_stride}
                            : ahead.share(rows, panel));
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
  // Two tiles of four are quicker than a whole one and half of one of four.
  constexpr std::int64_t kLeave = kOutputsAtOnce == 6 ? 8 : 0;
  std::int64_t n = 0;
  for (; n + kOutputsAtOnce <= outputs && outputs - n != kLeave;
       n += kOutputsAtOnce)
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

// Weights between memory and the transformed domain. For files named
// *_simd.cpp.
// Private to kernels/winograd.
#pragma once

#include "temper/kernels/gemm/multiply.h"
#include "temper/kernels/simd/transpose.h"
#include "temper/kernels/winograd/winograd_job.h"
#include "temper/kernels/winograd/winograd_transforms.h"

namespace temper::kernels::TEMPER_TARGET {

// Places of the taps of one phase: tap (i, j) of the short filter is the
// weight's tap at[i][j] of nine, -1 where it has none.
struct PhaseTaps {
  int at[3][3];
};

inline PhaseTaps taps_of(const WinogradJob& job, int phase, bool strided) {
  PhaseTaps taps;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int row = job.tap[strided ? phase / 2 : 0][i];
      const int column = job.tap[strided ? phase % 2 : 0][j];
      taps.at[i][j] = row < 0 || column < 0 ? -1 : row * 3 + column;
    }
  return taps;
}

struct TapReader {
  const PhaseTaps& taps;
  const float* from;
  std::int64_t tap_stride;
  int count; // lanes that are there
  [[gnu::always_inline]] Vec operator()(int i, int j) const {
    const int tap = taps.at[i][j];
    if (tap < 0) return Vec{};
    const float* at = from + tap * tap_stride;
    return count == kLanes ? load(at) : load_some(at, count);
  }
};

template <int kCount>
struct WeightPointWriter {
  float* to;
  std::int64_t point_stride;
  [[gnu::always_inline]] void operator()(int i, int j, Vec value) const {
    store(to + (i * kCount + j) * point_stride, value);
  }
};

// One panel of the data gradient: its columns are input channels, which lie
// beside each other in memory.
template <class Short>
inline void transform_panel_transposed(
    const WinogradJob& job,
    int phase,
    std::int64_t first,
    int vectors,
    float* to,
    std::int64_t point_stride) {
  const PhaseTaps taps = taps_of(job, phase, Short::kPhases > 1);
  const std::int64_t wide = std::int64_t{vectors} * kLanes;
  for (std::int64_t k = 0; k < job.source.padded; ++k)
    for (int v = 0; v < vectors; ++v) {
      const std::int64_t channel = first + v * kLanes;
      const std::int64_t left = job.in_channels - channel;
      int count = left < kLanes ? static_cast<int>(left) : kLanes;
      if (k >= job.out_channels) count = 0;
      both_ways<WeightStep<Short>>(
          TapReader{
              taps,
              job.weight + k * 9 * job.in_channels + channel,
              job.in_channels,
              count},
          WeightPointWriter<Short::kIn>{
              to + k * wide + v * kLanes, point_stride});
    }
}

// One panel of the forward pass: its columns are output channels, which are
// brought together by transposing blocks.
template <class Short>
inline void transform_panel_forward(
    const WinogradJob& job,
    std::int64_t first,
    int vectors,
    float* to,
    std::int64_t point_stride) {
  alignas(64) float block[9][kLanes * kTileColumns];
  const std::int64_t wide = std::int64_t{vectors} * kLanes;
  const std::int64_t channels = job.in_channels;
  for (std::int64_t k = 0; k < job.source.padded; k += kLanes) {
    for (int tap = 0; tap < 9; ++tap)
      for (int v = 0; v < vectors; ++v) {
        const std::int64_t out = first + v * kLanes;
        const float* from = job.weight + (out * 9 + tap) * channels + k;
        const std::int64_t rows = job.out_channels - out;
        const std::int64_t columns = channels - k;
        float* into = block[tap] + v * kLanes;
        if (rows >= kLanes && columns >= kLanes)
          transpose_block(from, 9 * channels, into, kTileColumns);
        else
          transpose_some(
              from,
              9 * channels,
              static_cast<int>(rows < kLanes ? rows : kLanes),
              static_cast<int>(columns < kLanes ? columns : kLanes),
              into,
              kTileColumns);
      }
    for (int phase = 0; phase < Short::kPhases; ++phase) {
      const PhaseTaps taps = taps_of(job, phase, Short::kPhases > 1);
      for (int kk = 0; kk < kLanes; ++kk)
        for (int v = 0; v < vectors; ++v)
          both_ways<WeightStep<Short>>(
              TapReader{
                  taps,
                  &block[0][0] + kk * kTileColumns + v * kLanes,
                  kLanes * kTileColumns,
                  kLanes},
              WeightPointWriter<Short::kIn>{
                  to + (phase * job.source.padded + k + kk) * wide + v * kLanes,
                  point_stride});
    }
  }
}

template <class Short>
inline void transform_panel(
    const WinogradJob& job,
    int phase,
    std::int64_t first,
    int vectors,
    float* to,
    std::int64_t point_stride) {
  if (job.transposed)
    transform_panel_transposed<Short>(
        job, phase, first, vectors, to, point_stride);
  else
    transform_panel_forward<Short>(job, first, vectors, to, point_stride);
}

} // namespace temper::kernels::TEMPER_TARGET

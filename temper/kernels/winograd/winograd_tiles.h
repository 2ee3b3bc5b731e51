// Tiles between memory and the transformed domain, all channels of a tile at a
// time. For files named *_simd.cpp.
#pragma once

#include "temper/kernels/winograd/winograd_job.h"
#include "temper/kernels/winograd/winograd_transforms.h"

namespace temper::kernels::TEMPER_TARGET {

struct TilePlace {
  std::int64_t image;
  std::int64_t row; // grid point of its first output
  std::int64_t column;
};

[[gnu::always_inline]] inline TilePlace
place_of(const WinogradJob& job, std::int64_t tile, int outputs) {
  const std::int64_t each = job.tile_rows * job.tile_columns;
  const std::int64_t rest = tile % each;
  return {
      tile / each,
      rest / job.tile_columns * outputs,
      rest % job.tile_columns * outputs};
}

// The offsets of kCount x kCount pixels of a side from the beginning of its
// tensor; -1 outside of the plane.
template <int kCount>
inline void pixel_offsets(
    const WinogradSide& side,
    const TilePlace& place,
    int phase,
    std::int64_t (&offset)[kCount * kCount]) {
  const std::int64_t row0 =
      (place.row + side.origin) * side.step + phase / side.step;
  const std::int64_t column0 =
      (place.column + side.origin) * side.step + phase % side.step;
  for (int i = 0; i < kCount; ++i) {
    const std::int64_t row = row0 + i * side.step;
    const bool inside = row >= 0 && row < side.height;
    const std::int64_t base = (place.image * side.height + row) * side.width;
    for (int j = 0; j < kCount; ++j) {
      const std::int64_t column = column0 + j * side.step;
      offset[i * kCount + j] = inside && column >= 0 && column < side.width
          ? (base + column) * side.channels
          : -1;
    }
  }
}

template <int kCount>
struct TileReader {
  const float* const* pixel;
  std::int64_t channel;
  [[gnu::always_inline]] Vec operator()(int i, int j) const {
    return load(pixel[i * kCount + j] + channel);
  }
};

template <int kCount>
struct TileTailReader {
  const float* const* pixel;
  std::int64_t channel;
  int count;
  [[gnu::always_inline]] Vec operator()(int i, int j) const {
    return load_some(pixel[i * kCount + j] + channel, count);
  }
};

template <int kCount>
struct PointWriter {
  float* to;
  std::int64_t point_stride;
  [[gnu::always_inline]] void operator()(int i, int j, Vec value) const {
    store(to + (i * kCount + j) * point_stride, value);
  }
};

// Where the columns of transformed tiles lie: those from `first` on, in blocks.
struct ColumnBlocks {
  float* to; // column 0
  std::int64_t first;
  std::int64_t width; // columns of a block
  std::int64_t stride; // floats from block to block

  [[gnu::always_inline]] float* at(std::int64_t channel) const {
    const std::int64_t column = first + channel;
    return to + column / width * stride + column % width;
  }
};

// Reads one tile of one phase and writes its points, whole vectors of channels.
template <class Step>
inline void tile_to_points(
    const WinogradSide& side,
    const TilePlace& place,
    int phase,
    const float* tensor,
    const float* zeros,
    const ColumnBlocks& to,
    std::int64_t point_stride) {
  constexpr int kFrom = Step::kFrom;
  std::int64_t offset[kFrom * kFrom];
  const float* pixel[kFrom * kFrom];
  pixel_offsets<kFrom>(side, place, phase, offset);
  for (int i = 0; i < kFrom * kFrom; ++i)
    pixel[i] = offset[i] < 0 ? zeros : tensor + offset[i];
  std::int64_t c = 0;
  for (; c + kLanes <= side.channels; c += kLanes)
    both_ways<Step>(
        TileReader<kFrom>{pixel, c},
        PointWriter<Step::kTo>{to.at(c), point_stride});
  if (c < side.channels)
    both_ways<Step>(
        TileTailReader<kFrom>{pixel, c, static_cast<int>(side.channels - c)},
        PointWriter<Step::kTo>{to.at(c), point_stride});
}

template <int kCount>
struct PointReader {
  const float* from;
  std::int64_t point_stride;
  [[gnu::always_inline]] Vec operator()(int i, int j) const {
    return load(from + (i * kCount + j) * point_stride);
  }
};

// Stores what leaves the output transform, and sums it if wanted. Pixels
// outside of the plane go to a sink and are left out of the sums.
template <int kCount, bool kSums, bool kBias>
struct TileWriter {
  float* const* pixel;
  const float* sink;
  std::int64_t channel;
  int count; // channels of this vector
  Vec bias;
  Vec* sum;
  Vec* squares;
  [[gnu::always_inline]] void operator()(int i, int j, Vec value) const {
    if (kBias) value += bias;
    float* to = pixel[i * kCount + j];
    if (kSums) {
      const bool inside = to != sink;
      const Vec counted = inside ? value : Vec{};
      *sum += counted;
      *squares += counted * counted;
    }
    if (count == kLanes)
      store(to + channel, value);
    else
      store_some(to + channel, value, count);
  }
};

[[gnu::always_inline]] inline void add_to(double* to, Vec value, int count) {
  for (int i = 0; i < count; ++i)
    to[i] += static_cast<double>(value[i]);
}

// Products of one tile become `channels` target channels from `first` on.
// `sum` and `squares` begin at `first`.
template <class Short, bool kSums, bool kBias>
inline void points_to_tile(
    const WinogradJob& job,
    const TilePlace& place,
    int phase,
    std::int64_t first,
    std::int64_t channels,
    const float* from,
    std::int64_t point_stride,
    float* sink,
    double* sum,
    double* squares) {
  constexpr int kOut = Short::kOut;
  std::int64_t offset[kOut * kOut];
  float* pixel[kOut * kOut];
  pixel_offsets<kOut>(job.target, place, phase, offset);
  for (int i = 0; i < kOut * kOut; ++i)
    pixel[i] = offset[i] < 0 ? sink : job.write + offset[i] + first;
  for (std::int64_t c = 0; c < channels; c += kLanes) {
    const int count = channels - c < kLanes ? static_cast<int>(channels - c)
                                            : static_cast<int>(kLanes);
    Vec sums = {};
    Vec square_sums = {};
    const Vec bias = kBias ? load_some(job.bias + first + c, count) : Vec{};
    const PointReader<Short::kIn> points{from + c, point_stride};
    if (count == kLanes)
      both_ways<TargetStep<Short>>(
          points,
          TileWriter<kOut, kSums, kBias>{
              pixel, sink, c, kLanes, bias, &sums, &square_sums});
    else
      both_ways<TargetStep<Short>>(
          points,
          TileWriter<kOut, kSums, kBias>{
              pixel, sink, c, count, bias, &sums, &square_sums});
    if (kSums) {
      add_to(sum + c, sums, count);
      add_to(squares + c, square_sums, count);
    }
  }
}

} // namespace temper::kernels::TEMPER_TARGET

// Tiles between memory and the transformed domain, all channels of a tile at a
// time. For files named *_simd.cpp.
// Private to kernels/winograd.
#pragma once

#include "temper/kernels/norm/gradient_end.h"
#include "temper/kernels/norm/norm_rows.h"
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

// Channels that are brought through a normalisation at once: a tile of them
// stays in the first-level cache.
constexpr std::int64_t kStagedChannels = 64;

// before(x) of a tile's pixels, `channels` channels from `first` on.
template <int kCount>
struct StageTile {
  const Affine& before;
  const float* const* pixel; // of the tile, without the border's
  const bool* inside;
  std::int64_t stride; // from pixel to pixel of a row
  std::int64_t first;
  std::int64_t channels;
  float* staged; // [kCount * kCount, kStagedChannels]

  template <Activation kAct>
  void run() const {
    const Affine some{before.scale + first, before.shift + first, before.act};
    for (int i = 0; i < kCount * kCount; i += kCount)
      for (int j = i; j < i + kCount;) {
        int end = j;
        while (end < i + kCount && inside[end])
          ++end;
        if (end > j)
          affine_rows<kAct>(
              some,
              end - j,
              channels,
              pixel[j] + first,
              stride,
              staged + j * kStagedChannels,
              kStagedChannels);
        j = end + 1;
      }
  }
};

// Transforms channels [begin, end) of a tile; its pixels begin at `begin`.
template <class Step>
[[gnu::always_inline]] inline void transform_tile(
    const float* const* pixel,
    std::int64_t begin,
    std::int64_t end,
    const ColumnBlocks& to,
    std::int64_t point_stride) {
  constexpr int kFrom = Step::kFrom;
  std::int64_t c = begin;
  for (; c + kLanes <= end; c += kLanes)
    both_ways<Step>(
        TileReader<kFrom>{pixel, c - begin},
        PointWriter<Step::kTo>{to.at(c), point_stride});
  if (c < end)
    both_ways<Step>(
        TileTailReader<kFrom>{pixel, c - begin, static_cast<int>(end - c)},
        PointWriter<Step::kTo>{to.at(c), point_stride});
}

// Reads one tile of one phase and writes its points, whole vectors of channels.
// The border stays zero, whatever is applied to pixels.
template <class Step>
inline void tile_to_points(
    const WinogradSide& side,
    const TilePlace& place,
    int phase,
    const float* tensor,
    const Affine& before,
    const float* zeros,
    const ColumnBlocks& to,
    std::int64_t point_stride) {
  constexpr int kPixels = Step::kFrom * Step::kFrom;
  std::int64_t offset[kPixels];
  const float* pixel[kPixels];
  pixel_offsets<Step::kFrom>(side, place, phase, offset);
  for (int i = 0; i < kPixels; ++i)
    pixel[i] = offset[i] < 0 ? zeros : tensor + offset[i];
  if (before.scale == nullptr)
    return transform_tile<Step>(pixel, 0, side.channels, to, point_stride);
  alignas(64) float staged[kPixels * kStagedChannels];
  const float* ready[kPixels];
  bool inside[kPixels];
  for (int i = 0; i < kPixels; ++i) {
    inside[i] = offset[i] >= 0;
    ready[i] = inside[i] ? staged + i * kStagedChannels : zeros;
  }
  for (std::int64_t c = 0; c < side.channels; c += kStagedChannels) {
    const std::int64_t left = side.channels - c;
    const std::int64_t some = left < kStagedChannels ? left : kStagedChannels;
    with_activation(
        before.act,
        StageTile<Step::kFrom>{
            before, pixel, inside, side.step * side.channels, c, some, staged});
    transform_tile<Step>(ready, c, c + some, to, point_stride);
  }
}

template <int kCount>
struct PointReader {
  const float* from;
  std::int64_t point_stride;
  [[gnu::always_inline]] Vec operator()(int i, int j) const {
    return load(from + (i * kCount + j) * point_stride);
  }
};

template <int kCount>
struct StagedWriter {
  float* to; // [kCount * kCount, kStagedChannels]
  [[gnu::always_inline]] void operator()(int i, int j, Vec value) const {
    store(to + (i * kCount + j) * kStagedChannels, value);
  }
};

// Stores what leaves the output transform, and counts it if wanted. Pixels
// outside of the plane go to a sink and are left out of the sums.
template <int kCount, bool kSums, bool kBias>
struct TileWriter {
  float* const* pixel;
  const float* sink;
  std::int64_t channel;
  int count; // channels of this vector
  Vec bias;
  Vec pivot;
  Vec* sum;
  Vec* squares;
  [[gnu::always_inline]] void operator()(int i, int j, Vec value) const {
    if (kBias) value += bias;
    float* to = pixel[i * kCount + j];
    if (kSums) {
      const bool inside = to != sink;
      const Vec counted = inside ? value - pivot : Vec{};
      *sum += counted;
      *squares += counted * counted;
    }
    if (count == kLanes)
      store(to + channel, value);
    else
      store_some(to + channel, value, count);
  }
};

// Where some target channels of a block's products lie.
struct TileProducts {
  std::int64_t first; // target channel
  std::int64_t channels;
  const float* from; // of one tile
  std::int64_t point_stride;
};

// Sums in float32 of a few tiles, for all target channels: of what was written
// less the pivot, and of its squares; or of a gradient (norm/gradient_end.h).
struct TileSums {
  float* pivot = nullptr;
  float* first = nullptr;
  float* second = nullptr;
};

// Products of one tile become target channels.
template <class Short, bool kSums, bool kBias>
inline void points_to_tile(
    const WinogradJob& job,
    const TilePlace& place,
    int phase,
    const TileProducts& products,
    float* sink,
    const TileSums& sums) {
  constexpr int kOut = Short::kOut;
  const std::int64_t first = products.first;
  std::int64_t offset[kOut * kOut];
  float* pixel[kOut * kOut];
  pixel_offsets<kOut>(job.target, place, phase, offset);
  for (int i = 0; i < kOut * kOut; ++i)
    pixel[i] = offset[i] < 0 ? sink : job.write + offset[i] + first;
  for (std::int64_t c = 0; c < products.channels; c += kLanes) {
    const std::int64_t left = products.channels - c;
    const int count = left < kLanes ? static_cast<int>(left) : kLanes;
    Vec pivot = {};
    Vec sum = {};
    Vec squares = {};
    if (kSums) {
      pivot = load(sums.pivot + first + c);
      sum = load(sums.first + first + c);
      squares = load(sums.second + first + c);
    }
    const Vec bias = kBias ? load_some(job.bias + first + c, count) : Vec{};
    const PointReader<Short::kIn> points{
        products.from + c, products.point_stride};
    if (count == kLanes)
      both_ways<TargetStep<Short>>(
          points,
          TileWriter<kOut, kSums, kBias>{
              pixel, sink, c, kLanes, bias, pivot, &sum, &squares});
    else
      both_ways<TargetStep<Short>>(
          points,
          TileWriter<kOut, kSums, kBias>{
              pixel, sink, c, count, bias, pivot, &sum, &squares});
    if (kSums) {
      store(sums.first + first + c, sum);
      store(sums.second + first + c, squares);
    }
  }
}

// This form is for gradients that end in something (GradientEnd).
template <class Short>
inline void points_to_end(
    const WinogradJob& job,
    const TilePlace& place,
    int phase,
    const TileProducts& products,
    const TileSums& sums) {
  constexpr int kOut = Short::kOut;
  std::int64_t offset[kOut * kOut];
  pixel_offsets<kOut>(job.target, place, phase, offset);
  alignas(64) float staged[kOut * kOut * kStagedChannels];
  for (std::int64_t c = 0; c < products.channels; c += kStagedChannels) {
    const std::int64_t left = products.channels - c;
    const std::int64_t some = left < kStagedChannels ? left : kStagedChannels;
    for (std::int64_t i = 0; i < some; i += kLanes)
      both_ways<TargetStep<Short>>(
          PointReader<Short::kIn>{products.from + c + i, products.point_stride},
          StagedWriter<kOut>{staged + i});
    EndedRows rows{
        job.end, job.write, products.first + c, some, sums.first, sums.second};
    for (int i = 0; i < kOut * kOut; ++i)
      if (offset[i] >= 0) rows.add(staged + i * kStagedChannels, offset[i]);
    write_ended(rows);
  }
}

} // namespace temper::kernels::TEMPER_TARGET

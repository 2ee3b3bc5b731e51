// Convolution, bias, ReLU and pooling in registers, and the weight gradient
// from index bytes.
//
// A pooled pixel needs a patch of 4x4 input pixels. Forward, its four
// convolutions are computed side by side for a few vectors of output channels.
// Backward, each output channel has a gradient at one of the four places only:
// the patch is laid out as four rows of 9 * in_channels taps (and a fifth of
// zeros for what ReLU stopped), and the index byte says which of them a
// channel's gradient multiplies. That is a quarter of the dense work.
#include "temper/kernels/conv/conv_pool.h"
#include "temper/kernels/conv/conv_pool_table.h"
#include "temper/kernels/conv/gather_rows.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

typedef std::uint8_t ByteVec
    __attribute__((vector_size(TEMPER_LANES), aligned(1), may_alias));

struct PooledRow {
  std::int64_t image;
  std::int64_t row;
};

PooledRow pooled_row(const ConvPoolJob& job, std::int64_t index) {
  return {index / job.pooled_height, index % job.pooled_height};
}

// The four input rows under a pooled row, with the padding's zeros at both ends
// and room behind them, so that whole vectors can be read anywhere.
struct InputRows {
  float* first;
  std::int64_t stride;

  explicit InputRows(const ConvPoolJob& job) {
    const ConvShape& shape = job.shape;
    stride = whole_vectors(
        (shape.in_width + 2 * shape.pad_width + 4) * shape.in_channels +
        12 * kLanes);
    first = scratch(2, static_cast<std::size_t>(4 * stride));
    fill_zero(first, 4 * stride);
  }

  void read(const ConvPoolJob& job, const PooledRow& at) {
    const ConvShape& shape = job.shape;
    const std::int64_t width = shape.in_width * shape.in_channels;
    for (int i = 0; i < 4; ++i) {
      const std::int64_t h = 2 * at.row - shape.pad_height + i;
      float* to = first + i * stride + shape.pad_width * shape.in_channels;
      if (h < 0 || h >= shape.in_height)
        fill_zero(to, width);
      else
        copy_floats(
            job.x + (at.image * shape.in_height + h) * width, width, to);
    }
  }
};

template <int kVectors>
[[gnu::always_inline]] inline void four_convolutions(
    const float* patch,
    std::int64_t stride,
    std::int64_t channels,
    const float* weights,
    std::int64_t padded,
    Vec (&sums)[4][kVectors]) {
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums[q][v] = Vec{};
  for (int i = 0; i < 3; ++i) {
    const float* upper = patch + i * stride;
    const float* lower = upper + stride;
#pragma GCC unroll 3
    for (std::int64_t k = 0; k < 3 * channels; ++k, weights += padded) {
      Vec w[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        w[v] = load(weights + v * kLanes);
      const Vec x0 = broadcast(upper[k]);
      const Vec x1 = broadcast(upper[k + channels]);
      const Vec x2 = broadcast(lower[k]);
      const Vec x3 = broadcast(lower[k + channels]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[0][v] += x0 * w[v];
        sums[1][v] += x1 * w[v];
        sums[2][v] += x2 * w[v];
        sums[3][v] += x3 * w[v];
      }
    }
  }
}

// The largest of four, a NaN before all others, like LibTorch's max pooling;
// then bias and ReLU.
template <int kVectors>
[[gnu::always_inline]] inline void write_largest(
    const ConvPoolJob& job,
    const Vec (&sums)[4][kVectors],
    std::int64_t pixel,
    std::int64_t channel) {
  const std::int64_t channels = job.shape.out_channels;
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t c = channel + v * kLanes;
    if (c >= channels) return;
    Vec largest = sums[0][v];
    IntVec place = {};
#pragma GCC unroll 4
    for (int q = 1; q < 4; ++q) {
      const Vec value = sums[q][v];
      const IntVec larger = (value > largest) | (value != value);
      largest = larger ? value : largest;
      place = larger ? IntVec{} + q : place;
    }
    largest += load(job.bias + c);
    if (job.relu) {
      const IntVec dead = largest <= Vec{};
      place = dead ? IntVec{} + int{kPoolDead} : place;
      largest = dead ? Vec{} : largest;
    }
    float* to = job.pooled + pixel * channels + c;
    const ByteVec bytes = __builtin_convertvector(place, ByteVec);
    if (channels - c >= kLanes) {
      store(to, largest);
      if (job.index != nullptr)
        *reinterpret_cast<ByteVec*>(job.index + pixel * channels + c) = bytes;
      continue;
    }
    const int some = static_cast<int>(channels - c);
    store_some(to, largest, some);
    if (job.index != nullptr)
      for (int i = 0; i < some; ++i)
        job.index[pixel * channels + c + i] = bytes[i];
  }
}

template <int kVectors>
void convolve_row(
    const ConvPoolJob& job,
    const PooledRow& at,
    const InputRows& rows,
    std::int64_t channel) {
  const std::int64_t first =
      (at.image * job.pooled_height + at.row) * job.pooled_width;
  for (std::int64_t column = 0; column < job.pooled_width; ++column) {
    Vec sums[4][kVectors];
    four_convolutions<kVectors>(
        rows.first + 2 * column * job.shape.in_channels,
        rows.stride,
        job.shape.in_channels,
        job.weights + channel,
        job.padded,
        sums);
    write_largest<kVectors>(job, sums, first + column, channel);
  }
}

void convolve_pooled(
    const ConvPoolJob& job,
    std::int64_t begin,
    std::int64_t end) {
  constexpr std::int64_t kWide = 2 * kLanes;
  InputRows rows(job);
  for (std::int64_t row = begin; row < end; ++row) {
    const PooledRow at = pooled_row(job, row);
    rows.read(job, at);
    std::int64_t channel = 0;
    for (; channel + kWide <= job.padded; channel += kWide)
      convolve_row<2>(job, at, rows, channel);
    if (channel < job.padded) convolve_row<1>(job, at, rows, channel);
  }
}

void pack_pool_weights(const ConvShape& shape, const float* weight, float* to) {
  const std::int64_t padded = whole_vectors(shape.out_channels);
  const std::int64_t taps = 9 * shape.in_channels;
  for (std::int64_t k = 0; k < taps; ++k)
    for (std::int64_t c = 0; c < padded; ++c)
      to[k * padded + c] = c < shape.out_channels ? weight[c * taps + k] : 0.0F;
}

std::int64_t taps_in_vectors(const ConvShape& shape) {
  return whole_vectors(9 * shape.in_channels);
}

constexpr std::int64_t kPixelsAtOnce = 32;
constexpr int kPlaces = 5; // of a cell, and one for what ReLU stopped

// The rows of taps of up to kPixelsAtOnce pooled pixels: pixel, place, tap.
// Whole vectors are copied: what is too much is overwritten by what follows, or
// meets sums that nobody reads.
template <int kVectors>
void lay_out_taps(
    const InputRows& rows,
    std::int64_t channels,
    std::int64_t column,
    std::int64_t count,
    std::int64_t row_floats,
    float* taps) {
  const std::int64_t three = 3 * channels;
  for (std::int64_t p = 0; p < count; ++p) {
    const float* patch = rows.first + 2 * (column + p) * channels;
    float* to = taps + p * kPlaces * row_floats;
    for (int place = 0; place < 4; ++place, to += row_floats) {
      const float* from =
          patch + place / 2 * rows.stride + place % 2 * channels;
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i)
#pragma GCC unroll 12
        for (int v = 0; v < kVectors; ++v)
          store(
              to + i * three + v * kLanes,
              load(from + i * rows.stride + v * kLanes));
    }
#pragma GCC unroll 12
    for (int v = 0; v < kVectors; ++v) // no more than was written there
      store(to + v * kLanes, Vec{});
  }
}

void lay_out(
    const InputRows& rows,
    std::int64_t channels,
    std::int64_t column,
    std::int64_t count,
    std::int64_t row_floats,
    float* taps) {
  const std::int64_t vectors = (3 * channels + kLanes - 1) / kLanes;
  if (vectors == 1)
    lay_out_taps<1>(rows, channels, column, count, row_floats, taps);
  else if (vectors == 2)
    lay_out_taps<2>(rows, channels, column, count, row_floats, taps);
  else if (vectors == 3)
    lay_out_taps<3>(rows, channels, column, count, row_floats, taps);
  else if (vectors <= 6)
    lay_out_taps<6>(rows, channels, column, count, row_floats, taps);
  else
    lay_out_taps<12>(rows, channels, column, count, row_floats, taps);
}

// The gradient, or zero for what ReLU stopped; without a branch, which would be
// mispredicted half of the time.
[[gnu::always_inline]] inline float unless_dead(
    const float* gradient,
    std::uint8_t place) {
  typedef std::int32_t Bits __attribute__((may_alias));
  const std::int32_t mask = (std::int32_t{place} - kPoolDead) >> 31;
  const std::int32_t kept = *reinterpret_cast<const Bits*>(gradient) & mask;
  float value;
  __builtin_memcpy(&value, &kept, sizeof value);
  return value;
}

// Adds `count` pixels to the gradients of kChannels output channels, kVectors
// vectors of their taps.
template <int kVectors, int kChannels>
[[gnu::always_inline]] inline void add_pixels(
    const float* taps,
    std::int64_t row_floats,
    const std::uint8_t* chosen,
    const float* gradient,
    std::int64_t channels,
    std::int64_t count,
    float* sums,
    float* bias_sums) {
  Vec total[kChannels][kVectors] = {};
  float bias[kChannels] = {};
  for (std::int64_t p = 0; p < count; ++p) {
#pragma GCC unroll 4
    for (int c = 0; c < kChannels; ++c) {
      const std::uint8_t place = chosen[p * channels + c];
      const float g = unless_dead(gradient + p * channels + c, place);
      const float* row = taps + (p * kPlaces + place) * row_floats;
      const Vec factor = broadcast(g);
      bias[c] += g;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        total[c][v] += factor * load(row + v * kLanes);
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < kChannels; ++c) {
    float* to = sums + c * row_floats;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      store(to + v * kLanes, load(to + v * kLanes) + total[c][v]);
    if (bias_sums != nullptr) bias_sums[c] += bias[c];
  }
}

template <int kVectors>
void add_all_channels(
    const float* taps,
    std::int64_t row_floats,
    const std::uint8_t* chosen,
    const float* gradient,
    std::int64_t channels,
    std::int64_t count,
    float* sums,
    float* bias_sums) {
  constexpr int kAtOnce = kVectors > 2 && kLanes < 16 ? 2 : 4;
  std::int64_t c = 0;
  for (; c + kAtOnce <= channels; c += kAtOnce)
    add_pixels<kVectors, kAtOnce>(
        taps,
        row_floats,
        chosen + c,
        gradient + c,
        channels,
        count,
        sums + c * row_floats,
        bias_sums == nullptr ? nullptr : bias_sums + c);
  for (; c < channels; ++c)
    add_pixels<kVectors, 1>(
        taps,
        row_floats,
        chosen + c,
        gradient + c,
        channels,
        count,
        sums + c * row_floats,
        bias_sums == nullptr ? nullptr : bias_sums + c);
}

void add_pooled_block(
    const ConvPoolJob& job,
    const float* taps,
    std::int64_t row_floats,
    std::int64_t pixel,
    std::int64_t count,
    float* sums,
    float* bias_sums) {
  const std::int64_t channels = job.shape.out_channels;
  const std::uint8_t* chosen = job.chosen + pixel * channels;
  const float* gradient = job.gradient + pixel * channels;
  std::int64_t k = 0;
  const auto add = [&](auto add_some, std::int64_t vectors) {
    add_some(
        taps + k,
        row_floats,
        chosen,
        gradient,
        channels,
        count,
        sums + k,
        k == 0 ? bias_sums : nullptr);
    k += vectors * kLanes;
  };
  while (row_floats - k >= 4 * kLanes)
    add(add_all_channels<4>, 4);
  if (row_floats - k >= 2 * kLanes) add(add_all_channels<2>, 2);
  if (row_floats - k >= kLanes) add(add_all_channels<1>, 1);
}

void sum_pooled_gradient(
    const ConvPoolJob& job,
    std::int64_t begin,
    std::int64_t end,
    float* weight_sums,
    float* bias_sums) {
  const std::int64_t row_floats = taps_in_vectors(job.shape);
  const std::int64_t taps_floats =
      kPixelsAtOnce * kPlaces * row_floats + 12 * kLanes;
  float* taps = scratch(1, static_cast<std::size_t>(taps_floats));
  fill_zero(taps, taps_floats); // the fifth places and the ends of rows
  fill_zero(weight_sums, job.shape.out_channels * row_floats);
  fill_zero(bias_sums, job.shape.out_channels);
  InputRows rows(job);
  for (std::int64_t row = begin; row < end; ++row) {
    const PooledRow at = pooled_row(job, row);
    rows.read(job, at);
    for (std::int64_t column = 0; column < job.pooled_width;
         column += kPixelsAtOnce) {
      const std::int64_t left = job.pooled_width - column;
      const std::int64_t count = left < kPixelsAtOnce ? left : kPixelsAtOnce;
      lay_out(rows, job.shape.in_channels, column, count, row_floats, taps);
      add_pooled_block(
          job,
          taps,
          row_floats,
          row * job.pooled_width + column,
          count,
          weight_sums,
          bias_sums);
    }
  }
}

} // namespace

extern const ConvPoolTable conv_pool_table;
const ConvPoolTable conv_pool_table = {
    kLanes,
    pack_pool_weights,
    convolve_pooled,
    taps_in_vectors,
    sum_pooled_gradient};

} // namespace temper::kernels::TEMPER_TARGET

// The part that both passes of a depthwise convolution share: rows of an image
// as a few
// vectors of channels, with zeros around, in memory that stays in the cache.
// For files named *_simd.cpp.
//
// A block is some vectors of channels. Its rows lie as [vectors, ring of rows,
// padded width, lanes], so that a kernel's taps are at constant distances; the
// columns of padding are zero and stay so. Rows outside the image are left out
// of the sums.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv/depthwise_table.h"
#include "temper/kernels/norm/norm_rows.h"

namespace temper::kernels::TEMPER_TARGET {

struct RingRows {
  float* memory = nullptr;
  std::int64_t count = 4; // rows of the ring, a power of two
  std::int64_t width = 0; // without padding
  std::int64_t padding = 0;

  [[gnu::always_inline]] std::int64_t row_floats() const {
    return (width + 2 * padding) * kLanes;
  }
  // Column 0 of the padding.
  [[gnu::always_inline]] float* row(std::int64_t v, std::int64_t h) const {
    return memory + (v * count + (h & (count - 1))) * row_floats();
  }
};

// Rows of a ring that hold a kernel's window and one more.
constexpr std::int64_t ring_count(std::int64_t kernel) {
  return kernel == 3 ? 4 : 8;
}

// Vectors of channels that are taken through at once: 64 channels, or more of
// narrow images, as long as their rows fit a first-level cache.
[[gnu::always_inline]] inline std::int64_t
block_vectors(std::int64_t kernel, std::int64_t width, std::int64_t vectors) {
  const std::int64_t row = (width + kernel - 1) * kLanes * ring_count(kernel);
  const std::int64_t fit = 4096 / row;
  const std::int64_t least = 64 / kLanes;
  const std::int64_t most = fit < least ? least : fit;
  return most < vectors ? most : vectors;
}

// The channels of a vector: kLanes, or what is left of them.
[[gnu::always_inline]] inline std::int64_t channels_of(
    std::int64_t channels,
    std::int64_t v) {
  const std::int64_t rest = channels - v * kLanes;
  return rest < kLanes ? rest : kLanes;
}

// A row's numbers lie too far apart for the processor to foresee, so the same
// channels of the next row are asked for while this one is read: behind a row
// comes the next one, and behind an image the next image.

// One vector of channels of a row, through a normalisation, into a ring.
struct FillAffine {
  Affine norm; // of the vector's channels
  std::int64_t width;
  std::int64_t there; // channels of the vector
  const float* x;
  std::int64_t stride;
  float* to;

  template <class Lanes>
  [[gnu::always_inline]] void copy(Lanes lanes) const {
    const FillAffine own = *this;
    for (std::int64_t w = 0; w < own.width; ++w) {
      __builtin_prefetch(own.x + (w + own.width) * own.stride);
      store(own.to + w * kLanes, lanes.load(own.x + w * own.stride));
    }
  }
  template <Activation kAct, class Lanes>
  [[gnu::always_inline]] void map(Lanes lanes) const {
    const Vec scale = lanes.load(norm.scale);
    const Vec shift = lanes.load(norm.shift);
    // Copies, which no store can change.
    const float* from = x;
    float* out = to;
    const std::int64_t step = stride;
    const std::int64_t row = width * step;
    for (const float* end = from + row; from < end; from += step) {
      __builtin_prefetch(from + row);
      store(out, activate<kAct>(lanes.load(from) * scale + shift));
      out += kLanes;
    }
  }
  template <Activation kAct>
  void run() const {
    if (there == kLanes)
      map<kAct>(Whole{});
    else
      map<kAct>(Part{static_cast<int>(there)});
  }
  void fill() const {
    if (norm.scale != nullptr)
      with_activation(norm.act, *this);
    else if (there == kLanes)
      copy(Whole{});
    else
      copy(Part{static_cast<int>(there)});
  }
};

[[gnu::always_inline]] inline Affine from_channel(
    const Affine& norm,
    std::int64_t c) {
  if (norm.scale == nullptr) return norm;
  return {norm.scale + c, norm.shift + c, norm.act};
}

void depthwise_backward_piece(
    const DepthwiseBackward& job,
    const float* packed,
    const DepthwisePiece& piece,
    double* weights,
    double* parts);

} // namespace temper::kernels::TEMPER_TARGET

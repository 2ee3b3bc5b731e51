// The pieces of a convolution with pooling that are compiled for each vector
// unit. Each runs on one thread; conv_pool.cpp cuts the work and hands it out.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv_shape.h"

namespace temper::kernels {

struct ConvPoolJob {
  ConvShape shape;
  bool relu = true;
  std::int64_t pooled_height = 0;
  std::int64_t pooled_width = 0;
  const float* x = nullptr;
  // Forward: [3, 3, in_channels, padded], out_channels in whole vectors.
  const float* weights = nullptr;
  std::int64_t padded = 0;
  const float* bias = nullptr; // padded; zeros if there is none
  float* pooled = nullptr;
  std::uint8_t* index = nullptr; // may be null
  // Backward.
  const std::uint8_t* chosen = nullptr;
  const float* gradient = nullptr; // of pooled
};

struct ConvPoolTable {
  int lanes;

  // Weights of the layer to job.weights' layout.
  void (*pack_weights)(const ConvShape& shape, const float* weight, float* to);

  // Rows [begin, end) of all images' pooled rows.
  void (
      *convolve)(const ConvPoolJob& job, std::int64_t begin, std::int64_t end);

  // Sums over pooled rows [begin, end): [out_channels, row_floats of a
  // channel], whose last taps are padding, then a bias gradient a channel.
  std::int64_t (*row_floats)(const ConvShape& shape);
  void (*sum_gradient)(
      const ConvPoolJob& job,
      std::int64_t begin,
      std::int64_t end,
      float* weight_sums,
      float* bias_sums);
};

} // namespace temper::kernels

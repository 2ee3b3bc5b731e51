// The mean over all pixels of each channel, which ends most networks of
// convolutions, and its gradient. Images are channels-last.
#pragma once

#include <cstdint>

namespace temper::kernels {

struct MeanPoolShape {
  std::int64_t images = 0;
  std::int64_t pixels = 0; // of one image
  std::int64_t channels = 0;
};

// x: [images, pixels, channels]; means: [images, channels].
void mean_pool_forward(
    const MeanPoolShape& shape,
    const float* x,
    float* means);

// Every pixel gets its part of the mean's gradient.
void mean_pool_backward(
    const MeanPoolShape& shape,
    const float* gradient,
    float* x_gradient);

} // namespace temper::kernels

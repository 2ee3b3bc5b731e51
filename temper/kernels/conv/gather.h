// Convolutions of any kernel (up to 16x16), stride and padding, without groups
// and dilation, as multiplications of gathered rows (im2col in blocks that stay
// in the cache). Taps that only see padding are left out where that saves work.
//
// Scratch: about 1 MB a thread, and on the calling thread the packed weights,
// for the weight gradient at most 16 MB of partial sums or one gradient.
#pragma once

#include "temper/kernels/conv_shape.h"
#include "temper/kernels/norm/batch_norm.h"

namespace temper::kernels {

bool gather_takes(const ConvShape& shape);

// The arguments are those of convolution.h.
void gather_forward(
    const ConvShape& shape,
    const float* x,
    const float* weight,
    const float* bias,
    float* y,
    const Moments* moments = nullptr,
    const Affine& before = {});

void gather_data_gradient(
    const ConvShape& shape,
    const float* y_gradient,
    const float* weight,
    float* x_gradient,
    const GradientEnd& end = {});

void gather_weight_gradient(
    const ConvShape& shape,
    const float* x,
    const float* y_gradient,
    float* weight_gradient,
    const Affine& before = {});

// The sum of each channel over `rows` rows without gaps: the gradient of a
// bias.
void sum_channels(
    std::int64_t rows,
    std::int64_t channels,
    const float* from,
    float* to);

// Multiplications of one channel pair and image, taps in the padding left out
// where they are.
std::int64_t gather_products(const ConvShape& shape);

} // namespace temper::kernels

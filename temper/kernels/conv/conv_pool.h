// A 3x3 convolution of few input channels, bias, ReLU and the largest of each
// 2x2 cell, in one pass: what the first layers of small networks are. The
// convolution's result, four times as large as what is kept of it, never
// reaches memory; an index byte a pooled value is all that the gradients need.
//
// Scratch: up to 100 KB a thread; for the gradient 16 partial gradients of the
// weights on the calling thread.
#pragma once

#include <cstdint>

#include "temper/kernels/conv_shape.h"

namespace temper::kernels {

// Kernel 3x3, stride 1, padding 0 or 1 both ways, at most 16 input channels.
// The shape's out_height and out_width are the convolution's; the pooled plane
// has half of each, rounded down.
bool conv_pool_takes(const ConvShape& shape);

// An index byte says which of the cell's four pixels is the largest, row by
// row, or that ReLU let nothing through.
constexpr std::uint8_t kPoolDead = 4;

// `bias` may be null. Without `relu`, the convolution is pooled as it is.
// `pooled` and `index` are [batch, out_height / 2, out_width / 2,
// out_channels]; `index` may be null.
void conv_pool_forward(
    const ConvShape& shape,
    bool relu,
    const float* x,
    const float* weight,
    const float* bias,
    float* pooled,
    std::uint8_t* index);

// `bias_gradient` may be null.
void conv_pool_weight_gradient(
    const ConvShape& shape,
    const float* x,
    const std::uint8_t* index,
    const float* pooled_gradient,
    float* weight_gradient,
    float* bias_gradient);

// The gradient of the convolution's result: zero but where a cell's largest
// was.
void conv_pool_spread(
    const ConvShape& shape,
    const std::uint8_t* index,
    const float* pooled_gradient,
    float* y_gradient);

} // namespace temper::kernels

// Convolutions with 3x3 weights by Winograd's short algorithms: stride 1 as
// F(4x4, 3x3) or F(2x2, 3x3), stride 2 as F(4x4, 2x2) over the four phases of
// the larger plane. 2.25 to 4 times fewer multiplications than the direct sum
// (1.44 for stride 2), an error a few times larger: docs/precision.md.
//
// Scratch: up to 4 MB a thread, and on the calling thread the transformed
// weights (36/9 of the layer's weights) or tiles (at most 20 MB), and for the
// weight gradient at most 16 MB of partial sums or, where tiles come in several
// rounds, one transformed gradient.
#pragma once

#include "temper/kernels/conv_shape.h"
#include "temper/kernels/winograd/winograd_job.h"

namespace temper::kernels {

// Whether the shape is one of these: 3x3, the same stride (1 or 2) and padding
// both ways, padding at most 2 for stride 1 and 1 for stride 2.
bool winograd_takes(const ConvShape& shape);

// Multiplications of one channel pair and image.
std::int64_t winograd_products(const ConvShape& shape, WinogradTile tile);

// The tile with the least work for this shape.
WinogradTile winograd_tile(const ConvShape& shape);

// The arguments are those of conv/convolution.h.
void winograd_forward(
    const ConvShape& shape,
    WinogradTile tile,
    const float* x,
    const float* weight,
    const float* bias,
    float* y,
    const Moments* moments = nullptr,
    const Affine& before = {});

void winograd_data_gradient(
    const ConvShape& shape,
    WinogradTile tile,
    const float* y_gradient,
    const float* weight,
    float* x_gradient,
    const GradientEnd& end = {});

void winograd_weight_gradient(
    const ConvShape& shape,
    WinogradTile tile,
    const float* x,
    const float* y_gradient,
    float* weight_gradient,
    const Affine& before = {});

} // namespace temper::kernels

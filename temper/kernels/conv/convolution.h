// A convolution by whichever kernel is fastest for its shape: Winograd's for
// most 3x3, gathered rows for the rest and for small planes.
#pragma once

#include "temper/kernels/conv_shape.h"

namespace temper::kernels {

bool convolution_takes(const ConvShape& shape);

// `bias` may be null. Sums are those of y with its bias.
void convolution_forward(
    const ConvShape& shape,
    const float* x,
    const float* weight,
    const float* bias,
    float* y,
    const ChannelSums& sums = {});

void convolution_data_gradient(
    const ConvShape& shape,
    const float* y_gradient,
    const float* weight,
    float* x_gradient);

void convolution_weight_gradient(
    const ConvShape& shape,
    const float* x,
    const float* y_gradient,
    float* weight_gradient);

void convolution_bias_gradient(
    const ConvShape& shape,
    const float* y_gradient,
    float* bias_gradient);

} // namespace temper::kernels

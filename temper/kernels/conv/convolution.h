// A convolution by whichever kernel is fastest for its shape: Winograd's for
// most 3x3, gathered rows for the rest and for small planes.
#pragma once

#include "temper/kernels/conv_shape.h"
#include "temper/kernels/norm/batch_norm.h"

namespace temper::kernels {

bool convolution_takes(const ConvShape& shape);

// y = before(x) * weight + bias, where the padding is zero. `bias` may be null;
// `moments` are those of y with its bias, counted as it is written.
void convolution_forward(
    const ConvShape& shape,
    const float* x,
    const float* weight,
    const float* bias,
    float* y,
    const Moments* moments = nullptr,
    const Affine& before = {});

void convolution_data_gradient(
    const ConvShape& shape,
    const float* y_gradient,
    const float* weight,
    float* x_gradient,
    const GradientEnd& end = {});

void convolution_weight_gradient(
    const ConvShape& shape,
    const float* x,
    const float* y_gradient,
    float* weight_gradient,
    const Affine& before = {});

void convolution_bias_gradient(
    const ConvShape& shape,
    const float* y_gradient,
    float* bias_gradient);

} // namespace temper::kernels

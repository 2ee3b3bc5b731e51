#include "temper/kernels/conv/convolution.h"

#include <algorithm>

#include "temper/kernels/conv/gather.h"
#include "temper/kernels/winograd/winograd.h"

namespace temper::kernels {
namespace {

// How many multiplications Winograd's transforms must save, as a fraction of
// those that are left, before they pay.
constexpr double kWorthIt = 1.3;
constexpr double kWorthItStridedGradient = 1.45;
constexpr std::int64_t kFewChannels = 16;

bool by_winograd(const ConvShape& shape, double worth_it) {
  if (!winograd_takes(shape)) return false;
  if (std::min(shape.in_channels, shape.out_channels) < kFewChannels)
    return false;
  const auto transformed =
      static_cast<double>(winograd_products(shape, winograd_tile(shape)));
  return transformed * worth_it <= static_cast<double>(gather_products(shape));
}

} // namespace

bool convolution_takes(const ConvShape& shape) {
  return gather_takes(shape);
}

void convolution_forward(
    const ConvShape& shape,
    const float* x,
    const float* weight,
    const float* bias,
    float* y,
    const Moments* moments,
    const Affine& before) {
  if (by_winograd(shape, kWorthIt))
    winograd_forward(
        shape, winograd_tile(shape), x, weight, bias, y, moments, before);
  else
    gather_forward(shape, x, weight, bias, y, moments, before);
}

void convolution_data_gradient(
    const ConvShape& shape,
    const float* y_gradient,
    const float* weight,
    float* x_gradient,
    const GradientEnd& end) {
  if (by_winograd(shape, kWorthIt))
    winograd_data_gradient(
        shape, winograd_tile(shape), y_gradient, weight, x_gradient, end);
  else
    gather_data_gradient(shape, y_gradient, weight, x_gradient, end);
}

void convolution_weight_gradient(
    const ConvShape& shape,
    const float* x,
    const float* y_gradient,
    float* weight_gradient,
    const Affine& before) {
  const bool strided = shape.stride_height > 1;
  if (by_winograd(shape, strided ? kWorthItStridedGradient : kWorthIt))
    winograd_weight_gradient(
        shape, winograd_tile(shape), x, y_gradient, weight_gradient, before);
  else
    gather_weight_gradient(shape, x, y_gradient, weight_gradient, before);
}

void convolution_bias_gradient(
    const ConvShape& shape,
    const float* y_gradient,
    float* bias_gradient) {
  sum_channels(
      shape.batch * shape.out_height() * shape.out_width(),
      shape.out_channels,
      y_gradient,
      bias_gradient);
}

} // namespace temper::kernels

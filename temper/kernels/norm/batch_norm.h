// BatchNorm over rows of channels (channels_last memory), with an activation
// and a residual in the same pass, forward and backward.
//
// A normalisation is two numbers a channel, y = scale x + shift, and so is its
// gradient: dx = scale g + slope (x - mean) + offset. Convolutions apply both
// to what they read (conv/pointwise.h, conv/depthwise.h), so that a network
// keeps only what its convolutions wrote.
#pragma once

#include <cstdint>

#include "temper/kernels/norm/activation.h"

namespace temper::kernels {

// Whether these kernels compute it: none, ReLU, ReLU6, Hardswish, SiLU.
bool follows_norm(Activation act);

// act(scale x + shift). Without a scale: x itself, and `act` means nothing.
struct Affine {
  const float* scale = nullptr; // [channels]
  const float* shift = nullptr;
  Activation act = Activation::kNone;
};

// The gradient with respect to a normalisation's input x:
// scale g' + slope (x - mean) + offset, where g' = g act'(scale x + shift).
// Without x: g itself.
struct NormGradient {
  const float* x = nullptr; // [rows, channels], what was normalised
  const float* scale = nullptr; // [channels], as are all that follow
  const float* shift = nullptr;
  const float* mean = nullptr;
  const float* slope = nullptr;
  const float* offset = nullptr;
  Activation act = Activation::kNone;
};

// Mean and variance (divided by the rows) of every channel.
struct Moments {
  double* mean = nullptr;
  double* variance = nullptr;
};

// Per channel, over the rows: g', and g' (x - mean).
struct GradientSums {
  double* gradient = nullptr;
  double* product = nullptr;
};

// The end of a gradient with respect to act(scale x + shift), as a kernel
// writes it: (gradient [+ add]) act'(scale x + shift), and its sums.
struct GradientEnd {
  const float* add = nullptr; // lies like the gradient, may be its memory
  const float* x = nullptr; // likewise; null: there is no normalisation before
  Affine before{};
  const float* mean = nullptr;
  const GradientSums* sums = nullptr; // wanted wherever there is an x
};

// The numbers a normalisation leaves for the passes after it; [channels] each.
struct NormState {
  float* mean = nullptr;
  float* rstd = nullptr; // 1 / sqrt(variance + eps)
  float* scale = nullptr;
  float* shift = nullptr;
};

Moments moments_in(double* memory, std::int64_t channels); // 2 channels
GradientSums gradient_sums_in(double* memory, std::int64_t channels);
NormState state_in(float* memory, std::int64_t channels); // 4 channels

// weight and bias may be null: 1 and 0.
void norm_state(
    std::int64_t channels,
    const Moments& moments,
    const float* weight,
    const float* bias,
    double eps,
    const NormState& state);

// running += momentum (new - running), the variance divided by rows - 1.
void update_running(
    std::int64_t rows,
    std::int64_t channels,
    const Moments& moments,
    double momentum,
    float* mean,
    float* variance);

// Coefficients of NormGradient, and the gradients of weight and bias (either
// may be null). Constant statistics (evaluation): slope and offset are zero.
void gradient_coefficients(
    std::int64_t rows,
    std::int64_t channels,
    const GradientSums& sums,
    const NormState& state,
    bool constant_statistics,
    float* slope,
    float* offset,
    float* weight_gradient,
    float* bias_gradient);

void channel_moments(
    std::int64_t rows,
    std::int64_t channels,
    const float* x,
    const Moments& moments);

// Where a residual is added.
enum class Residual { kNone, kBeforeActivation, kAfterActivation };

struct NormApply {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  const float* x = nullptr;
  Affine norm;
  Residual residual_place = Residual::kNone;
  const float* residual = nullptr;
  float* y = nullptr;
  // scale and shift of a residual that is added before the activation, and
  // normalised; without a scale: the residual itself.
  Affine residual_norm{};
};
void norm_apply(const NormApply& job);

// Sums over g' = g act'(scale x + shift [+ residual]); g' itself is written to
// `through` unless that is null. A normalised residual has sums of its own.
struct NormSums {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  const float* gradient = nullptr;
  const float* x = nullptr;
  Affine norm;
  const float* mean = nullptr;
  const float* residual = nullptr; // added before the activation, or null
  float* through = nullptr;
  GradientSums sums{};
  Affine residual_norm{}; // as in NormApply, with its mean and sums
  const float* residual_mean = nullptr;
  GradientSums residual_sums{};
};
void norm_gradient_sums(const NormSums& job);

// x_gradient = what NormGradient says.
void norm_gradient_apply(
    std::int64_t rows,
    std::int64_t channels,
    const float* gradient,
    const NormGradient& norm,
    float* x_gradient);

} // namespace temper::kernels

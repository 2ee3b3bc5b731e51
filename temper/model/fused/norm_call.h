// The part that fused ops with BatchNorm share: their tensors, and a
// normalisation's numbers in one forward and one backward pass. Includes torch:
// see module.h.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "temper/kernels/norm/batch_norm.h"
#include "temper/model/fused/layers.h"

namespace temper::model {

// Defined, float32 numbers in the CPU's memory, and at least one of them.
bool is_float_on_cpu(const at::Tensor& tensor);

// Undefined, or one float per channel, one after another, on the CPU.
bool is_channel_vector(const at::Tensor& tensor, std::int64_t channels);

// Rows of channels: channels_last if the tensor has four dimensions.
at::Tensor as_rows(const at::Tensor& tensor);
at::Tensor empty_rows(at::IntArrayRef sizes);
std::int64_t row_count(const at::Tensor& tensor);

float* floats_of(const at::Tensor& tensor); // null for an undefined one

// Norm weight, bias, running mean and variance, from `first` on.
struct NormTensors {
  at::Tensor weight, bias, running_mean, running_var;
  NormTensors(const FusedOp::Tensors& inputs, std::size_t first);
  // Whether the kernels take them, for this many rows.
  bool taken(const NormSpec& spec, std::int64_t rows, std::int64_t channels)
      const;
};

// A normalisation's forward pass. The kernel before it counts into moments();
// finish() then updates the running statistics and makes state(), which is
// all that later passes need.
class NormForward {
 public:
  NormForward(const NormSpec& spec, const NormTensors& tensors, std::int64_t c);

  // Null: running statistics are used and nothing is to be counted.
  const kernels::Moments* moments() const;
  void finish(std::int64_t rows);
  const at::Tensor& state() const; // [4, channels]
  kernels::Affine affine(Activation act) const;

 private:
  NormSpec spec_;
  const NormTensors& tensors_;
  std::int64_t channels_;
  std::vector<double> memory_;
  kernels::Moments moments_;
  at::Tensor state_;
};

kernels::NormState state_of(const at::Tensor& state);
kernels::Affine affine_of(const at::Tensor& state, Activation act);

// A normalisation's backward pass: sums() are filled by a kernel, finish()
// makes the coefficients and the gradients of weight and bias.
class NormBackward {
 public:
  NormBackward(const NormSpec& spec, const at::Tensor& state);

  const kernels::GradientSums& sums() const;
  // `x`: what was normalised. `act`: None where gradients already passed it.
  kernels::NormGradient finish(const at::Tensor& x, Activation act);
  at::Tensor weight_gradient, bias_gradient;

 private:
  NormSpec spec_;
  at::Tensor state_;
  std::vector<double> memory_;
  std::vector<float> coefficients_;
  kernels::GradientSums sums_;
};

// A residual that came from a convolution and a normalisation of its own.
struct NormedResidual {
  at::Tensor raw;
  at::Tensor state;
  kernels::GradientSums sums;
};

// Sums over a gradient that no kernel has counted. With a residual that was
// added before the activation, and with `through`, the gradient behind the
// activation is written there.
void count_gradient(
    const at::Tensor& gradient,
    const at::Tensor& x,
    const at::Tensor& state,
    Activation act,
    const at::Tensor& residual,
    const at::Tensor& through,
    const kernels::GradientSums& sums);
void count_gradient(
    const at::Tensor& gradient,
    const at::Tensor& x,
    const at::Tensor& state,
    Activation act,
    const NormedResidual& residual,
    const at::Tensor& through,
    const kernels::GradientSums& sums);

} // namespace temper::model

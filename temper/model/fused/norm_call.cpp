#include "temper/model/fused/norm_call.h"

namespace temper::model {

bool is_float_on_cpu(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() &&
      tensor.layout() == at::kStrided && tensor.scalar_type() == at::kFloat &&
      !tensor.is_neg() && tensor.numel() > 0;
}

bool is_channel_vector(const at::Tensor& tensor, std::int64_t channels) {
  return !tensor.defined() ||
      (is_float_on_cpu(tensor) && tensor.dim() == 1 &&
       tensor.numel() == channels && tensor.is_contiguous());
}

at::Tensor as_rows(const at::Tensor& tensor) {
  return tensor.dim() == 4 ? tensor.contiguous(at::MemoryFormat::ChannelsLast)
                           : tensor.contiguous();
}

at::Tensor empty_rows(at::IntArrayRef sizes) {
  const at::TensorOptions options(at::kFloat);
  return sizes.size() == 4
      ? at::empty(sizes, options.memory_format(at::MemoryFormat::ChannelsLast))
      : at::empty(sizes, options);
}

std::int64_t row_count(const at::Tensor& tensor) {
  return tensor.numel() / tensor.size(1);
}

float* floats_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

NormTensors::NormTensors(const FusedOp::Tensors& inputs, std::size_t first)
    : weight(inputs.at(first)),
      bias(inputs.at(first + 1)),
      running_mean(inputs.at(first + 2)),
      running_var(inputs.at(first + 3)) {}

bool NormTensors::taken(
    const NormSpec& spec,
    std::int64_t rows,
    std::int64_t channels) const {
  for (const at::Tensor& one : {weight, bias, running_mean, running_var})
    if (!is_channel_vector(one, channels)) return false;
  if (running_mean.defined() != running_var.defined()) return false;
  // One row has no variance: LibTorch says so.
  return spec.training ? rows > 1 : running_mean.defined();
}

NormForward::NormForward(
    const NormSpec& spec,
    const NormTensors& tensors,
    std::int64_t c)
    : spec_(spec),
      tensors_(tensors),
      channels_(c),
      memory_(static_cast<std::size_t>(2 * c)),
      moments_(kernels::moments_in(memory_.data(), c)),
      state_(at::empty({4, c}, at::kFloat)) {}

const kernels::Moments* NormForward::moments() const {
  return spec_.training ? &moments_ : nullptr;
}

void NormForward::finish(std::int64_t rows) {
  float* mean = floats_of(tensors_.running_mean);
  float* variance = floats_of(tensors_.running_var);
  if (!spec_.training) {
    for (std::int64_t c = 0; c < channels_; ++c) {
      moments_.mean[c] = static_cast<double>(mean[c]);
      moments_.variance[c] = static_cast<double>(variance[c]);
    }
  } else if (mean != nullptr) {
    kernels::update_running(
        rows, channels_, moments_, spec_.momentum, mean, variance);
    tensors_.running_mean.unsafeGetTensorImpl()->bump_version();
    tensors_.running_var.unsafeGetTensorImpl()->bump_version();
  }
  kernels::norm_state(
      channels_,
      moments_,
      floats_of(tensors_.weight),
      floats_of(tensors_.bias),
      spec_.eps,
      state_of(state_));
}

const at::Tensor& NormForward::state() const {
  return state_;
}

kernels::Affine NormForward::affine(Activation act) const {
  return affine_of(state_, act);
}

kernels::NormState state_of(const at::Tensor& state) {
  return kernels::state_in(state.data_ptr<float>(), state.size(1));
}

kernels::Affine affine_of(const at::Tensor& state, Activation act) {
  const kernels::NormState all = state_of(state);
  return {all.scale, all.shift, act};
}

NormBackward::NormBackward(const NormSpec& spec, const at::Tensor& state)
    : weight_gradient(at::empty({state.size(1)}, at::kFloat)),
      bias_gradient(at::empty({state.size(1)}, at::kFloat)),
      spec_(spec),
      state_(state),
      memory_(static_cast<std::size_t>(2 * state.size(1))),
      coefficients_(static_cast<std::size_t>(2 * state.size(1))),
      sums_(kernels::gradient_sums_in(memory_.data(), state.size(1))) {}

const kernels::GradientSums& NormBackward::sums() const {
  return sums_;
}

kernels::NormGradient NormBackward::finish(
    const at::Tensor& x,
    Activation act) {
  const std::int64_t channels = state_.size(1);
  const kernels::NormState state = state_of(state_);
  float* slope = coefficients_.data();
  float* offset = slope + channels;
  kernels::gradient_coefficients(
      row_count(x),
      channels,
      sums_,
      state,
      !spec_.training,
      slope,
      offset,
      weight_gradient.data_ptr<float>(),
      bias_gradient.data_ptr<float>());
  return {
      floats_of(x), state.scale, state.shift, state.mean, slope, offset, act};
}

namespace {

kernels::NormSums sums_job(
    const at::Tensor& gradient,
    const at::Tensor& x,
    const at::Tensor& state,
    Activation act,
    const at::Tensor& through,
    const kernels::GradientSums& sums) {
  kernels::NormSums job;
  job.rows = row_count(x);
  job.channels = x.size(1);
  job.gradient = floats_of(gradient);
  job.x = floats_of(x);
  job.norm = affine_of(state, act);
  job.mean = state_of(state).mean;
  job.through = floats_of(through);
  job.sums = sums;
  return job;
}

} // namespace

void count_gradient(
    const at::Tensor& gradient,
    const at::Tensor& x,
    const at::Tensor& state,
    Activation act,
    const at::Tensor& residual,
    const at::Tensor& through,
    const kernels::GradientSums& sums) {
  kernels::NormSums job = sums_job(gradient, x, state, act, through, sums);
  job.residual = floats_of(residual);
  kernels::norm_gradient_sums(job);
}

void count_gradient(
    const at::Tensor& gradient,
    const at::Tensor& x,
    const at::Tensor& state,
    Activation act,
    const NormedResidual& residual,
    const at::Tensor& through,
    const kernels::GradientSums& sums) {
  kernels::NormSums job = sums_job(gradient, x, state, act, through, sums);
  job.residual = floats_of(residual.raw);
  job.residual_norm = affine_of(residual.state, Activation::kNone);
  job.residual_mean = state_of(residual.state).mean;
  job.residual_sums = residual.sums;
  kernels::norm_gradient_sums(job);
}

} // namespace temper::model

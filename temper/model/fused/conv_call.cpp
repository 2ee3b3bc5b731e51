#include "temper/model/fused/conv_call.h"

#include "temper/kernels/conv/convolution.h"
#include "temper/kernels/conv/pointwise.h"
#include "temper/model/fused/convolution.h"
#include "temper/model/fused/fused_tensors.h"

namespace temper::model {
namespace {

// Few enough that the patches of an image are no burden.
constexpr std::int64_t kFewChannels = 4;
constexpr std::int64_t kLargestKernel = 7;

bool both(const std::array<std::int64_t, 2>& pair, std::int64_t value) {
  return pair[0] == value && pair[1] == value;
}

bool square(const ConvSpec& spec) {
  return both(spec.dilation, 1) && spec.kernel[0] == spec.kernel[1] &&
      spec.stride[0] == spec.stride[1] && spec.padding[0] == spec.padding[1];
}

bool depthwise(const ConvSpec& spec, std::int64_t input_channels) {
  const std::int64_t kernel = spec.kernel[0];
  return square(spec) && spec.groups == input_channels && spec.groups > 1 &&
      (kernel == 3 || kernel == 5) && both(spec.padding, (kernel - 1) / 2) &&
      (spec.stride[0] == 1 || spec.stride[0] == 2);
}

bool rows(const ConvSpec& spec, std::int64_t input_channels) {
  if (!square(spec) || spec.groups != 1 || spec.stride[0] < 1) return false;
  if (spec.kernel[0] == 1) return spec.padding[0] == 0;
  return input_channels <= kFewChannels && spec.kernel[0] <= kLargestKernel &&
      spec.padding[0] < spec.kernel[0];
}

kernels::RowSource source_of(const ConvSpec& spec, const at::Tensor& x) {
  kernels::RowSource rows_of;
  rows_of.x = floats_of(x);
  rows_of.images = x.size(0);
  rows_of.height = x.size(2);
  rows_of.width = x.size(3);
  rows_of.channels = x.size(1);
  rows_of.kernel = spec.kernel[0];
  rows_of.stride = spec.stride[0];
  rows_of.padding = spec.padding[0];
  return rows_of;
}

kernels::DepthwiseShape depthwise_shape_of(
    const ConvSpec& spec,
    const at::Tensor& x) {
  return {
      x.size(0),
      x.size(2),
      x.size(3),
      x.size(1),
      spec.kernel[0],
      spec.stride[0]};
}

kernels::Affine before(const ConvInput& input) {
  if (!input.state.defined()) return {};
  return affine_of(input.state, input.act);
}

// The order in which kernels read it: [outputs, kernel, kernel, channels],
// which for 1x1 and depthwise kernels is how it always lies.
bool lies_channels_last(ConvWay way, const at::Tensor& weight) {
  return way == ConvWay::kOther ||
      (way == ConvWay::kRows && weight.size(2) > 1);
}

at::Tensor dense_weight(ConvWay way, const at::Tensor& weight) {
  return lies_channels_last(way, weight)
      ? weight.contiguous(at::MemoryFormat::ChannelsLast)
      : weight.contiguous();
}

at::Tensor dense_gradient(ConvWay way, const at::Tensor& weight) {
  if (lies_channels_last(way, weight)) return empty_weight_gradient(weight);
  return weight.is_contiguous()
      ? at::empty_like(weight)
      : at::empty_like(weight, weight.options(), at::MemoryFormat::Contiguous);
}

} // namespace

ConvWay way_of(const ConvSpec& spec, std::int64_t input_channels) {
  if (depthwise(spec, input_channels)) return ConvWay::kDepthwise;
  if (rows(spec, input_channels)) return ConvWay::kRows;
  return ConvWay::kOther;
}

bool takes_convolution(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    const at::Tensor& weight) {
  if (!is_float_on_cpu(weight) || x_sizes.size() != 4 || weight.dim() != 4)
    return false;
  if (weight.size(2) != spec.kernel[0] || weight.size(3) != spec.kernel[1])
    return false;
  const ConvWay way = way_of(spec, x_sizes[1]);
  if (way == ConvWay::kOther)
    return takes_windows(spec, x_sizes, weight.sizes());
  if (way == ConvWay::kDepthwise)
    return weight.size(0) == x_sizes[1] && weight.size(1) == 1;
  const std::int64_t reach = spec.kernel[0] - 2 * spec.padding[0];
  return weight.size(1) == x_sizes[1] && x_sizes[2] >= reach &&
      x_sizes[3] >= reach;
}

bool takes_norm_before(const ConvSpec& spec, std::int64_t input_channels) {
  return way_of(spec, input_channels) != ConvWay::kRows ||
      (spec.kernel[0] == 1 && spec.stride[0] == 1);
}

std::vector<std::int64_t> result_sizes(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    std::int64_t outputs) {
  const auto along = [&](std::size_t axis) {
    return (x_sizes[2 + axis] + 2 * spec.padding[axis] - spec.kernel[axis]) /
        spec.stride[axis] +
        1;
  };
  return {x_sizes[0], outputs, along(0), along(1)};
}

at::Tensor convolve(
    const ConvSpec& spec,
    const ConvInput& input,
    const at::Tensor& weight,
    const kernels::Moments* moments) {
  const ConvWay way = way_of(spec, input.x.size(1));
  const at::Tensor dense = dense_weight(way, weight);
  at::Tensor y =
      empty_rows(result_sizes(spec, input.x.sizes(), weight.size(0)));
  if (way == ConvWay::kOther) {
    kernels::convolution_forward(
        shape_of(spec, input.x.sizes(), weight.sizes()),
        floats_of(input.x),
        floats_of(dense),
        nullptr,
        floats_of(y),
        moments,
        before(input));
    return y;
  }
  if (way == ConvWay::kDepthwise) {
    kernels::DepthwiseForward job;
    job.shape = depthwise_shape_of(spec, input.x);
    job.x = floats_of(input.x);
    job.before = before(input);
    job.weight = floats_of(dense);
    job.y = floats_of(y);
    job.moments = moments;
    kernels::depthwise_forward(job);
    return y;
  }
  kernels::PointwiseForward job;
  job.x = source_of(spec, input.x);
  job.before = before(input);
  job.outputs = weight.size(0);
  job.weight = floats_of(dense);
  job.y = floats_of(y);
  job.moments = moments;
  kernels::pointwise_forward(job);
  return y;
}

at::Tensor convolve_and_norm(
    const ConvSpec& spec,
    const ConvInput& input,
    const at::Tensor& weight,
    kernels::NormApply norm) {
  const ConvWay way = way_of(spec, input.x.size(1));
  const bool as_written =
      way == ConvWay::kRows && norm.residual_norm.scale == nullptr;
  const at::Tensor y = as_written
      ? empty_rows(result_sizes(spec, input.x.sizes(), weight.size(0)))
      : convolve(spec, input, weight, nullptr);
  norm.rows = row_count(y);
  norm.channels = y.size(1);
  norm.x = norm.y = floats_of(y);
  if (!as_written) {
    kernels::norm_apply(norm);
    return y;
  }
  const at::Tensor dense = dense_weight(way, weight);
  kernels::PointwiseForward job;
  job.x = source_of(spec, input.x);
  job.before = before(input);
  job.outputs = weight.size(0);
  job.weight = floats_of(dense);
  job.y = floats_of(y);
  job.ending = &norm;
  kernels::pointwise_forward(job);
  return y;
}

namespace {

const float* mean_before(const ConvInput& input) {
  return input.state.defined() ? state_of(input.state).mean : nullptr;
}

ConvGradients depthwise_gradients(
    const ConvSpec& spec,
    const ConvBackward& job) {
  const at::Tensor& x = job.input.x;
  const at::Tensor dense = dense_weight(ConvWay::kDepthwise, job.weight);
  ConvGradients found;
  found.x = empty_rows(x.sizes());
  found.weight = dense_gradient(ConvWay::kDepthwise, job.weight);
  kernels::DepthwiseBackward call;
  call.shape = depthwise_shape_of(spec, x);
  call.x = floats_of(x);
  call.before = before(job.input);
  call.before_mean = mean_before(job.input);
  call.weight = floats_of(dense);
  call.gradient = floats_of(job.gradient);
  call.after = job.after;
  call.weight_gradient = floats_of(found.weight);
  call.x_gradient = floats_of(found.x);
  call.x_gradient_add = floats_of(job.x_gradient_add);
  call.sums = job.sums;
  kernels::depthwise_backward(call);
  return found;
}

// Rows that are scattered are added to what was there by LibTorch.
ConvGradients row_gradients(const ConvSpec& spec, const ConvBackward& job) {
  const at::Tensor& x = job.input.x;
  const at::Tensor dense = dense_weight(ConvWay::kRows, job.weight);
  kernels::PointwiseBackward call;
  call.x = source_of(spec, x);
  const bool adds = job.x_gradient_add.defined();
  ConvGradients found;
  found.weight = dense_gradient(ConvWay::kRows, job.weight);
  if (job.wants_x)
    found.x = adds && job.adds_in_place && call.x.plain()
        ? job.x_gradient_add
        : empty_rows(x.sizes());
  call.before = before(job.input);
  call.before_mean = mean_before(job.input);
  call.outputs = job.weight.size(0);
  call.weight = floats_of(dense);
  call.gradient = floats_of(job.gradient);
  call.after = job.after;
  call.weight_gradient = floats_of(found.weight);
  call.x_gradient = floats_of(found.x);
  if (call.x.plain()) call.x_gradient_add = floats_of(job.x_gradient_add);
  call.sums = job.sums;
  kernels::pointwise_backward(call);
  if (job.wants_x && adds && !call.x.plain()) found.x.add_(job.x_gradient_add);
  return found;
}

at::Tensor window_x_gradient(
    const ConvBackward& job,
    const kernels::ConvShape& shape,
    const at::Tensor& gradient) {
  const at::Tensor dense = dense_weight(ConvWay::kOther, job.weight);
  kernels::GradientEnd end;
  end.add = floats_of(job.x_gradient_add);
  if (job.sums != nullptr)
    end = {
        end.add,
        floats_of(job.input.x),
        before(job.input),
        mean_before(job.input),
        job.sums};
  const bool in_place = job.x_gradient_add.defined() && job.adds_in_place;
  at::Tensor found =
      in_place ? job.x_gradient_add : empty_rows(job.input.x.sizes());
  kernels::convolution_data_gradient(
      shape, floats_of(gradient), floats_of(dense), floats_of(found), end);
  return found;
}

// Both passes read the gradient: the normalisation's is written once for them.
ConvGradients window_gradients(const ConvSpec& spec, const ConvBackward& job) {
  const at::Tensor& x = job.input.x;
  const kernels::ConvShape shape =
      shape_of(spec, x.sizes(), job.weight.sizes());
  at::Tensor gradient = job.gradient;
  if (job.after.x != nullptr) {
    if (!job.spends_gradient) gradient = empty_rows(job.gradient.sizes());
    kernels::norm_gradient_apply(
        row_count(gradient),
        gradient.size(1),
        floats_of(job.gradient),
        job.after,
        floats_of(gradient));
  }
  ConvGradients found;
  if (job.wants_x) found.x = window_x_gradient(job, shape, gradient);
  if (!job.wants_weight) return found;
  found.weight = dense_gradient(ConvWay::kOther, job.weight);
  kernels::convolution_weight_gradient(
      shape,
      floats_of(x),
      floats_of(gradient),
      floats_of(found.weight),
      before(job.input));
  return found;
}

} // namespace

ConvGradients convolve_backward(const ConvSpec& spec, const ConvBackward& job) {
  ConvGradients found;
  switch (way_of(spec, job.input.x.size(1))) {
    case ConvWay::kDepthwise:
      found = depthwise_gradients(spec, job);
      break;
    case ConvWay::kRows:
      found = row_gradients(spec, job);
      break;
    case ConvWay::kOther:
      found = window_gradients(spec, job);
      break;
  }
  if (found.weight.defined())
    found.weight = with_strides_of(job.weight, found.weight);
  return found;
}

} // namespace temper::model

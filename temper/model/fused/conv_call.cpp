#include "temper/model/fused/conv_call.h"

#include "temper/kernels/conv/pointwise.h"
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

// As the kernels read it: [outputs, kernel, kernel, channels], which for 1x1
// and depthwise kernels is how it always lies.
at::Tensor dense_weight(ConvWay way, const at::Tensor& weight) {
  return way == ConvWay::kRows && weight.size(2) > 1
      ? weight.contiguous(at::MemoryFormat::ChannelsLast)
      : weight.contiguous();
}

at::Tensor dense_gradient(ConvWay way, const at::Tensor& weight) {
  if (way == ConvWay::kRows && weight.size(2) > 1)
    return at::empty_like(
        weight, weight.options(), at::MemoryFormat::ChannelsLast);
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
    const at::Tensor& x,
    const at::Tensor& weight) {
  if (!is_float_on_cpu(x) || !is_float_on_cpu(weight) || x.dim() != 4 ||
      weight.dim() != 4)
    return false;
  const ConvWay way = way_of(spec, x.size(1));
  if (way == ConvWay::kOther || weight.size(2) != spec.kernel[0] ||
      weight.size(3) != spec.kernel[1])
    return false;
  if (way == ConvWay::kDepthwise)
    return weight.size(0) == x.size(1) && weight.size(1) == 1;
  const std::int64_t reach = spec.kernel[0] - 2 * spec.padding[0];
  return weight.size(1) == x.size(1) && x.size(2) >= reach &&
      x.size(3) >= reach;
}

std::vector<std::int64_t>
result_sizes(const ConvSpec& spec, const at::Tensor& x, std::int64_t outputs) {
  const auto along = [&](std::int64_t size) {
    return (size + 2 * spec.padding[0] - spec.kernel[0]) / spec.stride[0] + 1;
  };
  return {x.size(0), outputs, along(x.size(2)), along(x.size(3))};
}

at::Tensor convolve(
    const ConvSpec& spec,
    const ConvInput& input,
    const at::Tensor& weight,
    const kernels::Moments* moments) {
  const ConvWay way = way_of(spec, input.x.size(1));
  const at::Tensor dense = dense_weight(way, weight);
  at::Tensor y = empty_rows(result_sizes(spec, input.x, weight.size(0)));
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
  const bool as_written = way == ConvWay::kRows;
  const at::Tensor y = as_written
      ? empty_rows(result_sizes(spec, input.x, weight.size(0)))
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

ConvGradients convolve_backward(const ConvSpec& spec, const ConvBackward& job) {
  const at::Tensor& x = job.input.x;
  const ConvWay way = way_of(spec, x.size(1));
  const at::Tensor dense = dense_weight(way, job.weight);
  const at::Tensor weight = dense_gradient(way, job.weight);
  const float* mean =
      job.input.state.defined() ? state_of(job.input.state).mean : nullptr;
  ConvGradients found;
  if (way == ConvWay::kDepthwise) {
    found.x = empty_rows(x.sizes());
    kernels::DepthwiseBackward call;
    call.shape = depthwise_shape_of(spec, x);
    call.x = floats_of(x);
    call.before = before(job.input);
    call.before_mean = mean;
    call.weight = floats_of(dense);
    call.gradient = floats_of(job.gradient);
    call.after = job.after;
    call.weight_gradient = floats_of(weight);
    call.x_gradient = floats_of(found.x);
    call.x_gradient_add = floats_of(job.x_gradient_add);
    call.sums = job.sums;
    kernels::depthwise_backward(call);
  } else {
    if (job.wants_x) found.x = empty_rows(x.sizes());
    kernels::PointwiseBackward call;
    call.x = source_of(spec, x);
    call.before = before(job.input);
    call.before_mean = mean;
    call.outputs = job.weight.size(0);
    call.weight = floats_of(dense);
    call.gradient = floats_of(job.gradient);
    call.after = job.after;
    call.weight_gradient = floats_of(weight);
    call.x_gradient = floats_of(found.x);
    call.x_gradient_add = floats_of(job.x_gradient_add);
    call.sums = job.sums;
    kernels::pointwise_backward(call);
  }
  found.weight = with_strides_of(job.weight, weight);
  return found;
}

} // namespace temper::model

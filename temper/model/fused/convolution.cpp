#include "temper/model/fused/convolution.h"

#include "temper/kernels/conv/convolution.h"
#include "temper/model/fused/fused_tensors.h"

namespace temper::model {

bool is_plain(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() &&
      tensor.scalar_type() == at::kFloat && tensor.layout() == at::kStrided &&
      tensor.numel() > 0;
}

at::Tensor as_channels_last(const at::Tensor& tensor) {
  return tensor.contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor empty_channels_last(
    at::IntArrayRef sizes,
    const at::TensorOptions& options) {
  return at::empty(sizes, options, at::MemoryFormat::ChannelsLast);
}

at::Tensor empty_weight_gradient(const at::Tensor& weight) {
  if (weight.is_contiguous(at::MemoryFormat::ChannelsLast))
    return at::empty_strided(
        weight.sizes(), weight.strides(), weight.options());
  return empty_channels_last(weight.sizes(), weight.options());
}

at::Tensor with_strides_of(const at::Tensor& weight, at::Tensor gradient) {
  if (gradient.strides() == weight.strides()) return gradient;
  at::Tensor result = at::empty_like(weight);
  result.copy_(gradient);
  return result;
}

kernels::ConvShape shape_of(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    at::IntArrayRef weight_sizes) {
  kernels::ConvShape shape;
  shape.batch = x_sizes[0];
  shape.in_channels = x_sizes[1];
  shape.in_height = x_sizes[2];
  shape.in_width = x_sizes[3];
  shape.out_channels = weight_sizes[0];
  shape.kernel_height = weight_sizes[2];
  shape.kernel_width = weight_sizes[3];
  shape.stride_height = spec.stride[0];
  shape.stride_width = spec.stride[1];
  shape.pad_height = spec.padding[0];
  shape.pad_width = spec.padding[1];
  return shape;
}

bool takes_windows(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    at::IntArrayRef weight_sizes) {
  if (spec.groups != 1 || spec.dilation != std::array<std::int64_t, 2>{1, 1})
    return false;
  if (spec.stride[0] < 1 || spec.stride[1] < 1 || spec.padding[0] < 0 ||
      spec.padding[1] < 0)
    return false;
  if (x_sizes.size() != 4 || weight_sizes.size() != 4 ||
      x_sizes[1] != weight_sizes[1])
    return false;
  const bool fits = x_sizes[2] + 2 * spec.padding[0] >= weight_sizes[2] &&
      x_sizes[3] + 2 * spec.padding[1] >= weight_sizes[3];
  return fits &&
      kernels::convolution_takes(shape_of(spec, x_sizes, weight_sizes));
}

bool convolution_takes(
    const ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight) {
  return is_plain(x) && is_plain(weight) &&
      takes_windows(spec, x.sizes(), weight.sizes());
}

at::Tensor convolution(
    const ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight,
    const at::Tensor& bias) {
  const kernels::ConvShape shape = shape_of(spec, x.sizes(), weight.sizes());
  const at::Tensor from = as_channels_last(x);
  const at::Tensor by = as_channels_last(weight);
  const at::Tensor plus = bias.defined() ? bias.contiguous() : at::Tensor();
  at::Tensor y = empty_channels_last(
      {shape.batch, shape.out_channels, shape.out_height(), shape.out_width()},
      x.options());
  kernels::convolution_forward(
      shape,
      from.data_ptr<float>(),
      by.data_ptr<float>(),
      plus.defined() ? plus.data_ptr<float>() : nullptr,
      y.data_ptr<float>());
  return y;
}

at::Tensor convolution_x_gradient(
    const ConvSpec& spec,
    at::IntArrayRef x_sizes,
    const at::Tensor& weight,
    const at::Tensor& gradient) {
  const at::Tensor by = as_channels_last(weight);
  const at::Tensor from = as_channels_last(gradient);
  at::Tensor x_gradient = empty_channels_last(x_sizes, gradient.options());
  kernels::convolution_data_gradient(
      shape_of(spec, x_sizes, weight.sizes()),
      from.data_ptr<float>(),
      by.data_ptr<float>(),
      x_gradient.data_ptr<float>());
  return x_gradient;
}

at::Tensor convolution_weight_gradient(
    const ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight,
    const at::Tensor& gradient) {
  const at::Tensor from = as_channels_last(x);
  const at::Tensor by = as_channels_last(gradient);
  const at::Tensor found = empty_weight_gradient(weight);
  kernels::convolution_weight_gradient(
      shape_of(spec, x.sizes(), weight.sizes()),
      from.data_ptr<float>(),
      by.data_ptr<float>(),
      found.data_ptr<float>());
  return with_strides_of(weight, found);
}

at::Tensor convolution_bias_gradient(const at::Tensor& gradient) {
  const at::Tensor from = as_channels_last(gradient);
  at::Tensor found = at::empty({gradient.size(1)}, gradient.options());
  kernels::ConvShape shape; // a 1x1 convolution has as many results as pixels
  shape.batch = gradient.size(0);
  shape.in_height = gradient.size(2);
  shape.in_width = gradient.size(3);
  shape.out_channels = gradient.size(1);
  kernels::convolution_bias_gradient(
      shape, from.data_ptr<float>(), found.data_ptr<float>());
  return found;
}

namespace {

bool plain_bias(const at::Tensor& bias, const at::Tensor& weight) {
  return !bias.defined() ||
      (is_plain(bias) && bias.dim() == 1 && bias.size(0) == weight.size(0));
}

class Convolution final : public FusedOp {
 public:
  explicit Convolution(const ConvSpec& spec) : spec_(spec) {}

  bool takes(const Tensors& inputs) const override {
    return inputs.size() == 3 &&
        convolution_takes(spec_, inputs[0], inputs[1]) &&
        plain_bias(inputs[2], inputs[1]);
  }

  at::Tensor forward(const Tensors& inputs, Tensors* saved) const override {
    if (saved != nullptr) *saved = {inputs[0], inputs[1]};
    return convolution(spec_, inputs[0], inputs[1], inputs[2]);
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    const at::Tensor dense = as_channels_last(gradient);
    Tensors found(3);
    if (wanted[0])
      found[0] =
          convolution_x_gradient(spec_, saved[0].sizes(), saved[1], dense);
    if (wanted[1])
      found[1] = convolution_weight_gradient(spec_, saved[0], saved[1], dense);
    if (wanted[2]) found[2] = convolution_bias_gradient(dense);
    return found;
  }

 private:
  ConvSpec spec_;
};

} // namespace

OpPointer make_convolution(const ConvSpec& spec) {
  if (spec.groups != 1 || spec.dilation != std::array<std::int64_t, 2>{1, 1})
    return nullptr;
  return std::make_shared<Convolution>(spec);
}

} // namespace temper::model

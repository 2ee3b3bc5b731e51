#include "temper/kernels/conv/conv_pool.h"
#include "temper/model/fused/convolution.h"
#include "temper/model/fused/fused_tensors.h"

namespace temper::model {
namespace {

// Saves x, the weight and an index byte for every pooled value.
class ConvActPool final : public FusedOp {
 public:
  ConvActPool(const ConvSpec& spec, bool relu) : spec_(spec), relu_(relu) {}

  bool takes(const Tensors& inputs) const override {
    if (inputs.size() != 3 || !convolution_takes(spec_, inputs[0], inputs[1]))
      return false;
    const at::Tensor& bias = inputs[2];
    if (bias.defined() && (!is_plain(bias) || bias.dim() != 1)) return false;
    return kernels::conv_pool_takes(
        shape_of(spec_, inputs[0].sizes(), inputs[1].sizes()));
  }

  at::Tensor forward(const Tensors& inputs, Tensors* saved) const override {
    const kernels::ConvShape shape =
        shape_of(spec_, inputs[0].sizes(), inputs[1].sizes());
    const at::Tensor x = as_channels_last(inputs[0]);
    const at::Tensor weight = as_channels_last(inputs[1]);
    const at::Tensor bias =
        inputs[2].defined() ? inputs[2].contiguous() : at::Tensor();
    const std::array<std::int64_t, 4> sizes{
        shape.batch,
        shape.out_channels,
        shape.out_height() / 2,
        shape.out_width() / 2};
    at::Tensor pooled = empty_channels_last(sizes, x.options());
    at::Tensor index;
    if (saved != nullptr) {
      index = empty_channels_last(sizes, x.options().dtype(at::kByte));
      *saved = {inputs[0], inputs[1], index};
    }
    kernels::conv_pool_forward(
        shape,
        relu_,
        x.data_ptr<float>(),
        weight.data_ptr<float>(),
        bias.defined() ? bias.data_ptr<float>() : nullptr,
        pooled.data_ptr<float>(),
        index.defined() ? index.data_ptr<std::uint8_t>() : nullptr);
    return pooled;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    const at::Tensor dense = as_channels_last(gradient);
    Tensors found(3);
    if (wanted[0]) found[0] = x_gradient(saved, dense);
    if (!wanted[1] && !wanted[2]) return found;
    const at::Tensor x = as_channels_last(saved[0]);
    const at::Tensor weights = empty_weight_gradient(saved[1]);
    at::Tensor bias = at::empty({weights.size(0)}, weights.options());
    kernels::conv_pool_weight_gradient(
        shape_of(spec_, saved[0].sizes(), saved[1].sizes()),
        x.data_ptr<float>(),
        saved[2].data_ptr<std::uint8_t>(),
        dense.data_ptr<float>(),
        weights.data_ptr<float>(),
        bias.data_ptr<float>());
    if (wanted[1]) found[1] = with_strides_of(saved[1], weights);
    if (wanted[2]) found[2] = bias;
    return found;
  }

 private:
  // Rarely wanted, since such layers come first: through the gradient of the
  // convolution's result.
  at::Tensor x_gradient(const Tensors& saved, const at::Tensor& gradient)
      const {
    const kernels::ConvShape shape =
        shape_of(spec_, saved[0].sizes(), saved[1].sizes());
    const at::Tensor spread = empty_channels_last(
        {shape.batch,
         shape.out_channels,
         shape.out_height(),
         shape.out_width()},
        gradient.options());
    kernels::conv_pool_spread(
        shape,
        saved[2].data_ptr<std::uint8_t>(),
        gradient.data_ptr<float>(),
        spread.data_ptr<float>());
    return convolution_x_gradient(spec_, saved[0].sizes(), saved[1], spread);
  }

  ConvSpec spec_;
  bool relu_;
};

} // namespace

OpPointer
make_conv_act_pool(const ConvSpec& conv, Activation act, std::int64_t pool) {
  const bool known = act == Activation::kRelu || act == Activation::kNone;
  if (pool != 2 || !known || conv.groups != 1) return nullptr;
  return std::make_shared<ConvActPool>(conv, act == Activation::kRelu);
}

} // namespace temper::model

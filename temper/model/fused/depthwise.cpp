// A depthwise convolution by itself, where no BatchNorm follows it in the same
// group. Kept for backward: x and the weight.
#include "temper/model/fused/conv_call.h"
#include "temper/model/fused/convolution.h"

namespace temper::model {
namespace {

class Depthwise final : public FusedOp {
 public:
  explicit Depthwise(const ConvSpec& spec) : spec_(spec) {}

  bool takes(const Tensors& inputs) const override {
    const at::Tensor& x = inputs.at(0);
    const at::Tensor& weight = inputs.at(1);
    return is_float_on_cpu(x) && x.dim() == 4 &&
        way_of(spec_, x.size(1)) == ConvWay::kDepthwise &&
        takes_convolution(spec_, x.sizes(), weight) &&
        is_channel_vector(inputs.at(2), weight.size(0));
  }

  at::Tensor forward(const Tensors& inputs, Tensors* saved) const override {
    const at::Tensor x = as_rows(inputs[0]);
    at::Tensor y = convolve(spec_, {x, {}, Activation::kNone}, inputs[1], {});
    if (inputs[2].defined()) y.add_(inputs[2].view({1, -1, 1, 1}));
    if (saved != nullptr) *saved = {x, inputs[1]};
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    ConvBackward job;
    job.input.x = saved[0];
    job.weight = saved[1];
    job.gradient = as_rows(gradient);
    job.wants_x = wanted[0];
    Tensors found(3);
    if (wanted[0] || wanted[1]) {
      const ConvGradients of = convolve_backward(spec_, job);
      if (wanted[0]) found[0] = of.x;
      if (wanted[1]) found[1] = of.weight;
    }
    if (wanted[2]) found[2] = convolution_bias_gradient(job.gradient);
    return found;
  }

 private:
  ConvSpec spec_;
};

} // namespace

OpPointer make_depthwise(const ConvSpec& spec) {
  return std::make_shared<Depthwise>(spec);
}

} // namespace temper::model

// Convolution, BatchNorm, residual and activation as one op. The statistics are
// gathered while the convolution writes; backward applies the normalisation's
// gradient while the convolution's backward reads. Kept for it: x, the
// convolution's result and four numbers a channel. In eval mode without a
// backward pass the convolution ends what it writes itself.
#include "temper/model/fused/conv_call.h"

namespace temper::model {
namespace {

class ConvNormAct final : public FusedOp {
 public:
  ConvNormAct(const ConvSpec& conv, const NormSpec& norm, Activation act)
      : conv_(conv), norm_(norm), act_(act) {}

  bool takes(const Tensors& inputs) const override {
    const at::Tensor& x = inputs.at(0);
    const at::Tensor& weight = inputs.at(1);
    if (!kernels::follows_norm(act_) || !is_float_on_cpu(x) || x.dim() != 4 ||
        !takes_convolution(conv_, x.sizes(), weight))
      return false;
    const std::vector<std::int64_t> sizes =
        result_sizes(conv_, x.sizes(), weight.size(0));
    const at::Tensor& residual = inputs.at(6);
    if (residual.defined() &&
        (!is_float_on_cpu(residual) || residual.sizes() != sizes))
      return false;
    return NormTensors(inputs, 2).taken(
        norm_, sizes[0] * sizes[2] * sizes[3], sizes[1]);
  }

  at::Tensor forward(const Tensors& inputs, Tensors* saved) const override {
    const at::Tensor x = as_rows(inputs[0]);
    const at::Tensor& weight = inputs[1];
    const at::Tensor residual =
        inputs[6].defined() ? as_rows(inputs[6]) : at::Tensor();
    const NormTensors tensors(inputs, 2);
    NormForward norm(norm_, tensors, weight.size(0));
    if (saved == nullptr && !norm_.training)
      return in_one_pass(x, weight, residual, norm);
    const at::Tensor raw =
        convolve(conv_, {x, {}, Activation::kNone}, weight, norm.moments());
    norm.finish(row_count(raw));
    // Without a backward pass nobody needs the convolution's own result.
    at::Tensor y = saved == nullptr ? raw : empty_rows(raw.sizes());
    kernels::NormApply job;
    job.rows = row_count(raw);
    job.channels = raw.size(1);
    job.x = floats_of(raw);
    job.norm = norm.affine(act_);
    if (residual.defined())
      job.residual_place = kernels::Residual::kBeforeActivation;
    job.residual = floats_of(residual);
    job.y = floats_of(y);
    kernels::norm_apply(job);
    if (saved != nullptr) {
      const bool acts = act_ != Activation::kNone;
      *saved = {x, weight, raw, norm.state(), acts ? residual : at::Tensor()};
    }
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    const at::Tensor& raw = saved[2];
    const at::Tensor& state = saved[3];
    const at::Tensor& residual = saved[4];
    const at::Tensor g = as_rows(gradient);
    at::Tensor through; // the gradient ahead of the activation
    if (residual.defined()) through = empty_rows(raw.sizes());
    NormBackward norm(norm_, state);
    count_gradient(g, raw, state, act_, residual, through, norm.sums());
    const at::Tensor& inner = through.defined() ? through : g;
    const kernels::NormGradient after =
        norm.finish(raw, through.defined() ? Activation::kNone : act_);
    Tensors found(7);
    if (wanted[0] || wanted[1]) {
      ConvBackward job;
      job.input.x = saved[0];
      job.weight = saved[1];
      job.gradient = inner;
      job.after = after;
      job.wants_x = wanted[0];
      job.wants_weight = wanted[1];
      const ConvGradients of = convolve_backward(conv_, job);
      if (wanted[0]) found[0] = of.x;
      if (wanted[1]) found[1] = of.weight;
    }
    if (wanted[2]) found[2] = norm.weight_gradient;
    if (wanted[3]) found[3] = norm.bias_gradient;
    if (wanted[6]) found[6] = inner;
    return found;
  }

 private:
  // With running statistics the numbers of the normalisation are known before
  // the convolution, which applies them as it writes.
  at::Tensor in_one_pass(
      const at::Tensor& x,
      const at::Tensor& weight,
      const at::Tensor& residual,
      NormForward& norm) const {
    norm.finish(1);
    kernels::NormApply job;
    job.norm = norm.affine(act_);
    if (residual.defined())
      job.residual_place = kernels::Residual::kBeforeActivation;
    job.residual = floats_of(residual);
    return convolve_and_norm(conv_, {x, {}, Activation::kNone}, weight, job);
  }

  ConvSpec conv_;
  NormSpec norm_;
  Activation act_;
};

} // namespace

OpPointer
make_conv_norm_act(const ConvSpec& conv, const NormSpec& norm, Activation act) {
  return std::make_shared<ConvNormAct>(conv, norm, act);
}

} // namespace temper::model

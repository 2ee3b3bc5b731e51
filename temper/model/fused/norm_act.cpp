// BatchNorm, residual and activation as one op: statistics in one pass over x,
// the result in another; backward likewise. Only x and four numbers a channel
// are kept (and the residual where the activation comes after it).
#include "temper/model/fused/norm_call.h"

namespace temper::model {
namespace {

class NormAct final : public FusedOp {
 public:
  NormAct(const NormSpec& norm, Activation act) : norm_(norm), act_(act) {}

  bool takes(const Tensors& inputs) const override {
    const at::Tensor& x = inputs.at(0);
    const at::Tensor& residual = inputs.at(5);
    if (!kernels::follows_norm(act_) || !is_float_on_cpu(x) ||
        (x.dim() != 4 && x.dim() != 2))
      return false;
    if (residual.defined() &&
        (!is_float_on_cpu(residual) || residual.sizes() != x.sizes()))
      return false;
    return NormTensors(inputs, 1).taken(norm_, row_count(x), x.size(1));
  }

  at::Tensor forward(const Tensors& inputs, Tensors* saved) const override {
    const at::Tensor x = as_rows(inputs[0]);
    const at::Tensor residual =
        inputs[5].defined() ? as_rows(inputs[5]) : at::Tensor();
    const NormTensors tensors(inputs, 1);
    NormForward norm(norm_, tensors, x.size(1));
    if (norm.moments() != nullptr)
      kernels::channel_moments(
          row_count(x), x.size(1), floats_of(x), *norm.moments());
    norm.finish(row_count(x));
    at::Tensor y = empty_rows(x.sizes());
    kernels::NormApply job;
    job.rows = row_count(x);
    job.channels = x.size(1);
    job.x = floats_of(x);
    job.norm = norm.affine(act_);
    if (residual.defined())
      job.residual_place = kernels::Residual::kBeforeActivation;
    job.residual = floats_of(residual);
    job.y = floats_of(y);
    kernels::norm_apply(job);
    if (saved != nullptr)
      *saved = {
          x, norm.state(), act_ == Activation::kNone ? at::Tensor() : residual};
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    const at::Tensor& x = saved[0];
    const at::Tensor& state = saved[1];
    const at::Tensor& residual = saved[2];
    const at::Tensor g = as_rows(gradient);
    at::Tensor through; // the gradient ahead of the activation
    if (residual.defined()) through = empty_rows(x.sizes());
    NormBackward norm(norm_, state);
    count_gradient(g, x, state, act_, residual, through, norm.sums());
    Tensors found(6);
    const at::Tensor& inner = through.defined() ? through : g;
    const kernels::NormGradient by =
        norm.finish(x, through.defined() ? Activation::kNone : act_);
    if (wanted[0]) {
      found[0] = empty_rows(x.sizes());
      kernels::norm_gradient_apply(
          row_count(x), x.size(1), floats_of(inner), by, floats_of(found[0]));
    }
    if (wanted[1]) found[1] = norm.weight_gradient;
    if (wanted[2]) found[2] = norm.bias_gradient;
    if (wanted[5]) found[5] = inner;
    return found;
  }

 private:
  NormSpec norm_;
  Activation act_;
};

} // namespace

OpPointer make_norm_act(const NormSpec& norm, Activation act) {
  return std::make_shared<NormAct>(norm, act);
}

} // namespace temper::model

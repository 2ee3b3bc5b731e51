// MobileNet's block as one op: [1x1, norm, act,] depthwise, norm, act, 1x1,
// norm [, act] [, + x]. What lies between two convolutions is never written:
// each applies the normalisation and activation before it as it reads, and
// counts the statistics for the one after it as it writes, in both directions.
// Kept for backward: x, what each convolution wrote, and four numbers a channel
// of each normalisation.
#include "temper/model/fused/conv_call.h"

namespace temper::model {
namespace {

constexpr std::size_t kPerLayer = 5; // inputs of a convolution and its norm
constexpr std::size_t kKept = 3; // tensors kept of each: weight, result, state

struct Layer {
  ConvSpec conv;
  NormSpec norm;
  Activation act = Activation::kNone;
};

class InvertedResidual final : public FusedOp {
 public:
  explicit InvertedResidual(const InvertedResidualSpec& spec)
      : residual_(spec.residual) {
    if (spec.expand) layers_.push_back({{}, *spec.expand, spec.act});
    layers_.push_back({spec.depthwise, spec.depthwise_norm, spec.act});
    layers_.push_back({{}, spec.project_norm, spec.last_act});
  }

  bool takes(const Tensors& inputs) const override {
    const at::Tensor& x = inputs.at(0);
    if (!is_float_on_cpu(x) || x.dim() != 4) return false;
    std::vector<std::int64_t> sizes = x.sizes().vec();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const at::Tensor& weight = inputs.at(first_of(i));
      if (!kernels::follows_norm(layer.act) || !is_float_on_cpu(weight) ||
          weight.dim() != 4 || !fits(layer, sizes, weight))
        return false;
      sizes[1] = weight.size(0);
      for (std::size_t axis : {2, 3})
        sizes[axis] = (sizes[axis] - 1) / layer.conv.stride[0] + 1;
      if (!NormTensors(inputs, first_of(i) + 1)
               .taken(layer.norm, sizes[0] * sizes[2] * sizes[3], sizes[1]))
        return false;
    }
    return !residual_ || x.sizes() == sizes;
  }

  at::Tensor forward(const Tensors& inputs, Tensors* saved) const override {
    ConvInput input{as_rows(inputs[0]), {}, Activation::kNone};
    const at::Tensor x = input.x;
    if (saved != nullptr) saved->push_back(x);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const at::Tensor& weight = inputs[first_of(i)];
      const NormTensors tensors(inputs, first_of(i) + 1);
      NormForward norm(layer.norm, tensors, weight.size(0));
      if (i + 1 == layers_.size() && saved == nullptr && !layer.norm.training) {
        norm.finish(1);
        return convolve_and_norm(
            layer.conv, input, weight, last_norm(norm.state(), layer.act, x));
      }
      at::Tensor y = convolve(layer.conv, input, weight, norm.moments());
      norm.finish(row_count(y));
      input = {y, norm.state(), layer.act};
      if (saved != nullptr)
        saved->insert(saved->end(), {weight, y, norm.state()});
    }
    at::Tensor y = saved == nullptr ? input.x : empty_rows(input.x.sizes());
    kernels::NormApply job = last_norm(input.state, input.act, x);
    job.rows = row_count(y);
    job.channels = y.size(1);
    job.x = floats_of(input.x);
    job.y = floats_of(y);
    kernels::norm_apply(job);
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    const at::Tensor result_gradient = as_rows(gradient);
    const std::size_t last = layers_.size() - 1;
    Tensors found(1 + kPerLayer * layers_.size());
    at::Tensor g = result_gradient;
    auto norm =
        std::make_unique<NormBackward>(layers_[last].norm, state(saved, last));
    count_gradient(
        g,
        result(saved, last),
        state(saved, last),
        layers_[last].act,
        {},
        {},
        norm->sums());
    for (std::size_t i = last + 1; i-- > 0;) {
      // Gradients from inside the block have passed the activation already.
      const Activation act = i == last ? layers_[i].act : Activation::kNone;
      ConvBackward job;
      job.after = norm->finish(result(saved, i), act);
      job.input.x = i == 0 ? saved[0] : result(saved, i - 1);
      job.weight = saved[1 + kKept * i];
      job.gradient = g;
      job.wants_x = i > 0 || wanted[0];
      std::unique_ptr<NormBackward> next;
      if (i > 0) {
        job.input.state = state(saved, i - 1);
        job.input.act = layers_[i - 1].act;
        next = std::make_unique<NormBackward>(
            layers_[i - 1].norm, job.input.state);
        job.sums = &next->sums();
      } else if (residual_) {
        job.x_gradient_add = result_gradient;
      }
      const ConvGradients of = convolve_backward(layers_[i].conv, job);
      g = of.x;
      found[first_of(i)] = of.weight;
      found[first_of(i) + 1] = norm->weight_gradient;
      found[first_of(i) + 2] = norm->bias_gradient;
      norm = std::move(next);
    }
    found[0] = g;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!wanted[i]) found[i] = at::Tensor();
    return found;
  }

 private:
  // The block's last normalisation, without its rows.
  kernels::NormApply last_norm(
      const at::Tensor& state,
      Activation act,
      const at::Tensor& x) const {
    kernels::NormApply job;
    job.norm = affine_of(state, act);
    if (!residual_) return job;
    job.residual_place = kernels::Residual::kAfterActivation;
    job.residual = floats_of(x);
    return job;
  }

  static std::size_t first_of(std::size_t layer) {
    return 1 + kPerLayer * layer;
  }
  static const at::Tensor& result(const Tensors& saved, std::size_t layer) {
    return saved[1 + kKept * layer + 1];
  }
  static const at::Tensor& state(const Tensors& saved, std::size_t layer) {
    return saved[1 + kKept * layer + 2];
  }

  // Whether a layer's weight fits an input of these sizes.
  bool fits(
      const Layer& layer,
      const std::vector<std::int64_t>& sizes,
      const at::Tensor& weight) const {
    const bool middle = layer.conv.kernel[0] != 1;
    const ConvWay way = way_of(layer.conv, sizes[1]);
    if (weight.size(2) != layer.conv.kernel[0] ||
        weight.size(3) != layer.conv.kernel[1])
      return false;
    if (middle)
      return way == ConvWay::kDepthwise && weight.size(0) == sizes[1] &&
          weight.size(1) == 1;
    return way == ConvWay::kRows && weight.size(1) == sizes[1];
  }

  std::vector<Layer> layers_;
  bool residual_;
};

} // namespace

OpPointer make_inverted_residual(const InvertedResidualSpec& spec) {
  return std::make_shared<InvertedResidual>(spec);
}

} // namespace temper::model

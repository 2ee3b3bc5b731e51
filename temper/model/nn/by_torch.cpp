#include "temper/model/nn/by_torch.h"

#include <cmath>
#include <limits>

namespace temper::nn {

at::Tensor torch_activation(model::Activation act, const at::Tensor& x) {
  switch (act) {
    case model::Activation::kRelu:
      return at::relu(x);
    case model::Activation::kRelu6:
      return at::hardtanh(x, 0, 6);
    case model::Activation::kHardswish:
      return at::hardswish(x);
    case model::Activation::kSilu:
      return at::silu(x);
    case model::Activation::kGelu:
      return at::gelu(x);
    case model::Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case model::Activation::kNone:
      break;
  }
  return x;
}

at::Tensor torch_convolution(
    const model::ConvSpec& spec,
    const at::Tensor& x,
    const at::Tensor& weight,
    const at::Tensor& bias) {
  return at::conv2d(
      x, weight, bias, spec.stride, spec.padding, spec.dilation, spec.groups);
}

at::Tensor torch_norm(
    const model::NormSpec& spec,
    const at::Tensor& x,
    const LayerTensors& all,
    std::size_t first) {
  const at::Tensor none;
  return at::batch_norm(
      x,
      all.at(first),
      all.at(first + 1),
      spec.training ? none : all.at(first + 2),
      spec.training ? none : all.at(first + 3),
      spec.training,
      spec.momentum,
      spec.eps,
      false);
}

at::Tensor torch_attention(
    const model::AttentionSpec& spec,
    const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v) {
  const double scale =
      spec.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1))));
  at::Tensor scores = at::matmul(q * scale, k.transpose(-2, -1));
  if (spec.causal) {
    const at::Tensor later =
        at::ones({q.size(-2), k.size(-2)}, q.options().dtype(at::kBool))
            .triu(1);
    scores =
        scores.masked_fill(later, -std::numeric_limits<double>::infinity());
  }
  return at::matmul(at::softmax(scores, -1), v);
}

} // namespace temper::nn

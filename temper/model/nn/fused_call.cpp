#include "temper/model/nn/fused_call.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <utility>

#include "temper/model/fused/torch_threads.h"

namespace temper::nn {
namespace {

std::array<std::int64_t, 2> pair_of(const torch::ExpandingArray<2>& values) {
  return {(*values)[0], (*values)[1]};
}

} // namespace

std::optional<model::ConvSpec> spec_of(const torch::nn::Conv2dImpl& conv) {
  const auto& options = conv.options;
  // Found beside the variant's type, which is LibTorch's own before 2.1.
  const auto* padding = get_if<torch::ExpandingArray<2>>(&options.padding());
  if (padding == nullptr ||
      get_if<torch::enumtype::kZeros>(&options.padding_mode()) == nullptr)
    return std::nullopt;
  return model::ConvSpec{
      pair_of(options.kernel_size()),
      pair_of(options.stride()),
      pair_of(*padding),
      pair_of(options.dilation()),
      options.groups()};
}

model::NormSpec spec_of(const torch::nn::BatchNorm2dImpl& norm) {
  const auto& options = norm.options;
  double momentum = options.momentum().value_or(0);
  if (!options.momentum().has_value() && norm.num_batches_tracked.defined())
    momentum = 1 / (norm.num_batches_tracked.item<double>() + 1);
  return {
      momentum,
      options.eps(),
      norm.is_training() || !options.track_running_stats()};
}

void add_norm(LayerTensors& inputs, const torch::nn::BatchNorm2dImpl& norm) {
  inputs.insert(
      inputs.end(),
      {norm.weight, norm.bias, norm.running_mean, norm.running_var});
}

void count_batch(torch::nn::BatchNorm2dImpl& norm) {
  if (norm.is_training() && norm.options.track_running_stats() &&
      norm.num_batches_tracked.defined())
    norm.num_batches_tracked += 1;
}

// Autocast chooses types operator by operator; forward-mode derivatives travel
// beside a tensor's numbers.
bool is_plain_call(const LayerTensors& inputs) {
  if (!c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU))
    return false;
  return std::ranges::none_of(inputs, [](const at::Tensor& input) {
    return input.defined() && input._fw_grad(0).defined();
  });
}

bool takes(const model::OpPointer& op, const LayerTensors& inputs) {
  return op != nullptr && is_plain_call(inputs) && op->takes(inputs);
}

at::Tensor run_fused(
    const model::OpPointer& op,
    const LayerTensors& inputs,
    model::SameByTorch again,
    const std::vector<std::size_t>& moving) {
  model::use_torch_threads();
  model::SecondDerivative second{inputs, std::move(again)};
  for (const std::size_t place : moving)
    second.inputs.at(place) = at::Tensor();
  return model::apply_fused(op, inputs, &second);
}

} // namespace temper::nn

// Models that temper runs without looking inside: a TorchScript file, or a C++
// torch::nn module. They train and are saved, but cannot be forecast, split or
// folded. Includes torch: see module.h.
#pragma once

#include <torch/nn/module.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "temper/model/module/module.h"

namespace temper::model {

// A file that torch.jit.save wrote ("net.pt"), on the CPU. Such a file holds
// code, which runs: open only what the user named.
std::unique_ptr<Module> open_torchscript(const std::filesystem::path& path);

using Forward = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

std::unique_ptr<Module> make_opaque(
    std::shared_ptr<torch::nn::Module> net,
    Forward forward);

// Any torch::nn module whose forward takes one to three tensors, or a vector of
// them, and returns one: make_opaque(std::make_shared<Net>()).
template <class Net>
std::unique_ptr<Module> make_opaque(const std::shared_ptr<Net>& net) {
  using T = const at::Tensor&;
  Forward forward = [net](const std::vector<at::Tensor>& inputs) -> at::Tensor {
    if constexpr (requires(T x) { net->forward(x); })
      return net->forward(inputs.at(0));
    else if constexpr (requires(T x) { net->forward(x, x); })
      return net->forward(inputs.at(0), inputs.at(1));
    else if constexpr (requires(T x) { net->forward(x, x, x); })
      return net->forward(inputs.at(0), inputs.at(1), inputs.at(2));
    else
      return net->forward(inputs);
  };
  return make_opaque(
      std::static_pointer_cast<torch::nn::Module>(net), std::move(forward));
}

} // namespace temper::model

#include "temper/train/torch/engine_state.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/module/tensors.h"

namespace temper::train {

EngineState saved(const std::vector<model::NamedTensor>& tensors) {
  EngineState state;
  for (const model::NamedTensor& each : tensors)
    state.tensors[each.name] = model::data_of(each.tensor);
  return state;
}

void fill(
    const std::vector<model::NamedTensor>& tensors,
    const EngineState& state) {
  const at::NoGradGuard no_grad;
  for (const model::NamedTensor& each : tensors) {
    const auto found = state.tensors.find(each.name);
    if (found == state.tensors.end())
      throw Error(
          cat("[train] the checkpoint has no ", each.name, "."),
          "It belongs to another model or optimizer: resume with the run's own "
          "config.");
    const at::IntArrayRef sizes(found->second.sizes);
    const auto type = model::scalar_type_of(found->second.dtype);
    if (sizes == each.tensor.sizes() && type == each.tensor.scalar_type())
      continue;
    throw Error(
        cat("[train] the checkpoint's ",
            each.name,
            " is ",
            graph::name_of(found->second.dtype),
            " ",
            model::sizes_text(sizes),
            ", and the model's is ",
            model::tensor_text(each.tensor),
            "."),
        "It belongs to another model: resume with the run's own config.");
  }
  for (const model::NamedTensor& each : tensors)
    each.tensor.detach().copy_(model::tensor_of(state.tensors.at(each.name)));
}

} // namespace temper::train

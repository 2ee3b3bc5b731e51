// Several nodes of a graph computed by kernels of our own, as one node of
// autograd. The executor holds one FusedOp for every place in a graph where it
// fits, asks it before each call whether it takes these very tensors, and runs
// the nodes one by one through LibTorch when it does not. Includes torch: see
// module.h.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <vector>

namespace temper::model {

// Without state: sizes of a call are its own, so one op serves every batch.
class FusedOp {
 public:
  using Tensors = std::vector<at::Tensor>;

  virtual ~FusedOp() = default;

  // Whether the kernels compute this call: type, device, sizes, strides. An
  // undefined tensor stands for an argument that is not there.
  virtual bool takes(const Tensors& inputs) const = 0;

  // The result. `saved` is null when there will be no backward pass; else it is
  // filled with what backward() needs. May write to buffers among the inputs
  // (running statistics). Called without gradient mode.
  virtual at::Tensor forward(const Tensors& inputs, Tensors* saved) const = 0;

  // Gradients in the order of the inputs; undefined where wanted[i] is false.
  // `gradient` has the sizes of the result and any strides. Called without
  // gradient mode.
  virtual Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const = 0;
};

// The result of an op by operators that LibTorch differentiates as often as is
// asked. Kernels have first derivatives only.
using SameByTorch = std::function<at::Tensor(const FusedOp::Tensors&)>;
struct SecondDerivative {
  FusedOp::Tensors inputs; // the call's; undefined where `again` reads none
  SameByTorch again;
};

// Runs the op, through autograd when gradients are on and an input wants one.
// Without `second`, a derivative of the gradients is an Error.
at::Tensor apply_fused(
    const std::shared_ptr<const FusedOp>& op,
    const FusedOp::Tensors& inputs,
    const SecondDerivative* second = nullptr);

} // namespace temper::model

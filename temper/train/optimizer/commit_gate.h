// The answer to whether an update may happen, when only the device knows. On
// the CPU the loss and the gradient's norm are looked at before the update, and
// a gate is always open. Elsewhere looking would make the host wait: there the
// answer is a tensor, and what goes through a closed gate comes out as it was.
// Results are new tensors: an update that fails half way has changed nothing.
// Used by the optimisers and by averaged weights. Includes torch: see task.h.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <utility>

namespace temper::train {

class CommitGate {
 public:
  CommitGate() = default; // open
  explicit CommitGate(const at::Tensor& open); // one bool on the device

  // True on the CPU, where nothing is left to find out.
  bool is_certain() const {
    return !open_.defined();
  }

  // Sets the gradient to zero when closed, in place. 0 * NaN is NaN, so clear
  // what is not finite before it meets the functions below.
  void clear(const at::Tensor& gradient) const;

  // tensor * by, or as it is; tensor + other * by, or as it is.
  at::Tensor scaled(const at::Tensor& tensor, double by) const;
  at::Tensor sum(const at::Tensor& tensor, const at::Tensor& other, double by)
      const;
  // tensor + over / under * by.
  at::Tensor ratio_added(
      const at::Tensor& tensor,
      const at::Tensor& over,
      const at::Tensor& under,
      double by) const;
  // tensor + (goal - tensor) * by.
  at::Tensor
  approached(const at::Tensor& tensor, const at::Tensor& goal, double by) const;

 private:
  at::Tensor number(double open, double closed) const;

  at::Tensor open_; // undefined: yes
  at::Tensor closed_;
  mutable std::map<std::pair<double, double>, at::Tensor> numbers_;
};

} // namespace temper::train

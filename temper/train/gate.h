// Whether an update may happen, when only the device knows. On the CPU the loss
// and the gradient's norm are looked at before the update, and a gate is always
// open. Elsewhere looking would make the host wait: there the answer is a
// tensor, and what goes through a closed gate leaves every weight as it was.
// Used by the optimisers and by averaged weights. Includes torch: see task.h.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <utility>

namespace temper::train {

class Gate {
 public:
  Gate() = default; // open
  explicit Gate(const at::Tensor& open); // one bool on the device

  // Zero when closed. NaN times nothing is still NaN: what is not finite must
  // pass here before it meets the functions below.
  void clear(at::Tensor gradient) const;

  // tensor *= by; tensor += other * by; and that sum as a new tensor.
  void scale(at::Tensor tensor, double by) const;
  void add(at::Tensor tensor, const at::Tensor& other, double by) const;
  at::Tensor sum(const at::Tensor& tensor, const at::Tensor& other, double by)
      const;
  // tensor += over / under * by.
  void add_ratio(
      at::Tensor tensor,
      const at::Tensor& over,
      const at::Tensor& under,
      double by) const;
  // tensor += (goal - tensor) * by.
  void approach(at::Tensor tensor, const at::Tensor& goal, double by) const;

 private:
  at::Tensor number(double open, double closed) const;

  at::Tensor open_; // undefined: yes
  at::Tensor closed_;
  mutable std::map<std::pair<double, double>, at::Tensor> numbers_;
};

} // namespace temper::train

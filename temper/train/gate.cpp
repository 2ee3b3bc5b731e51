#include "temper/train/gate.h"

#include "temper/train/predictions.h"

namespace temper::train {

Gate::Gate(const at::Tensor& open) : open_(open), closed_(open.logical_not()) {}

void Gate::clear(at::Tensor gradient) const {
  if (open_.defined()) gradient.masked_fill_(closed_, 0);
}

void Gate::scale(at::Tensor tensor, double by) const {
  if (open_.defined())
    tensor.mul_(number(by, 1));
  else
    tensor.mul_(by);
}

void Gate::add(at::Tensor tensor, const at::Tensor& other, double by) const {
  if (open_.defined())
    tensor.addcmul_(other, number(by, 0));
  else
    tensor.add_(other, by);
}

at::Tensor
Gate::sum(const at::Tensor& tensor, const at::Tensor& other, double by) const {
  return open_.defined() ? at::addcmul(tensor, other, number(by, 0))
                         : tensor.add(other, by);
}

void Gate::add_ratio(
    at::Tensor tensor,
    const at::Tensor& over,
    const at::Tensor& under,
    double by) const {
  if (open_.defined())
    tensor.addcdiv_(over.mul(number(by, 0)), under);
  else
    tensor.addcdiv_(over, under, by);
}

void Gate::approach(at::Tensor tensor, const at::Tensor& goal, double by)
    const {
  if (open_.defined())
    tensor.addcmul_(goal.sub(tensor), number(by, 0));
  else
    tensor.lerp_(goal, by);
}

// A handful a step: learning rate, betas, decay.
at::Tensor Gate::number(double open, double closed) const {
  at::Tensor& made = numbers_[{open, closed}];
  if (made.defined()) return made;
  const auto options =
      open_.options().dtype(sum_type(open_.device())).requires_grad(false);
  made = at::where(
      open_, at::full({}, open, options), at::full({}, closed, options));
  return made;
}

} // namespace temper::train

#include "temper/train/optimizer/commit_gate.h"

#include "temper/train/task/predictions.h"

namespace temper::train {

CommitGate::CommitGate(const at::Tensor& open)
    : open_(open), closed_(open.logical_not()) {}

void CommitGate::clear(const at::Tensor& gradient) const {
  if (open_.defined()) gradient.masked_fill_(closed_, 0);
}

at::Tensor CommitGate::scaled(const at::Tensor& tensor, double by) const {
  return open_.defined() ? tensor.mul(number(by, 1)) : tensor.mul(by);
}

at::Tensor CommitGate::sum(
    const at::Tensor& tensor,
    const at::Tensor& other,
    double by) const {
  return open_.defined() ? at::addcmul(tensor, other, number(by, 0))
                         : tensor.add(other, by);
}

at::Tensor CommitGate::ratio_added(
    const at::Tensor& tensor,
    const at::Tensor& over,
    const at::Tensor& under,
    double by) const {
  return open_.defined() ? at::addcdiv(tensor, over.mul(number(by, 0)), under)
                         : at::addcdiv(tensor, over, under, by);
}

at::Tensor CommitGate::approached(
    const at::Tensor& tensor,
    const at::Tensor& goal,
    double by) const {
  return open_.defined() ? at::addcmul(tensor, goal.sub(tensor), number(by, 0))
                         : at::lerp(tensor, goal, by);
}

// A handful a step: learning rate, betas, decay.
at::Tensor CommitGate::number(double open, double closed) const {
  at::Tensor& made = numbers_[{open, closed}];
  if (made.defined()) return made;
  const auto options =
      open_.options().dtype(sum_type(open_.device())).requires_grad(false);
  made = at::where(
      open_, at::full({}, open, options), at::full({}, closed, options));
  return made;
}

} // namespace temper::train

#include "temper/model/fused/cross_entropy.h"

#include "temper/kernels/sequence/cross_entropy.h"
#include "temper/model/fused/dense.h"
#include "temper/model/fused/fused_op.h"

namespace temper::model {
namespace {

at::Tensor stock_cross_entropy(
    const at::Tensor& logits,
    const at::Tensor& labels,
    const at::Tensor& class_weights,
    const CrossEntropySpec& spec) {
  return at::cross_entropy_loss(
      logits,
      labels,
      class_weights.defined() ? c10::optional<at::Tensor>(class_weights)
                              : c10::nullopt,
      spec.mean ? at::Reduction::Mean : at::Reduction::Sum,
      spec.ignore_index,
      spec.label_smoothing);
}

// Inputs: logits, probabilities, class weights (or undefined).
at::Tensor stock_soft_cross_entropy(const FusedOp::Tensors& in) {
  at::Tensor weighted = at::log_softmax(in.at(0), 1).mul(in.at(1));
  if (in.at(2).defined()) weighted = weighted.mul(in.at(2));
  return weighted.sum().neg();
}

bool labels_fit(const at::Tensor& labels, const at::Tensor& logits) {
  if (!labels.defined() || !labels.device().is_cpu() ||
      labels.layout() != at::kStrided || labels.scalar_type() != at::kLong)
    return false;
  std::vector<std::int64_t> sizes = logits.sizes().vec();
  sizes.erase(sizes.begin() + 1);
  return labels.sizes() == at::IntArrayRef(sizes);
}

// Inputs: logits, labels or probabilities, class weights (or undefined).
class CrossEntropyOp final : public FusedOp {
 public:
  CrossEntropyOp(const CrossEntropySpec& spec, bool soft)
      : spec_(spec), soft_(soft) {}

  bool takes(const Tensors& in) const override {
    const at::Tensor& logits = in.at(0);
    if (!plain_float(logits) || logits.dim() < 2) return false;
    if (!absent_or_plain_of(in.at(2), {logits.size(1)})) return false;
    return soft_ ? logits.dim() == 2 && plain_float_of(in.at(1), logits.sizes())
                 : labels_fit(in.at(1), logits);
  }

  at::Tensor forward(const Tensors& in, Tensors* saved) const override {
    const at::Tensor rows = rows_of_last(in.at(0).movedim(1, -1));
    const at::Tensor targets = in.at(1).contiguous();
    const at::Tensor weights = dense(in.at(2));
    at::Tensor log_sums;
    if (saved != nullptr) log_sums = at::empty({rows.size(0)}, rows.options());
    const kernels::CrossEntropySum sum = kernels::cross_entropy_forward(
        work_on(rows, targets, weights), floats_to(log_sums));
    // LibTorch knows how to say which label is out of range.
    if (!sum.labels_in_range)
      return stock_cross_entropy(in.at(0), in.at(1), in.at(2), spec_);
    const double divisor = spec_.mean ? sum.weight : 1.0;
    if (saved != nullptr)
      *saved = {
          rows,
          targets,
          weights,
          log_sums,
          at::scalar_tensor(divisor, at::TensorOptions(at::kDouble)),
          in.at(0)};
    return at::scalar_tensor(sum.loss / divisor, rows.options());
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>&) const override {
    const at::Tensor& rows = saved.at(0);
    const at::Tensor& logits = saved.at(5);
    std::vector<std::int64_t> sizes = logits.sizes().vec();
    sizes.erase(sizes.begin() + 1);
    sizes.push_back(rows.size(1));
    at::Tensor found = at::empty(sizes, rows.options());
    const double factor = gradient.item<double>() / saved.at(4).item<double>();
    kernels::cross_entropy_backward(
        work_on(rows, saved.at(1), saved.at(2)),
        floats_in(saved.at(3)),
        static_cast<float>(factor),
        floats_to(found));
    return {found.movedim(-1, 1), {}, {}};
  }

 private:
  kernels::CrossEntropyRows work_on(
      const at::Tensor& rows,
      const at::Tensor& targets,
      const at::Tensor& weights) const {
    kernels::CrossEntropyRows work;
    work.rows = rows.size(0);
    work.classes = rows.size(1);
    work.scores = floats_in(rows);
    work.stride = rows.stride(0);
    if (soft_)
      work.probabilities = floats_in(targets);
    else
      work.labels = targets.data_ptr<std::int64_t>();
    work.weights = floats_in(weights);
    work.smoothing = spec_.label_smoothing;
    work.ignored = spec_.ignore_index;
    return work;
  }

  CrossEntropySpec spec_;
  bool soft_;
};

} // namespace

at::Tensor fused_cross_entropy(
    const at::Tensor& logits,
    const at::Tensor& labels,
    const at::Tensor& class_weights,
    const CrossEntropySpec& spec) {
  const auto op = std::make_shared<CrossEntropyOp>(spec, false);
  const SecondDerivative second{
      {logits, labels, class_weights}, [spec](const FusedOp::Tensors& in) {
        return stock_cross_entropy(in.at(0), in.at(1), in.at(2), spec);
      }};
  if (op->takes(second.inputs)) return apply_fused(op, second.inputs, &second);
  return second.again(second.inputs);
}

at::Tensor fused_soft_cross_entropy(
    const at::Tensor& logits,
    const at::Tensor& probabilities,
    const at::Tensor& class_weights) {
  const auto op = std::make_shared<CrossEntropyOp>(CrossEntropySpec{}, true);
  const SecondDerivative second{
      {logits, probabilities, class_weights}, stock_soft_cross_entropy};
  if (op->takes(second.inputs) && !probabilities.requires_grad() &&
      (!class_weights.defined() || !class_weights.requires_grad()))
    return apply_fused(op, second.inputs, &second);
  return stock_soft_cross_entropy(second.inputs);
}

} // namespace temper::model

// The step of a network of linear layers without autograd: forward, softmax
// cross-entropy, count of right predictions and all gradients, straight on the
// kernels, with memory that is laid out once per number of rows. For networks
// so small that autograd's bookkeeping takes longer than the arithmetic.
// Includes torch: see module.h.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "temper/kernels/norm/activation.h"

namespace temper::model {

struct DenseStepLayer {
  at::Tensor weight; // [out, in]
  at::Tensor bias; // [out], or undefined
  kernels::Activation act = kernels::Activation::kNone;
};

struct DenseStepWork {
  at::Tensor x; // [rows, in], or more dimensions that flatten to it
  at::Tensor labels; // [rows]
  at::Tensor class_weights; // undefined: equal
  double label_smoothing = 0;
  double factor = 1; // of the gradients
  int top = 0; // the k of the second count; 0: 1
};

struct DenseStepResult {
  double loss = 0; // the sum over rows
  std::int64_t best = 0; // rows whose label scores highest
  std::int64_t among_top = 0;
};

class DenseStep {
 public:
  explicit DenseStep(std::vector<DenseStepLayer> layers);

  std::int64_t outputs() const {
    return layers_.back().weight.size(0);
  }

  // Computes the step and leaves the gradients of loss * factor in the .grad of
  // every parameter, in place of what was there. No value, and nothing has
  // changed, when the kernels do not take these tensors: other types, frozen
  // parameters, labels out of range.
  std::optional<DenseStepResult> run(const DenseStepWork& work);

 private:
  struct Rows {
    at::Tensor y;
    at::Tensor before; // undefined: y tells as much
    at::Tensor gradient; // of y
  };

  bool takes(const DenseStepWork& work) const;
  void lay_out(std::int64_t rows);
  void forward(const float* x);
  void backward(const float* x);

  std::vector<DenseStepLayer> layers_;
  std::vector<Rows> rows_; // of each layer
  at::Tensor log_sums_;
  std::int64_t laid_out_ = 0; // for so many rows
};

} // namespace temper::model

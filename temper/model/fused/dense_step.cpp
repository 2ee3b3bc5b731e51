#include "temper/model/fused/dense_step.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "temper/kernels/sequence/cross_entropy.h"
#include "temper/kernels/sequence/linear.h"
#include "temper/kernels/sequence/ranks.h"
#include "temper/model/fused/dense.h"

namespace temper::model {
namespace {

using kernels::Activation;

// A parameter that kernels read and whose gradient they write.
bool is_trained_here(const at::Tensor& t) {
  return plain_float(t) && t.is_contiguous() && t.requires_grad() &&
      t.is_leaf();
}

// The memory of a gradient, kept from step to step.
float* gradient_of(const at::Tensor& parameter) {
  if (!parameter.defined()) return nullptr;
  at::Tensor& gradient = parameter.mutable_grad();
  if (!plain_float_of(gradient, parameter.sizes()) || !gradient.is_contiguous())
    gradient = at::empty(parameter.sizes(), parameter.options());
  return gradient.data_ptr<float>();
}

bool tells_its_slope(Activation act) {
  return act == Activation::kNone || act == Activation::kRelu ||
      act == Activation::kRelu6;
}

} // namespace

DenseStep::DenseStep(std::vector<DenseStepLayer> layers)
    : layers_(std::move(layers)), rows_(layers_.size()) {}

bool DenseStep::takes(const DenseStepWork& work) const {
  if (!plain_float(work.x) || work.x.dim() < 2 || !work.x.is_contiguous() ||
      work.x.requires_grad())
    return false;
  const std::int64_t rows = work.x.size(0);
  const at::Tensor& labels = work.labels;
  if (!labels.defined() || !labels.device().is_cpu() ||
      labels.scalar_type() != at::kLong || !labels.is_contiguous() ||
      labels.dim() != 1 || labels.size(0) != rows)
    return false;
  std::int64_t in = work.x.numel() / rows;
  for (const DenseStepLayer& layer : layers_) {
    if (!is_trained_here(layer.weight) || layer.weight.dim() != 2 ||
        layer.weight.size(1) != in)
      return false;
    in = layer.weight.size(0);
    if (layer.bias.defined() &&
        (!is_trained_here(layer.bias) || layer.bias.dim() != 1 ||
         layer.bias.size(0) != in))
      return false;
  }
  return absent_or_plain_of(work.class_weights, {in});
}

void DenseStep::lay_out(std::int64_t rows) {
  if (laid_out_ == rows) return;
  laid_out_ = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::int64_t out = layers_[i].weight.size(0);
    Rows& here = rows_[i];
    here.y = at::empty({rows, out});
    here.gradient = at::empty({rows, out});
    here.before =
        tells_its_slope(layers_[i].act) ? at::Tensor() : at::empty({rows, out});
  }
  log_sums_ = at::empty({rows});
  laid_out_ = rows;
}

void DenseStep::forward(const float* x) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const DenseStepLayer& layer = layers_[i];
    kernels::LinearForward work;
    work.rows = laid_out_;
    work.in = layer.weight.size(1);
    work.out = layer.weight.size(0);
    work.x = x;
    work.x_stride = work.in;
    work.weight = floats_in(layer.weight);
    work.bias = floats_in(layer.bias);
    work.act = layer.act;
    work.before = floats_to(rows_[i].before);
    work.y = floats_to(rows_[i].y);
    kernels::linear_forward(work);
    x = work.y;
  }
}

void DenseStep::backward(const float* x) {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const DenseStepLayer& layer = layers_[i];
    const Rows& here = rows_[i];
    kernels::LinearBackward work;
    work.rows = laid_out_;
    work.in = layer.weight.size(1);
    work.out = layer.weight.size(0);
    work.gradient = floats_in(here.gradient);
    work.x = i == 0 ? x : floats_in(rows_[i - 1].y);
    work.x_stride = work.in;
    work.weight = floats_in(layer.weight);
    work.act = layer.act;
    work.before = floats_in(here.before.defined() ? here.before : here.y);
    work.dx = i == 0 ? nullptr : floats_to(rows_[i - 1].gradient);
    work.dweight = gradient_of(layer.weight);
    work.dbias = gradient_of(layer.bias);
    kernels::linear_backward(work);
  }
}

std::optional<DenseStepResult> DenseStep::run(const DenseStepWork& work) {
  if (layers_.empty() || !takes(work)) return std::nullopt;
  const at::NoGradGuard no_grad;
  lay_out(work.x.size(0));
  const float* x = floats_in(work.x);
  forward(x);
  const at::Tensor weights = dense(work.class_weights);
  kernels::CrossEntropyRows loss;
  loss.rows = laid_out_;
  loss.classes = layers_.back().weight.size(0);
  loss.scores = floats_in(rows_.back().y);
  loss.stride = loss.classes;
  loss.labels = work.labels.data_ptr<std::int64_t>();
  loss.weights = floats_in(weights);
  loss.smoothing = work.label_smoothing;
  const kernels::CrossEntropySum sum =
      kernels::cross_entropy_forward(loss, floats_to(log_sums_));
  kernels::RankedRows ranked;
  ranked.rows = loss.rows;
  ranked.classes = loss.classes;
  ranked.scores = loss.scores;
  ranked.stride = loss.stride;
  ranked.labels = loss.labels;
  ranked.top = work.top > 0 ? work.top : 1;
  const kernels::RightRows right = kernels::count_right(ranked);
  if (!sum.labels_in_range || !right.labels_in_range) return std::nullopt;
  kernels::cross_entropy_backward(
      loss,
      floats_in(log_sums_),
      static_cast<float>(work.factor),
      floats_to(rows_.back().gradient));
  backward(x);
  // The float32 that LibTorch's loss would be.
  return DenseStepResult{
      static_cast<double>(static_cast<float>(sum.loss)),
      right.best,
      right.among_top};
}

} // namespace temper::model

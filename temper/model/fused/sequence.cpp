// Linear layers, LayerNorm and attention as ops of autograd.
#include <cmath>

#include "temper/kernels/sequence/attention.h"
#include "temper/kernels/sequence/layer_norm.h"
#include "temper/kernels/sequence/linear.h"
#include "temper/model/fused/dense.h"
#include "temper/model/fused/layers.h"

namespace temper::model {
namespace {

std::vector<std::int64_t> with_last(const at::Tensor& x, std::int64_t last) {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes.back() = last;
  return sizes;
}

class LinearOp final : public FusedOp {
 public:
  explicit LinearOp(Activation act) : act_(act) {}

  bool takes(const Tensors& in) const override {
    const at::Tensor& x = in.at(0);
    const at::Tensor& weight = in.at(1);
    return plain_float(x) && x.dim() >= 1 && plain_float(weight) &&
        weight.dim() == 2 && weight.size(1) == x.size(-1) &&
        absent_or_plain_of(in.at(2), {weight.size(0)}) &&
        absent_or_plain_of(in.at(3), with_last(x, weight.size(0)));
  }

  at::Tensor forward(const Tensors& in, Tensors* saved) const override {
    const at::Tensor x = rows_of_last(in.at(0));
    const at::Tensor weight = dense(in.at(1));
    const at::Tensor bias = dense(in.at(2));
    const at::Tensor residual = dense(in.at(3));
    kernels::LinearForward work;
    work.rows = x.size(0);
    work.in = x.size(1);
    work.out = weight.size(0);
    at::Tensor y = at::empty(with_last(in.at(0), work.out), x.options());
    at::Tensor before;
    if (saved != nullptr && act_ != Activation::kNone)
      before = result_tells(residual) ? y : at::empty_like(y);
    work.x = floats_in(x);
    work.x_stride = x.stride(0);
    work.weight = floats_in(weight);
    work.bias = floats_in(bias);
    work.residual = floats_in(residual);
    work.act = act_;
    work.before = floats_to(before);
    work.y = floats_to(y);
    kernels::linear_forward(work);
    if (saved != nullptr) *saved = {x, in.at(1), before, in.at(0)};
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    const at::Tensor& x = saved.at(0);
    const at::Tensor weight = dense(saved.at(1));
    const at::Tensor g = gradient.contiguous();
    const at::Tensor before = dense(saved.at(2));
    kernels::LinearBackward work;
    work.rows = x.size(0);
    work.in = x.size(1);
    work.out = weight.size(0);
    Tensors found(4);
    if (wanted.at(0)) found[0] = at::empty(saved.at(3).sizes(), x.options());
    if (wanted.at(1)) found[1] = at::empty(weight.sizes(), x.options());
    if (wanted.at(2)) found[2] = at::empty({work.out}, x.options());
    if (wanted.at(3)) found[3] = gradient;
    work.gradient = floats_in(g);
    work.x = floats_in(x);
    work.x_stride = x.stride(0);
    work.weight = floats_in(weight);
    work.act = act_;
    work.before = floats_in(before);
    work.dx = floats_to(found[0]);
    work.dweight = floats_to(found[1]);
    work.dbias = floats_to(found[2]);
    if (wanted.at(0) || wanted.at(1) || wanted.at(2))
      kernels::linear_backward(work);
    return found;
  }

 private:
  // Whether the result says as much about the slope as the sum before it.
  bool result_tells(const at::Tensor& residual) const {
    return !residual.defined() &&
        (act_ == Activation::kRelu || act_ == Activation::kRelu6);
  }

  Activation act_;
};

class LayerNormOp final : public FusedOp {
 public:
  explicit LayerNormOp(double eps) : eps_(eps) {}

  bool takes(const Tensors& in) const override {
    const at::Tensor& x = in.at(0);
    return plain_float(x) && x.dim() >= 1 &&
        absent_or_plain_of(in.at(1), {x.size(-1)}) &&
        absent_or_plain_of(in.at(2), {x.size(-1)});
  }

  at::Tensor forward(const Tensors& in, Tensors* saved) const override {
    const at::Tensor x = rows_of_last(in.at(0));
    const at::Tensor weight = dense(in.at(1));
    const at::Tensor bias = dense(in.at(2));
    at::Tensor y = at::empty(in.at(0).sizes(), x.options());
    at::Tensor mean;
    at::Tensor inverse;
    if (saved != nullptr) {
      mean = at::empty({x.size(0)}, x.options());
      inverse = at::empty({x.size(0)}, x.options());
      *saved = {x, weight, mean, inverse, in.at(0)};
    }
    kernels::LayerNormForward work;
    work.rows = x.size(0);
    work.columns = x.size(1);
    work.eps = eps_;
    work.x = floats_in(x);
    work.x_stride = x.stride(0);
    work.weight = floats_in(weight);
    work.bias = floats_in(bias);
    work.y = floats_to(y);
    work.mean = floats_to(mean);
    work.inverse = floats_to(inverse);
    kernels::layer_norm_forward(work);
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    const at::Tensor& x = saved.at(0);
    const at::Tensor g = gradient.contiguous();
    Tensors found(3);
    if (wanted.at(0)) found[0] = at::empty(saved.at(4).sizes(), x.options());
    if (wanted.at(1)) found[1] = at::empty({x.size(1)}, x.options());
    if (wanted.at(2)) found[2] = at::empty({x.size(1)}, x.options());
    kernels::LayerNormBackward work;
    work.rows = x.size(0);
    work.columns = x.size(1);
    work.gradient = floats_in(g);
    work.x = floats_in(x);
    work.x_stride = x.stride(0);
    work.weight = floats_in(saved.at(1));
    work.mean = floats_in(saved.at(2));
    work.inverse = floats_in(saved.at(3));
    work.dx = floats_to(found[0]);
    work.dweight = floats_to(found[1]);
    work.dbias = floats_to(found[2]);
    kernels::layer_norm_backward(work);
    return found;
  }

 private:
  double eps_;
};

template <class Number>
kernels::HeadsView<Number> heads_view(const at::Tensor& t) {
  kernels::HeadsView<Number> view;
  view.data = t.data_ptr<float>();
  view.batch_stride = t.stride(0);
  view.head_stride = t.stride(1);
  view.token_stride = t.stride(2);
  return view;
}

at::Tensor dense_rows(const at::Tensor& t) {
  return t.size(3) == 1 || t.stride(3) == 1 ? t : t.contiguous();
}

// [batch, heads, tokens, width] in the order batch, tokens, heads, width: what
// follows wants the heads of a token side by side.
at::Tensor heads_side_by_side(
    const at::Tensor& like,
    std::int64_t tokens,
    std::int64_t width) {
  return at::empty({like.size(0), tokens, like.size(1), width}, like.options())
      .transpose(1, 2);
}

class AttentionOp final : public FusedOp {
 public:
  explicit AttentionOp(const AttentionSpec& spec) : spec_(spec) {}

  bool takes(const Tensors& in) const override {
    const at::Tensor& q = in.at(0);
    const at::Tensor& k = in.at(1);
    const at::Tensor& v = in.at(2);
    for (const at::Tensor& one : in)
      if (!plain_float(one) || one.dim() != 4 || one.size(0) != q.size(0) ||
          one.size(1) != q.size(1))
        return false;
    return k.size(2) == v.size(2) && k.size(3) == q.size(3);
  }

  at::Tensor forward(const Tensors& in, Tensors* saved) const override {
    const at::Tensor q = dense_rows(in.at(0));
    const at::Tensor k = dense_rows(in.at(1));
    const at::Tensor v = dense_rows(in.at(2));
    kernels::AttentionForward work;
    work.shape = shape_of(q, k, v);
    at::Tensor y = heads_side_by_side(q, q.size(2), v.size(3));
    at::Tensor log_sums;
    if (saved != nullptr)
      log_sums = at::empty({q.size(0), q.size(1), q.size(2)}, q.options());
    work.q = heads_view<const float>(q);
    work.k = heads_view<const float>(k);
    work.v = heads_view<const float>(v);
    work.y = heads_view<float>(y);
    work.log_sums = floats_to(log_sums);
    kernels::attention_forward(work);
    if (saved != nullptr) *saved = {q, k, v, y, log_sums};
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>&) const override {
    const at::Tensor& q = saved.at(0);
    const at::Tensor& k = saved.at(1);
    const at::Tensor& v = saved.at(2);
    const at::Tensor g = dense_rows(gradient);
    kernels::AttentionBackward work;
    work.shape = shape_of(q, k, v);
    Tensors found{
        heads_side_by_side(q, q.size(2), q.size(3)),
        heads_side_by_side(q, k.size(2), k.size(3)),
        heads_side_by_side(q, v.size(2), v.size(3))};
    work.q = heads_view<const float>(q);
    work.k = heads_view<const float>(k);
    work.v = heads_view<const float>(v);
    work.y = heads_view<const float>(saved.at(3));
    work.gradient = heads_view<const float>(g);
    work.log_sums = floats_in(saved.at(4));
    work.dq = heads_view<float>(found[0]);
    work.dk = heads_view<float>(found[1]);
    work.dv = heads_view<float>(found[2]);
    kernels::attention_backward(work);
    return found;
  }

 private:
  kernels::AttentionShape shape_of(
      const at::Tensor& q,
      const at::Tensor& k,
      const at::Tensor& v) const {
    kernels::AttentionShape shape;
    shape.batch = q.size(0);
    shape.heads = q.size(1);
    shape.queries = q.size(2);
    shape.keys = k.size(2);
    shape.width = q.size(3);
    shape.value_width = v.size(3);
    shape.causal = spec_.causal;
    shape.scale = static_cast<float>(
        spec_.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3)))));
    return shape;
  }

  AttentionSpec spec_;
};

} // namespace

OpPointer make_linear(Activation act) {
  return std::make_shared<LinearOp>(act);
}

OpPointer make_layer_norm(double eps) {
  return std::make_shared<LayerNormOp>(eps);
}

OpPointer make_attention(const AttentionSpec& spec) {
  return std::make_shared<AttentionOp>(spec);
}

} // namespace temper::model

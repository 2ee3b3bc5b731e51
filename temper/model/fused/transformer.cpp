#include "temper/kernels/sequence/transformer.h"

#include <cmath>

#include "temper/model/fused/dense.h"
#include "temper/model/fused/layers.h"

namespace temper::model {
namespace {

// Places of the inputs after x, in the order of layers.h.
enum BlockInput {
  kX,
  kNorm1Weight,
  kNorm1Bias,
  kQkvWeight,
  kQkvBias,
  kProjWeight,
  kProjBias,
  kNorm2Weight,
  kNorm2Bias,
  kFc1Weight,
  kFc1Bias,
  kFc2Weight,
  kFc2Bias,
  kBlockInputs
};

// Above this many weights there would be room for few sums of gradients, and
// the layers one by one are as fast.
constexpr std::int64_t kMostWeights = 4 << 20;

template <class Number, class Tensors>
kernels::TransformerParameters<Number> parameters_in(const Tensors& t) {
  const auto at = [&](BlockInput place) { return floats_to(t.at(place)); };
  kernels::TransformerParameters<Number> all;
  all.norm1_weight = at(kNorm1Weight);
  all.norm1_bias = at(kNorm1Bias);
  all.qkv_weight = at(kQkvWeight);
  all.qkv_bias = at(kQkvBias);
  all.proj_weight = at(kProjWeight);
  all.proj_bias = at(kProjBias);
  all.norm2_weight = at(kNorm2Weight);
  all.norm2_bias = at(kNorm2Bias);
  all.fc1_weight = at(kFc1Weight);
  all.fc1_bias = at(kFc1Bias);
  all.fc2_weight = at(kFc2Weight);
  all.fc2_bias = at(kFc2Bias);
  return all;
}

// Saved behind the inputs, in this order.
struct BlockKept {
  at::Tensor qkv, attended, middle, log_sums, hidden, moments1, moments2;

  kernels::TransformerKept pointers() const {
    kernels::TransformerKept kept;
    kept.qkv = floats_to(qkv);
    kept.attended = floats_to(attended);
    kept.middle = floats_to(middle);
    kept.log_sums = floats_to(log_sums);
    kept.hidden = floats_to(hidden);
    kept.moments1 = floats_to(moments1);
    kept.moments2 = floats_to(moments2);
    return kept;
  }
};

class TransformerBlockOp final : public FusedOp {
 public:
  explicit TransformerBlockOp(const TransformerBlockSpec& spec) : spec_(spec) {}

  bool takes(const Tensors& in) const override {
    const at::Tensor& x = in.at(kX);
    const at::Tensor& fc1 = in.at(kFc1Weight);
    if (!plain_float(x) || x.dim() != 3 || !plain_float(fc1) || fc1.dim() != 2)
      return false;
    const std::int64_t d = x.size(2);
    const std::int64_t h = fc1.size(0);
    if (d % spec_.heads != 0 || d * (4 * d + 2 * h) > kMostWeights)
      return false;
    return plain_float_of(in.at(kQkvWeight), {3 * d, d}) &&
        plain_float_of(in.at(kProjWeight), {d, d}) &&
        plain_float_of(fc1, {h, d}) &&
        plain_float_of(in.at(kFc2Weight), {d, h}) &&
        absent_or_plain_of(in.at(kNorm1Weight), {d}) &&
        absent_or_plain_of(in.at(kNorm1Bias), {d}) &&
        absent_or_plain_of(in.at(kQkvBias), {3 * d}) &&
        absent_or_plain_of(in.at(kProjBias), {d}) &&
        absent_or_plain_of(in.at(kNorm2Weight), {d}) &&
        absent_or_plain_of(in.at(kNorm2Bias), {d}) &&
        absent_or_plain_of(in.at(kFc1Bias), {h}) &&
        absent_or_plain_of(in.at(kFc2Bias), {d});
  }

  at::Tensor forward(const Tensors& inputs, Tensors* saved) const override {
    Tensors in;
    for (const at::Tensor& one : inputs)
      in.push_back(dense(one));
    const at::Tensor& x = in.at(kX);
    kernels::TransformerForward work;
    work.shape = shape_of(in);
    const std::int64_t rows = x.size(0) * x.size(1);
    const auto room = [&](std::int64_t columns) {
      return at::empty({rows, columns}, x.options());
    };
    BlockKept kept;
    kept.qkv = room(3 * work.shape.features);
    kept.attended = room(work.shape.features);
    kept.middle = room(work.shape.features);
    if (saved != nullptr) {
      kept.log_sums = room(work.shape.heads);
      kept.hidden = room(work.shape.hidden);
      kept.moments1 = room(2);
      kept.moments2 = room(2);
    }
    at::Tensor y = at::empty(x.sizes(), x.options());
    work.x = floats_in(x);
    work.parameters = parameters_in<const float>(in);
    work.kept = kept.pointers();
    work.y = floats_to(y);
    kernels::transformer_forward(work);
    if (saved != nullptr) {
      *saved = in;
      for (const at::Tensor& one :
           {kept.qkv,
            kept.attended,
            kept.middle,
            kept.log_sums,
            kept.hidden,
            kept.moments1,
            kept.moments2})
        saved->push_back(one);
    }
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    const at::Tensor& x = saved.at(kX);
    const at::Tensor g = gradient.contiguous();
    const BlockKept kept{
        saved.at(kBlockInputs),
        saved.at(kBlockInputs + 1),
        saved.at(kBlockInputs + 2),
        saved.at(kBlockInputs + 3),
        saved.at(kBlockInputs + 4),
        saved.at(kBlockInputs + 5),
        saved.at(kBlockInputs + 6)};
    Tensors found(kBlockInputs);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (wanted.at(i)) found[i] = at::empty(saved[i].sizes(), x.options());
    // The gradient of x comes along with those of norm1.
    at::Tensor dx =
        found[kX].defined() ? found[kX] : at::empty(x.sizes(), x.options());
    const at::Tensor workspace = at::empty({5 * x.numel()}, x.options());
    kernels::TransformerBackward work;
    work.shape = shape_of(saved);
    work.gradient = floats_in(g);
    work.x = floats_in(x);
    work.parameters = parameters_in<const float>(saved);
    work.kept = kept.pointers();
    work.workspace = floats_to(workspace);
    work.dx = floats_to(dx);
    work.gradients = parameters_in<float>(found);
    kernels::transformer_backward(work);
    return found;
  }

 private:
  kernels::TransformerShape shape_of(const Tensors& in) const {
    const at::Tensor& x = in.at(kX);
    kernels::TransformerShape shape;
    shape.batch = x.size(0);
    shape.tokens = x.size(1);
    shape.features = x.size(2);
    shape.hidden = in.at(kFc1Weight).size(0);
    shape.heads = spec_.heads;
    shape.causal = spec_.attention.causal;
    const double width = static_cast<double>(x.size(2) / spec_.heads);
    shape.scale = static_cast<float>(
        spec_.attention.scale.value_or(1 / std::sqrt(width)));
    shape.eps1 = spec_.eps1;
    shape.eps2 = spec_.eps2;
    shape.act = spec_.act;
    return shape;
  }

  TransformerBlockSpec spec_;
};

} // namespace

OpPointer make_transformer_block(const TransformerBlockSpec& spec) {
  return std::make_shared<TransformerBlockOp>(spec);
}

} // namespace temper::model

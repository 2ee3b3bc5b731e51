// Blocks of MobileNet and ResNet as one op: convolutions with their BatchNorm
// and activation one after the other, and what is added to the last one. What
// lies between two convolutions is never written: each applies the
// normalisation and activation before it as it reads, and counts the statistics
// for the one after it as it writes, in both directions. Kept for backward: x,
// what each convolution wrote, and four numbers a channel of each
// normalisation.
#include "temper/model/fused/conv_call.h"

namespace temper::model {
namespace {

constexpr std::size_t kPerLayer = 5; // inputs of a convolution and its norm
constexpr std::size_t kKept = 3; // tensors kept of each: weight, result, state

std::size_t first_of(std::size_t layer) {
  return 1 + kPerLayer * layer;
}

class ConvChain final : public FusedOp {
 public:
  explicit ConvChain(const ConvChainSpec& spec)
      : layers_(spec.layers),
        last_(spec.layers.size() - 1),
        adds_input_(spec.adds_input),
        has_shortcut_(spec.shortcut.has_value()) {
    if (has_shortcut_) layers_.push_back(*spec.shortcut);
  }

  bool takes(const Tensors& inputs) const override {
    const at::Tensor& x = inputs.at(0);
    if (!is_float_on_cpu(x) || x.dim() != 4) return false;
    std::vector<std::int64_t> sizes = x.sizes().vec();
    for (std::size_t i = 0; i <= last_; ++i) {
      if (i > 0 && !takes_norm_before(layers_[i].conv, sizes[1])) return false;
      if (!takes_layer(inputs, i, sizes)) return false;
    }
    std::vector<std::int64_t> added = x.sizes().vec();
    if (has_shortcut_ && !takes_layer(inputs, last_ + 1, added)) return false;
    return !adds() || added == sizes;
  }

  at::Tensor forward(const Tensors& inputs, Tensors* saved) const override {
    const at::Tensor x = as_rows(inputs[0]);
    if (saved != nullptr) saved->push_back(x);
    ConvInput input{x, {}, Activation::kNone};
    for (std::size_t i = 0; i < last_; ++i)
      input = run_layer(i, input, inputs, saved);
    if (saved == nullptr && !layers_[last_].norm.training && !has_shortcut_)
      return end_in_one_pass(x, input, inputs);
    input = run_layer(last_, input, inputs, saved);
    const ConvInput added = added_to_end(x, inputs, saved);
    // Without a backward pass nobody needs the convolution's own result.
    at::Tensor y = saved == nullptr ? input.x : empty_rows(input.x.sizes());
    kernels::NormApply job = end_of_chain(input.state, added);
    job.rows = row_count(y);
    job.channels = y.size(1);
    job.x = floats_of(input.x);
    job.y = floats_of(y);
    kernels::norm_apply(job);
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override;

 private:
  friend class ChainBackward;

  bool adds() const {
    return adds_input_ || has_shortcut_;
  }

  // The input that is added to the last layer's normalised result: x, the
  // shortcut's result with its normalisation, or no tensor.
  ConvInput added_to_end(
      const at::Tensor& x,
      const Tensors& inputs,
      Tensors* saved) const {
    if (has_shortcut_)
      return run_layer(last_ + 1, {x, {}, Activation::kNone}, inputs, saved);
    return {adds_input_ ? x : at::Tensor(), {}, Activation::kNone};
  }

  // The last normalisation with what is added, without its rows.
  kernels::NormApply end_of_chain(
      const at::Tensor& state,
      const ConvInput& added) const {
    kernels::NormApply job;
    job.norm = affine_of(state, layers_[last_].act);
    if (adds()) job.residual_place = kernels::Residual::kBeforeActivation;
    job.residual = floats_of(added.x);
    if (has_shortcut_)
      job.residual_norm = affine_of(added.state, Activation::kNone);
    return job;
  }

  // With running statistics the last normalisation is known before its
  // convolution, which applies it as it writes; not with a shortcut's beside
  // it.
  at::Tensor end_in_one_pass(
      const at::Tensor& x,
      const ConvInput& input,
      const Tensors& inputs) const {
    const ConvLayerSpec& layer = layers_[last_];
    const at::Tensor& weight = inputs[first_of(last_)];
    const NormTensors tensors(inputs, first_of(last_) + 1);
    NormForward norm(layer.norm, tensors, weight.size(0));
    norm.finish(1);
    return convolve_and_norm(
        layer.conv,
        input,
        weight,
        end_of_chain(norm.state(), added_to_end(x, inputs, nullptr)));
  }

  // Whether the kernels take the layer for an input of these sizes, which
  // become its result's.
  bool takes_layer(
      const Tensors& inputs,
      std::size_t i,
      std::vector<std::int64_t>& sizes) const {
    const ConvLayerSpec& layer = layers_[i];
    const at::Tensor& weight = inputs.at(first_of(i));
    if (!kernels::follows_norm(layer.act) ||
        !takes_convolution(layer.conv, sizes, weight))
      return false;
    sizes = result_sizes(layer.conv, sizes, weight.size(0));
    return NormTensors(inputs, first_of(i) + 1)
        .taken(layer.norm, sizes[0] * sizes[2] * sizes[3], sizes[1]);
  }

  ConvInput run_layer(
      std::size_t i,
      const ConvInput& input,
      const Tensors& inputs,
      Tensors* saved) const {
    const ConvLayerSpec& layer = layers_[i];
    const at::Tensor& weight = inputs[first_of(i)];
    const NormTensors tensors(inputs, first_of(i) + 1);
    NormForward norm(layer.norm, tensors, weight.size(0));
    at::Tensor y = convolve(layer.conv, input, weight, norm.moments());
    norm.finish(row_count(y));
    if (saved != nullptr)
      saved->insert(saved->end(), {weight, y, norm.state()});
    return {y, norm.state(), layer.act};
  }

  std::vector<ConvLayerSpec> layers_; // and the shortcut, if there is one
  std::size_t last_; // of the layers
  bool adds_input_;
  bool has_shortcut_;
};

// One backward pass: from the sum to the shortcut, and back along the layers as
// far as a gradient is wanted.
class ChainBackward {
 public:
  using Tensors = FusedOp::Tensors;

  ChainBackward(
      const ConvChain& chain,
      const Tensors& saved,
      const std::vector<bool>& wanted)
      : chain_(chain),
        saved_(saved),
        wanted_(wanted),
        found_(first_of(chain.layers_.size())) {}

  Tensors run(const at::Tensor& result_gradient) {
    const std::size_t last = chain_.last_;
    NormPointer norm = new_norm(last);
    split(result_gradient, *norm);
    for (std::size_t i = last + 1; i-- > 0;) {
      NormPointer before = i > 0 ? new_norm(i - 1) : nullptr;
      if (!through_layer(i, *norm, before.get())) break;
      norm = std::move(before);
    }
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (!wanted_[i]) found_[i] = at::Tensor();
    return std::move(found_);
  }

 private:
  using NormPointer = std::unique_ptr<NormBackward>;

  const at::Tensor& weight(std::size_t layer) const {
    return saved_[1 + kKept * layer];
  }
  const at::Tensor& result(std::size_t layer) const {
    return saved_[2 + kKept * layer];
  }
  const at::Tensor& state(std::size_t layer) const {
    return saved_[3 + kKept * layer];
  }
  NormPointer new_norm(std::size_t layer) const {
    return std::make_unique<NormBackward>(
        chain_.layers_[layer].norm, state(layer));
  }
  void keep_norm(std::size_t layer, const NormBackward& norm) {
    found_[first_of(layer) + 1] = norm.weight_gradient;
    found_[first_of(layer) + 2] = norm.bias_gradient;
  }

  // The gradient of the sum is that of the last norm and of what was added.
  void split(const at::Tensor& result_gradient, NormBackward& norm) {
    const std::size_t last = chain_.last_;
    const Activation act = chain_.layers_[last].act;
    const bool writes = chain_.adds() && act != Activation::kNone;
    gradient_ = writes ? empty_rows(result(last).sizes()) : result_gradient;
    const at::Tensor through = writes ? gradient_ : at::Tensor();
    act_ = writes ? Activation::kNone : act;
    if (chain_.has_shortcut_) {
      NormPointer branch = new_norm(last + 1);
      const NormedResidual added{
          result(last + 1), state(last + 1), branch->sums()};
      count_gradient(
          result_gradient,
          result(last),
          state(last),
          act,
          added,
          through,
          norm.sums());
      through_shortcut(*branch);
    } else {
      const bool sums_x = chain_.adds_input_ && writes;
      count_gradient(
          result_gradient,
          result(last),
          state(last),
          act,
          sums_x ? saved_[0] : at::Tensor(),
          through,
          norm.sums());
      if (chain_.adds_input_ && wanted_[0]) x_gradient_ = gradient_;
    }
    // A gradient that is added to x's at the end stays as it is until then.
    spends_ = writes && (chain_.has_shortcut_ || !x_gradient_.defined());
    spends_x_gradient_ = chain_.has_shortcut_ || writes;
  }

  void through_shortcut(NormBackward& norm) {
    const std::size_t at = chain_.last_ + 1;
    ConvBackward job;
    job.after = norm.finish(result(at), Activation::kNone);
    keep_norm(at, norm);
    job.wants_x = wanted_[0];
    job.wants_weight = wanted_[first_of(at)];
    if (!job.wants_x && !job.wants_weight) return;
    job.input.x = saved_[0];
    job.weight = weight(at);
    job.gradient = gradient_;
    const ConvGradients of = convolve_backward(chain_.layers_[at].conv, job);
    x_gradient_ = of.x;
    found_[first_of(at)] = of.weight;
  }

  // Whether a gradient is wanted of x or of a layer before this one.
  bool goes_on(std::size_t layer) const {
    for (std::size_t i = 0; i < first_of(layer); ++i)
      if (wanted_[i]) return true;
    return false;
  }

  // False: nothing is wanted any more. `before`: the norm of the layer before.
  bool through_layer(std::size_t i, NormBackward& norm, NormBackward* before) {
    ConvBackward job;
    job.after = norm.finish(result(i), act_);
    keep_norm(i, norm);
    job.wants_x = goes_on(i);
    job.wants_weight = wanted_[first_of(i)];
    if (!job.wants_x && !job.wants_weight) return false;
    job.input.x = i == 0 ? saved_[0] : result(i - 1);
    job.weight = weight(i);
    job.gradient = std::move(gradient_);
    job.spends_gradient = spends_;
    if (i > 0) {
      job.input.state = state(i - 1);
      job.input.act = chain_.layers_[i - 1].act;
      job.sums = &before->sums();
    } else {
      job.x_gradient_add = std::move(x_gradient_);
      job.adds_in_place = spends_x_gradient_;
    }
    const ConvGradients of = convolve_backward(chain_.layers_[i].conv, job);
    found_[first_of(i)] = of.weight;
    if (i == 0) found_[0] = of.x;
    // Gradients from inside the block have passed the activation already.
    gradient_ = of.x;
    act_ = Activation::kNone;
    spends_ = true;
    return job.wants_x;
  }

  const ConvChain& chain_;
  const Tensors& saved_;
  const std::vector<bool>& wanted_;
  Tensors found_;
  at::Tensor gradient_; // of the result of the layer that comes next
  Activation act_ = Activation::kNone; // that it has still to pass
  bool spends_ = false; // its memory may be written to
  at::Tensor x_gradient_; // from the shortcut
  bool spends_x_gradient_ = false;
};

FusedOp::Tensors ConvChain::backward(
    const Tensors& saved,
    const at::Tensor& gradient,
    const std::vector<bool>& wanted) const {
  return ChainBackward(*this, saved, wanted).run(as_rows(gradient));
}

} // namespace

OpPointer make_conv_chain(const ConvChainSpec& spec) {
  return std::make_shared<ConvChain>(spec);
}

} // namespace temper::model

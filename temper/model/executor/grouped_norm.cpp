#include "temper/model/executor/grouped_norm.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "temper/base/text.h"
#include "temper/model/fused/layers.h"

namespace temper::model {
namespace {

constexpr const char* kCounter = "num_batches_tracked";

// MPS has no float64.
at::ScalarType pool_type(const at::Tensor& of) {
  return of.device().is_mps() ? at::kFloat : at::kDouble;
}

} // namespace

std::vector<std::int64_t> group_sizes(
    std::int64_t samples,
    std::int64_t group) {
  std::vector<std::int64_t> sizes;
  std::int64_t left = samples;
  for (; left >= 2 * group; left -= group)
    sizes.push_back(group);
  sizes.push_back(left);
  return sizes;
}

// Two sets of values joined: Chan, Golub and LeVeque, 1979. Always in the order
// of the groups, so that the bits do not depend on the split.
void GroupedNorms::Pool::add(const Pool& other) {
  if (count == 0) {
    *this = other;
    return;
  }
  const double all = count + other.count;
  const at::Tensor apart = other.mean.sub(mean);
  squares = squares.add(other.squares)
                .add(apart.mul(apart), count * other.count / all);
  mean = mean.add(apart, other.count / all);
  count = all;
}

void GroupedNorms::begin(const std::vector<NamedTensor>& buffers) {
  const at::NoGradGuard no_grad;
  layers_.clear();
  buffers_.clear();
  counters_.clear();
  for (const NamedTensor& each : buffers) {
    buffers_[each.tensor.unsafeGetTensorImpl()] = each.tensor;
    if (contains(each.name, kCounter))
      counters_.emplace_back(each.tensor, each.tensor.clone());
  }
  open_ = true;
}

void GroupedNorms::end() {
  const at::NoGradGuard no_grad;
  // A layer that is used twice has one pair of running statistics.
  std::vector<Layer> layers;
  for (auto& [number, layer] : layers_) {
    const auto same = std::find_if(
        layers.begin(), layers.end(), [&, mean = layer.running_mean](auto& at) {
          return at.running_mean.is_same(mean);
        });
    if (same == layers.end())
      layers.push_back(layer);
    else
      same->pool.add(layer.pool);
  }
  for (Layer& layer : layers) {
    const at::Tensor var = layer.pool.squares.div(layer.pool.count - 1);
    layer.running_mean.lerp_(
        layer.pool.mean.to(layer.running_mean.scalar_type()), layer.momentum);
    layer.running_var.lerp_(
        var.to(layer.running_var.scalar_type()), layer.momentum);
  }
  // Every slice has counted; an update is one.
  for (auto& [counter, before] : counters_)
    counter.copy_(at::minimum(counter, before.add(1)));
  layers_.clear();
  buffers_.clear();
  counters_.clear();
  open_ = false;
}

// A segment that is computed again has copies of the buffers: its statistics
// were pooled the first time.
void GroupedNorms::pool(const Call& call, const Pool& group) {
  if (!open_ || !call.running_mean.defined() ||
      buffers_.count(call.running_mean.unsafeGetTensorImpl()) == 0)
    return;
  Layer& layer = layers_[call.layer];
  layer.running_mean = call.running_mean;
  layer.running_var = call.running_var;
  layer.momentum = call.momentum;
  layer.pool.add(group);
}

// With a momentum of 1 running statistics are those of the group.
at::Tensor GroupedNorms::normalise_group(
    const Call& call,
    const at::Tensor& part,
    const at::Tensor& mean,
    const at::Tensor& var) const {
  if (fuse_) {
    const OpPointer op = make_norm_act({1, call.eps, true}, Activation::kNone);
    const FusedOp::Tensors inputs{part, call.weight, call.bias, mean, var, {}};
    if (op->takes(inputs)) return apply_fused(op, inputs);
  }
  return at::batch_norm(
      part, call.weight, call.bias, mean, var, true, 1, call.eps, false);
}

at::Tensor GroupedNorms::normalise(const Call& call) {
  const auto sizes = group_sizes(call.input.size(0), group_);
  const std::vector<at::Tensor> parts = sizes.size() == 1
      ? std::vector<at::Tensor>{call.input}
      : at::split_with_sizes(call.input, sizes);
  std::vector<at::Tensor> made;
  for (const at::Tensor& part : parts) {
    check_values_a_channel(part);
    at::Tensor mean, var;
    if (call.running_mean.defined()) {
      mean = at::zeros_like(call.running_mean);
      var = at::zeros_like(call.running_var);
    }
    made.push_back(normalise_group(call, part, mean, var));
    if (!mean.defined()) continue;
    const at::NoGradGuard no_grad;
    Pool group;
    group.count =
        static_cast<double>(part.numel()) / static_cast<double>(part.size(1));
    group.mean = mean.to(pool_type(mean));
    group.squares = var.to(pool_type(var)).mul(group.count - 1);
    pool(call, group);
  }
  return made.size() == 1 ? made.front() : at::cat(made);
}

NodeCall GroupedNorms::step_of(Arguments& a) {
  if (!a.boolean("training", true)) return {};
  std::vector<int> results;
  for (std::size_t i = 0; i < a.node().outputs.size(); ++i)
    if (std::holds_alternative<graph::TensorName>(a.node().outputs[i]))
      results.push_back(a.output(i));
  return [this,
          layer = layers_made_++,
          x = a.tensor("input"),
          weight = a.optional_tensor("weight"),
          bias = a.optional_tensor("bias"),
          mean = a.optional_tensor("running_mean"),
          var = a.optional_tensor("running_var"),
          momentum = a.number("momentum"),
          eps = a.number("eps"),
          results](Frame& f) {
    const Call call{
        layer,
        at_slot(f, x),
        at_slot(f, weight),
        at_slot(f, bias),
        at_slot(f, mean),
        at_slot(f, var),
        momentum.real(f),
        eps.real(f)};
    // Forms that hand out statistics get the running ones as they are: they
    // move when the update ends. Saved ones are LibTorch's own business.
    const std::vector<at::Tensor> all{
        normalise(call),
        at::Tensor(),
        at::Tensor(),
        call.running_mean,
        call.running_var};
    for (std::size_t i = 0; i < results.size() && i < all.size(); ++i)
      at_slot(f, results[i]) = all[i];
  };
}

StepMakers GroupedNorms::makers() {
  StepMakers table;
  for (const char* op :
       {"aten.batch_norm.default",
        "aten.native_batch_norm.default",
        "aten.cudnn_batch_norm.default",
        "aten._native_batch_norm_legit.default",
        "aten._native_batch_norm_legit.no_stats",
        "aten._native_batch_norm_legit_functional.default"})
    table[op] = [this](Arguments& arguments) { return step_of(arguments); };
  return table;
}

} // namespace temper::model

#include "temper/model/fused/fused_op.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <algorithm>
#include <memory>

#include "temper/base/error.h"

namespace temper::model {
namespace {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

// LibTorch counted references to nodes with std::shared_ptr, and since 2.14
// with its own pointer, whose nodes need no deleter. An edge's says which. The
// name deleteNode is looked up only where it is called.
template <class Pointer>
struct NewNode;

template <>
struct NewNode<std::shared_ptr<torch::autograd::Node>> {
  template <class Made>
  static auto make() {
    return std::shared_ptr<Made>(
        new Made, [](Made* node) { deleteNode(node); });
  }
};

template <>
struct NewNode<c10::intrusive_ptr<torch::autograd::Node>> {
  template <class Made>
  static auto make() {
    return c10::make_intrusive<Made>();
  }
};

// A pointer to a node that others point to already.
template <class Held>
auto pointer_to(Held& node) {
  if constexpr (requires { node.getptr(); })
    return node.getptr();
  else
    return node.shared_from_this();
}

using NodePointer = decltype(torch::autograd::Edge::function);

struct FusedBackward final : torch::autograd::Node {
  std::shared_ptr<const FusedOp> op;
  std::vector<SavedVariable> kept;
  std::vector<std::size_t> edges; // the input each edge belongs to
  std::size_t input_count = 0;
  SameByTorch again; // null: there are no second derivatives
  std::vector<SavedVariable> again_inputs;

  std::string name() const override {
    return "FusedBackward";
  }

  void release_variables() override {
    for (SavedVariable& saved : kept)
      saved.reset_data();
    for (SavedVariable& saved : again_inputs)
      saved.reset_data();
  }

  variable_list apply(variable_list&& gradients) override {
    variable_list found(edges.size());
    if (!gradients[0].defined()) return found;
    if (at::GradMode::is_enabled()) return differentiable(gradients[0]);
    const FusedOp::Tensors saved = unpacked(kept);
    std::vector<bool> wanted(input_count, false);
    for (std::size_t i = 0; i < edges.size(); ++i)
      wanted[edges[i]] = task_should_compute_output(i);
    FusedOp::Tensors all = op->backward(saved, gradients[0], wanted);
    for (std::size_t i = 0; i < edges.size(); ++i)
      if (wanted[edges[i]]) found[i] = std::move(all.at(edges[i]));
    return found;
  }

  FusedOp::Tensors unpacked(const std::vector<SavedVariable>& saved) {
    FusedOp::Tensors found;
    for (const SavedVariable& one : saved)
      found.push_back(one.unpack(pointer_to(*this)));
    return found;
  }

  // Gradients that have gradients themselves. Aliases stand for the inputs: one
  // that was computed from another would bring its share of the other's.
  variable_list differentiable(const at::Tensor& gradient) {
    if (again == nullptr)
      throw Error(
          "[model] fused kernels have no second derivatives.",
          "Train with kernels = \"stock\".");
    FusedOp::Tensors inputs = unpacked(again_inputs);
    for (at::Tensor& one : inputs)
      if (one.defined()) one = one.alias();
    variable_list wanted;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (!task_should_compute_output(i)) continue;
      wanted.push_back(inputs.at(edges[i]));
      places.push_back(i);
    }
    variable_list found(edges.size());
    if (wanted.empty()) return found;
    const variable_list all = torch::autograd::grad(
        {again(inputs)}, wanted, {gradient}, true, true, true);
    for (std::size_t i = 0; i < places.size(); ++i)
      found[places[i]] = all[i];
    return found;
  }
};

bool wants_gradient(const FusedOp::Tensors& inputs) {
  return std::ranges::any_of(inputs, [](const at::Tensor& input) {
    return input.defined() && input.requires_grad();
  });
}

} // namespace

at::Tensor apply_fused(
    const std::shared_ptr<const FusedOp>& op,
    const FusedOp::Tensors& inputs,
    const SecondDerivative* second) {
  if (!at::GradMode::is_enabled() || !wants_gradient(inputs)) {
    const at::NoGradGuard no_grad;
    return op->forward(inputs, nullptr);
  }
  const auto node = NewNode<NodePointer>::make<FusedBackward>();
  node->op = op;
  node->input_count = inputs.size();
  variable_list with_gradient;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].defined() && inputs[i].requires_grad()) {
      node->edges.push_back(i);
      with_gradient.push_back(inputs[i]);
    }
  node->set_next_edges(torch::autograd::collect_next_edges(with_gradient));
  FusedOp::Tensors saved;
  at::Tensor result;
  {
    const at::NoGradGuard no_grad;
    result = op->forward(inputs, &saved);
  }
  torch::autograd::set_history(result, node);
  for (const at::Tensor& one : saved)
    node->kept.emplace_back(one, one.defined() && one.is_same(result));
  if (second == nullptr) return result;
  node->again = second->again;
  for (const at::Tensor& one : second->inputs)
    node->again_inputs.emplace_back(one, false);
  return result;
}

} // namespace temper::model

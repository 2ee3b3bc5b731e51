#include "temper/graph/cost/storage_views.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "temper/graph/cost/storage_map.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/ir/saturating.h"

namespace temper::graph {
namespace {

using MaybeStrides = std::optional<Ints>;

MaybeStrides same(const NodeArguments&, const ViewOf& view) {
  return view.strides;
}

MaybeStrides reshaped(const NodeArguments&, const ViewOf& view) {
  return viewed(view.base.sizes, view.strides, view.made.sizes);
}

MaybeStrides transposed_strides(const NodeArguments& node, const ViewOf& view) {
  Ints strides = view.strides;
  const bool axes = node.given("axis0");
  const auto rank = strides.size();
  const auto a = node.axis(node.integer(axes ? "axis0" : "dim0"), rank);
  const auto b = node.axis(node.integer(axes ? "axis1" : "dim1"), rank);
  if (rank > 0) std::swap(strides[a], strides[b]);
  return strides;
}

MaybeStrides two_reversed(const NodeArguments&, const ViewOf& view) {
  Ints strides = view.strides;
  const auto rank = strides.size();
  if (rank >= 2) std::swap(strides[rank - 1], strides[rank - 2]);
  return strides;
}

MaybeStrides all_reversed(const NodeArguments&, const ViewOf& view) {
  return Ints(view.strides.rbegin(), view.strides.rend());
}

MaybeStrides permuted(const NodeArguments& node, const ViewOf& view) {
  Ints strides;
  for (const auto dim : node.integers("dims"))
    strides.push_back(view.strides[node.axis(dim, view.strides.size())]);
  return strides;
}

MaybeStrides stretched(const NodeArguments&, const ViewOf& view) {
  const auto rank = view.base.sizes.size();
  const auto added = view.made.sizes.size() - rank;
  Ints strides(added, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    const bool wider = view.base.sizes[i] != view.made.sizes[added + i];
    strides.push_back(wider ? 0 : view.strides[i]);
  }
  return strides;
}

MaybeStrides selected(const NodeArguments& node, const ViewOf& view) {
  Ints strides = view.strides;
  const auto axis = node.axis(node.integer("dim", 0), strides.size());
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return strides;
}

MaybeStrides sliced(const NodeArguments& node, const ViewOf& view) {
  Ints strides = view.strides;
  auto& stride = strides[node.axis(node.integer("dim", 0), strides.size())];
  stride = times(stride, node.integer("step", 1));
  return strides;
}

MaybeStrides unsqueezed(const NodeArguments& node, const ViewOf& view) {
  Ints strides = view.strides;
  const auto axis = node.axis(node.integer("dim"), strides.size() + 1);
  const auto stride = axis < strides.size()
      ? times(view.base.sizes[axis], view.strides[axis])
      : 1;
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis), stride);
  return strides;
}

MaybeStrides squeezed(const NodeArguments& node, const ViewOf& view) {
  const auto rank = view.strides.size();
  const bool all = !node.given("dim");
  std::vector<bool> may_go(std::max<std::size_t>(rank, 1), all);
  if (!all)
    for (const auto dim : node.integers("dim"))
      may_go[node.axis(dim, rank)] = true;
  Ints strides;
  for (std::size_t i = 0; i < rank; ++i)
    if (!may_go[i] || view.base.sizes[i] != 1)
      strides.push_back(view.strides[i]);
  return strides;
}

MaybeStrides unfolded(const NodeArguments& node, const ViewOf& view) {
  Ints strides = view.strides;
  const auto axis = node.axis(node.integer("dimension"), strides.size());
  const auto own = strides.at(axis);
  strides[axis] = times(own, node.integer("step"));
  strides.push_back(own);
  return strides;
}

MaybeStrides if_in_order(const NodeArguments&, const ViewOf& view) {
  if (!in_order(view.base.sizes, view.strides)) return std::nullopt;
  return view.strides;
}

MaybeStrides if_same_type(const NodeArguments& node, const ViewOf& view) {
  if (view.base.dtype != view.made.dtype || node.flag("copy", false))
    return std::nullopt;
  return view.strides;
}

// Dropout that drops nothing hands its input on.
MaybeStrides if_idle(const NodeArguments& node, const ViewOf& view) {
  if (node.flag("train", false) && node.real("p", 0.5) != 0)
    return std::nullopt;
  return view.strides;
}

using ViewRule = MaybeStrides (*)(const NodeArguments&, const ViewOf&);

const std::unordered_map<std::string_view, ViewRule>& stride_rules() {
  static const std::unordered_map<std::string_view, ViewRule> table{
      {"view", reshaped},
      {"reshape", reshaped},
      {"_unsafe_view", reshaped},
      {"_reshape_alias", reshaped},
      {"view_as", reshaped},
      {"reshape_as", reshaped},
      {"flatten", reshaped},
      {"unflatten", reshaped},
      {"transpose", transposed_strides},
      {"swapaxes", transposed_strides},
      {"swapdims", transposed_strides},
      {"t", two_reversed},
      {"mT", two_reversed},
      {"adjoint", two_reversed},
      {"numpy_T", all_reversed},
      {"permute", permuted},
      {"expand", stretched},
      {"expand_as", stretched},
      {"broadcast_to", stretched},
      {"unsqueeze", unsqueezed},
      {"squeeze", squeezed},
      {"slice", sliced},
      {"narrow", same},
      {"select", selected},
      {"unbind", selected},
      {"chunk", same},
      {"split", same},
      {"split_with_sizes", same},
      {"tensor_split", same},
      {"unfold", unfolded},
      {"detach", same},
      {"alias", same},
      {"lift_fresh", same},
      {"contiguous", if_in_order},
      {"to", if_same_type},
      {"type_as", if_same_type},
      {"dropout", if_idle},
      {"alpha_dropout", if_idle},
      {"feature_dropout", if_idle},
  };
  return table;
}

} // namespace

std::optional<Ints> view_strides(
    const NodeArguments& node,
    const ViewOf& view) {
  const OpName op = op_name(node.node().op);
  if (op.in_place && view.base.sizes == view.made.sizes) return view.strides;
  const auto rule = stride_rules().find(op.name);
  if (rule == stride_rules().end()) return std::nullopt;
  return rule->second(node, view);
}

} // namespace temper::graph

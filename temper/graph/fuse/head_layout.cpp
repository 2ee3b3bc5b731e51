#include "temper/graph/fuse/head_layout.h"

#include <algorithm>

#include "temper/graph/ir/node_arguments.h"

namespace temper::graph {
namespace {

using Kind = HeadAxis::Kind;
using Axes = std::vector<HeadAxis>;

HeadAxis features(std::int64_t size, std::int64_t stride) {
  return {Kind::kFeatures, size, stride};
}

// No value for a number that the graph computes.
std::optional<std::int64_t> literal(const Node& node, const char* name) {
  const Argument* argument = node.find(name);
  const auto* number =
      argument == nullptr ? nullptr : std::get_if<std::int64_t>(argument);
  if (number == nullptr) return std::nullopt;
  return *number;
}

// A dimension counted from the front or the end; no value if there is none.
std::optional<std::size_t> axis_place(
    std::optional<std::int64_t> dim,
    const Axes& axes) {
  if (!dim) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(axes.size());
  const std::int64_t place = *dim < 0 ? *dim + rank : *dim;
  if (place < 0 || place >= rank) return std::nullopt;
  return static_cast<std::size_t>(place);
}

// Neighbours that are one run of features become one axis; axes of one feature
// go.
Axes coarsest(const Axes& axes) {
  Axes merged;
  for (const HeadAxis& axis : axes) {
    const bool is_feature = axis.kind == Kind::kFeatures;
    if (is_feature && axis.size.value == 1) continue;
    if (is_feature && !merged.empty() &&
        merged.back().kind == Kind::kFeatures &&
        merged.back().stride == axis.size.value * axis.stride)
      merged.back() =
          features(merged.back().size.value * axis.size.value, axis.stride);
    else
      merged.push_back(axis);
  }
  return merged;
}

// The axes cut to new sizes, which have the same numbers in the same order.
std::optional<Axes> cut(const Axes& axes, const Sizes& sizes) {
  Axes found;
  std::size_t at = 0;
  for (const HeadAxis& axis : coarsest(axes)) {
    if (axis.kind != Kind::kFeatures) {
      if (at == sizes.size() || sizes[at] != axis.size) return std::nullopt;
      found.push_back(axis);
      ++at;
      continue;
    }
    std::int64_t left = axis.size.value;
    while (left > 1) {
      if (at == sizes.size() || !sizes[at].fixed() || sizes[at].value < 1 ||
          left % sizes[at].value != 0)
        return std::nullopt;
      left /= sizes[at].value;
      found.push_back(features(sizes[at].value, left * axis.stride));
      ++at;
    }
  }
  for (; at < sizes.size(); ++at) {
    if (!sizes[at].fixed() || sizes[at].value != 1) return std::nullopt;
    found.push_back(features(1, 1));
  }
  return found;
}

std::optional<HeadLayout>
moved(const Node& node, const std::string& name, const HeadLayout& from) {
  HeadLayout found = from;
  if (name == "transpose") {
    const auto a = axis_place(literal(node, "dim0"), from.axes);
    const auto b = axis_place(literal(node, "dim1"), from.axes);
    if (!a || !b) return std::nullopt;
    std::swap(found.axes[*a], found.axes[*b]);
    return found;
  }
  const Argument* dims = node.find("dims");
  const auto* order = dims == nullptr ? nullptr : std::get_if<Ints>(dims);
  if (order == nullptr || order->size() != from.axes.size())
    return std::nullopt;
  for (std::size_t i = 0; i < order->size(); ++i) {
    const auto place = axis_place((*order)[i], from.axes);
    if (!place) return std::nullopt;
    found.axes[i] = from.axes[*place];
  }
  return found;
}

// Pieces along a dimension of features, of these sizes one after the other.
std::vector<HeadLayout>
pieces(const HeadLayout& from, std::size_t place, const Ints& sizes) {
  std::vector<HeadLayout> found;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    HeadLayout one = from;
    one.first += begin * from.axes[place].stride;
    one.axes[place].size = size;
    found.push_back(std::move(one));
    begin += size;
  }
  return found;
}

std::vector<HeadLayout>
pieces_at(const GraphView& view, std::size_t index, const HeadLayout& from) {
  const Node& node = view.node(index);
  const auto place = axis_place(
      node.find("dim") == nullptr ? 0 : literal(node, "dim"), from.axes);
  if (!place || from.axes[*place].kind != Kind::kFeatures) return {};
  const bool unbound = view.name(index) == "unbind";
  Ints sizes;
  std::int64_t all = 0;
  for (const std::string& value : values_made(node)) {
    const Sizes& made = view.graph().meta(value).sizes;
    if (!unbound && (*place >= made.size() || !made[*place].fixed())) return {};
    sizes.push_back(unbound ? 1 : made[*place].value);
    all += sizes.back();
  }
  if (all != from.axes[*place].size.value) return {};
  std::vector<HeadLayout> found = pieces(from, *place, sizes);
  if (unbound)
    for (HeadLayout& one : found)
      one.axes.erase(one.axes.begin() + static_cast<std::ptrdiff_t>(*place));
  return found;
}

std::vector<HeadLayout> one_selected(const Node& node, const HeadLayout& from) {
  const auto place = axis_place(literal(node, "dim"), from.axes);
  const auto asked = literal(node, "index");
  if (!place || !asked || from.axes[*place].kind != Kind::kFeatures) return {};
  const HeadAxis& axis = from.axes[*place];
  const std::int64_t at = *asked < 0 ? *asked + axis.size.value : *asked;
  if (at < 0 || at >= axis.size.value) return {};
  HeadLayout one = from;
  one.first += at * axis.stride;
  one.axes.erase(one.axes.begin() + static_cast<std::ptrdiff_t>(*place));
  return {one};
}

template <class... Names>
bool is_one_of(const std::string& name, Names... names) {
  return ((name == names) || ...);
}

} // namespace

HeadLayout token_rows(const Size& batch, const Size& tokens, std::int64_t all) {
  return {
      {{Kind::kBatch, batch, 0}, {Kind::kTokens, tokens, 0}, features(all, 1)},
      0};
}

HeadLayout heads_of_tokens(
    const Size& batch,
    const Size& tokens,
    std::int64_t heads,
    std::int64_t width,
    std::int64_t first) {
  return {
      {{Kind::kBatch, batch, 0},
       features(heads, width),
       {Kind::kTokens, tokens, 0},
       features(width, 1)},
      first};
}

const HeadLayout* HeadLayouts::find(const std::string& value) const {
  const auto found = known_.find(value);
  return found == known_.end() ? nullptr : &found->second;
}

std::vector<HeadLayout> HeadLayouts::results(
    std::size_t index,
    const HeadLayout& from) const {
  const Node& node = view_.node(index);
  const std::string name = view_.name(index);
  if (is_one_of(name, "contiguous", "clone", "alias")) return {from};
  if (is_one_of(name, "view", "reshape", "_unsafe_view", "unflatten")) {
    const std::string result = view_.result(index);
    if (result.empty() || !view_.is_float(result)) return {};
    const auto axes = cut(from.axes, view_.graph().meta(result).sizes);
    if (!axes) return {};
    return {{*axes, from.first}};
  }
  if (is_one_of(name, "transpose", "permute")) {
    const auto found = moved(node, name, from);
    if (!found) return {};
    return {*found};
  }
  if (is_one_of(name, "chunk", "split", "split_with_sizes", "unbind"))
    return pieces_at(view_, index, from);
  if (name == "select") return one_selected(node, from);
  return {};
}

bool HeadLayouts::follow(std::size_t index) {
  const HeadLayout* from = find(NodeArguments(view_.node(index)).subject());
  if (from == nullptr) return false;
  const std::vector<HeadLayout> found = results(index, *from);
  const std::vector<std::string> made = values_made(view_.node(index));
  if (found.empty() || found.size() != made.size()) return false;
  for (std::size_t i = 0; i < made.size(); ++i)
    known_[made[i]] = found[i];
  nodes_.push_back(index);
  return true;
}

} // namespace temper::graph

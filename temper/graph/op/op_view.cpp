// The same elements under other dimensions: view, flatten, transpose, expand.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/weights.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

// Puts the one -1 right; refuses another number of elements.
Ints completed(const NodeShapes& node, Ints sizes, std::int64_t elements) {
  auto open = sizes.end();
  Ints others;
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    node.require(
        *size >= 0 || (*size == -1 && open == sizes.end()),
        cat("it cannot become ", sizes_text(sizes)));
    if (*size == -1)
      open = size;
    else
      others.push_back(*size);
  }
  const auto rest = element_count(others);
  const bool fits =
      open == sizes.end() ? rest == elements : rest > 0 && elements % rest == 0;
  node.require(
      fits,
      cat(plural(elements, "element"), " cannot become ", sizes_text(sizes)));
  if (open != sizes.end()) *open = elements / rest;
  return sizes;
}

void view(NodeShapes& node) {
  const Shape& input = node.tensor("self");
  // view(dtype) sees the bytes as another type of the same width.
  if (const auto type = node.dtype()) {
    node.require(
        bytes_of(*type) == bytes_of(input.dtype),
        "it is seen as a type of another width");
    node.give(*type, input.sizes);
    return;
  }
  const Ints wanted =
      node.given("shape") ? node.integers("shape") : node.integers("size");
  node.give(input.dtype, completed(node, wanted, element_count(input.sizes)));
}

void view_like(NodeShapes& node) {
  const Shape& input = node.tensor("self");
  const Ints wanted = node.tensor("other").sizes;
  node.give(input.dtype, completed(node, wanted, element_count(input.sizes)));
}

void flatten(NodeShapes& node) {
  const Shape& input = node.tensor("self");
  const auto rank = input.sizes.size();
  if (rank == 0) {
    node.give(input.dtype, {1});
    return;
  }
  const auto first = node.axis(node.integer("start_dim", 0), rank);
  const auto last = node.axis(node.integer("end_dim", -1), rank);
  node.require(first <= last, "it ends before it begins");
  const auto at = [&](std::size_t i) {
    return input.sizes.begin() + static_cast<std::ptrdiff_t>(i);
  };
  Ints sizes(at(0), at(first));
  sizes.push_back(element_count(Ints(at(first), at(last + 1))));
  sizes.insert(sizes.end(), at(last + 1), input.sizes.end());
  node.give(input.dtype, sizes);
}

void unflatten(NodeShapes& node) {
  const Shape& input = node.tensor("self");
  const auto axis = node.axis(node.integer("dim"), input.sizes.size());
  const Ints inner =
      completed(node, node.integers("sizes"), input.sizes.at(axis));
  Ints sizes = input.sizes;
  const auto place =
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  sizes.insert(place, inner.begin(), inner.end());
  node.give(input.dtype, sizes);
}

void transpose(NodeShapes& node) {
  Shape shape = node.tensor("self");
  const char* names[] = {"dim0", "dim1"};
  if (node.given("axis0")) {
    names[0] = "axis0";
    names[1] = "axis1";
  }
  const auto rank = shape.sizes.size();
  const auto first = node.axis(node.integer(names[0]), rank);
  const auto second = node.axis(node.integer(names[1]), rank);
  if (rank > 0) std::swap(shape.sizes[first], shape.sizes[second]);
  node.give(shape);
}

// t() and the properties T and mT.
void reverse_two(NodeShapes& node) {
  Shape shape = node.tensor("self");
  const auto rank = shape.sizes.size();
  if (rank >= 2) std::swap(shape.sizes[rank - 1], shape.sizes[rank - 2]);
  node.give(shape);
}

void reverse_all(NodeShapes& node) {
  Shape shape = node.tensor("self");
  std::reverse(shape.sizes.begin(), shape.sizes.end());
  node.give(shape);
}

void permute(NodeShapes& node) {
  const Shape& input = node.tensor("self");
  const Ints dims = node.integers("dims");
  const auto rank = input.sizes.size();
  std::vector<bool> seen(rank, false);
  Ints sizes;
  for (const auto dim : dims) {
    const auto axis = node.axis(dim, rank);
    node.require(
        axis < rank && !seen[axis],
        cat("the order ", sizes_text(dims), " is none"));
    seen[axis] = true;
    sizes.push_back(input.sizes[axis]);
  }
  node.require(
      sizes.size() == rank,
      cat("the order ", sizes_text(dims), " of ", sizes_text(input.sizes)));
  node.give(input.dtype, sizes);
}

void move_dim(NodeShapes& node) {
  const Shape& input = node.tensor("self");
  const auto rank = input.sizes.size();
  const Ints from = node.integers("source");
  const Ints to = node.integers("destination");
  node.require(from.size() == to.size(), "it moves to fewer places");
  Ints sizes(rank, -1);
  std::vector<bool> moved(rank, false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto axis = node.axis(from[i], rank);
    sizes.at(node.axis(to[i], rank)) = input.sizes.at(axis);
    moved[axis] = true;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (moved[i]) continue;
    while (next < rank && sizes[next] != -1)
      ++next;
    node.require(next < rank, "two dimensions move to one place");
    sizes[next] = input.sizes[i];
  }
  node.give(input.dtype, sizes);
}

void stretch(NodeShapes& node, Ints wanted) {
  const Shape& input = node.tensor("self");
  const auto rank = input.sizes.size();
  const std::string asked =
      cat(sizes_text(input.sizes), " cannot stretch to ", sizes_text(wanted));
  node.require(wanted.size() >= rank, asked);
  for (std::size_t i = 1; i <= wanted.size(); ++i) {
    auto& size = wanted[wanted.size() - i];
    if (i > rank) {
      node.require(size >= 0, asked);
      continue;
    }
    const auto own = input.sizes[rank - i];
    if (size == -1) size = own;
    node.require(size == own || own == 1, asked);
  }
  node.give(input.dtype, wanted);
}

void expand(NodeShapes& node) {
  stretch(node, node.integers("size"));
}

void expand_as(NodeShapes& node) {
  stretch(node, node.tensor("other").sizes);
}

void unsqueeze(NodeShapes& node) {
  Shape shape = node.tensor("self");
  const auto axis = node.axis(node.integer("dim"), shape.sizes.size() + 1);
  shape.sizes.insert(
      shape.sizes.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  node.give(shape);
}

void squeeze(NodeShapes& node) {
  const Shape& input = node.tensor("self");
  const auto rank = input.sizes.size();
  const bool all = !node.given("dim");
  std::vector<bool> may_go(std::max<std::size_t>(rank, 1), all);
  if (!all)
    for (const auto dim : node.integers("dim"))
      may_go[node.axis(dim, rank)] = true;
  Ints sizes;
  for (std::size_t i = 0; i < rank; ++i)
    if (!may_go[i] || input.sizes[i] != 1) sizes.push_back(input.sizes[i]);
  node.give(input.dtype, sizes);
}

void as_strided(NodeShapes& node) {
  node.give(node.tensor("self").dtype, node.integers("size"));
}

std::optional<Ints> transposed_strides(
    const NodeArguments& node,
    const ViewOf& view) {
  Ints strides = view.strides;
  const bool axes = node.given("axis0");
  const auto rank = strides.size();
  const auto a = node.axis(node.integer(axes ? "axis0" : "dim0"), rank);
  const auto b = node.axis(node.integer(axes ? "axis1" : "dim1"), rank);
  if (rank > 0) std::swap(strides[a], strides[b]);
  return strides;
}

std::optional<Ints> two_reversed(const NodeArguments&, const ViewOf& view) {
  Ints strides = view.strides;
  const auto rank = strides.size();
  if (rank >= 2) std::swap(strides[rank - 1], strides[rank - 2]);
  return strides;
}

std::optional<Ints> all_reversed(const NodeArguments&, const ViewOf& view) {
  return Ints(view.strides.rbegin(), view.strides.rend());
}

std::optional<Ints> permuted(const NodeArguments& node, const ViewOf& view) {
  Ints strides;
  for (const auto dim : node.integers("dims"))
    strides.push_back(view.strides[node.axis(dim, view.strides.size())]);
  return strides;
}

std::optional<Ints> stretched(const NodeArguments&, const ViewOf& view) {
  const auto rank = view.base.sizes.size();
  const auto added = view.made.sizes.size() - rank;
  Ints strides(added, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    const bool wider = view.base.sizes[i] != view.made.sizes[added + i];
    strides.push_back(wider ? 0 : view.strides[i]);
  }
  return strides;
}

std::optional<Ints> unsqueezed(const NodeArguments& node, const ViewOf& view) {
  Ints strides = view.strides;
  const auto axis = node.axis(node.integer("dim"), strides.size() + 1);
  const auto stride = axis < strides.size()
      ? times(view.base.sizes[axis], view.strides[axis])
      : 1;
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis), stride);
  return strides;
}

std::optional<Ints> squeezed(const NodeArguments& node, const ViewOf& view) {
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

std::optional<Ints> moved_strides(
    const NodeArguments& node,
    const ViewOf& view) {
  const auto rank = view.strides.size();
  const Ints from = node.integers("source");
  const Ints to = node.integers("destination");
  std::vector<std::size_t> order(rank, rank); // of the base, by place
  std::vector<bool> moved(rank, false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto axis = node.axis(from[i], rank);
    order.at(node.axis(to[i], rank)) = axis;
    moved.at(axis) = true;
  }
  std::size_t next = 0;
  for (auto& axis : order) {
    if (axis != rank) continue;
    while (moved.at(next))
      ++next;
    axis = next++;
  }
  Ints strides;
  for (const auto axis : order)
    strides.push_back(view.strides[axis]);
  return strides;
}

std::optional<Ints> given_strides(const NodeArguments& node, const ViewOf&) {
  return node.integers("stride");
}

// One dimension along both, at the end.
std::optional<Ints> diagonal_strides(
    const NodeArguments& node,
    const ViewOf& view) {
  const auto rank = view.strides.size();
  const auto first = node.axis(node.integer("dim1", 0), rank);
  const auto second = node.axis(node.integer("dim2", 1), rank);
  Ints strides;
  for (std::size_t i = 0; i < rank; ++i)
    if (i != first && i != second) strides.push_back(view.strides[i]);
  strides.push_back(plus(view.strides.at(first), view.strides.at(second)));
  return strides;
}

// Each result for a list is a view of a tensor of its own.
std::optional<Ints> reshaped_alone(
    const NodeArguments& node,
    const ViewOf& view) {
  return node.given("self") ? reshaped(node, view) : std::nullopt;
}

Operator viewing(
    ShapeRule shape,
    MemoryRule memory,
    Dimensions dimensions = Dimensions::kOther,
    ToldSizes told = ToldSizes::kNone) {
  return {
      .shape = shape,
      .memory = memory,
      .gradient = Gradient::kHandedOn,
      .dimensions = dimensions,
      .told = told};
}

// The gradients of what lies in one place are added up.
Operator repeating(
    ShapeRule shape,
    MemoryRule memory,
    ToldSizes told = ToldSizes::kNone) {
  Operator page = viewing(shape, memory, Dimensions::kOther, told);
  page.gradient = Gradient::kComputed;
  return page;
}

} // namespace

const OperatorRows& view_operators() {
  static const OperatorRows rows{
      {{"view", "reshape", "_unsafe_view"},
       on_any_threads(viewing(
           view, reshaped, Dimensions::kRegrouped, ToldSizes::kViewed))},
      {{"_reshape_alias"}, viewing(view, reshaped)},
      {{"view_as", "reshape_as"}, viewing(view_like, reshaped)},
      {{"flatten"},
       on_any_threads(viewing(flatten, reshaped, Dimensions::kRegrouped))},
      {{"ravel"}, viewing(nullptr, reshaped)},
      {{"atleast_1d", "atleast_2d", "atleast_3d"},
       viewing(nullptr, reshaped_alone)},
      {{"unflatten"},
       on_any_threads(viewing(
           unflatten, reshaped, Dimensions::kOther, ToldSizes::kViewed))},
      {{"transpose", "swapdims"},
       on_any_threads(
           viewing(transpose, transposed_strides, Dimensions::kSwapped))},
      {{"swapaxes"}, viewing(transpose, transposed_strides)},
      {{"t"},
       on_any_threads(
           viewing(reverse_two, two_reversed, Dimensions::kSwapped))},
      {{"mT", "adjoint"}, viewing(reverse_two, two_reversed)},
      {{"numpy_T"}, viewing(reverse_all, all_reversed)},
      {{"permute"},
       on_any_threads(viewing(permute, permuted, Dimensions::kPermuted))},
      {{"movedim", "moveaxis"},
       on_any_threads(viewing(move_dim, moved_strides))},
      {{"unsqueeze"},
       on_any_threads(viewing(unsqueeze, unsqueezed, Dimensions::kInserted))},
      {{"squeeze"},
       on_any_threads(viewing(squeeze, squeezed, Dimensions::kSqueezed))},
      {{"expand", "broadcast_to"},
       repeating(expand, stretched, ToldSizes::kAnywhere)},
      {{"expand_as"}, repeating(expand_as, stretched)},
      {{"as_strided"},
       repeating(as_strided, given_strides, ToldSizes::kAnywhere)},
      {{"diagonal"}, repeating(nullptr, diagonal_strides)},
  };
  return rows;
}

} // namespace temper::graph

// The same elements under other dimensions: view, flatten, transpose, expand.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/infer/infer_rules.h"
#include "temper/graph/ir/weights.h"

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

} // namespace

const ShapeRules& view_rules() {
  static const ShapeRules rules{
      {"view", view},           {"reshape", view},
      {"_unsafe_view", view},   {"_reshape_alias", view},
      {"view_as", view_like},   {"reshape_as", view_like},
      {"flatten", flatten},     {"unflatten", unflatten},
      {"transpose", transpose}, {"swapaxes", transpose},
      {"swapdims", transpose},  {"t", reverse_two},
      {"mT", reverse_two},      {"adjoint", reverse_two},
      {"numpy_T", reverse_all}, {"permute", permute},
      {"movedim", move_dim},    {"moveaxis", move_dim},
      {"expand", expand},       {"broadcast_to", expand},
      {"expand_as", expand_as}, {"unsqueeze", unsqueeze},
      {"squeeze", squeeze},     {"as_strided", as_strided},
  };
  return rules;
}

} // namespace temper::graph

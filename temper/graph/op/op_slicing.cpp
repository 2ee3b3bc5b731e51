// Parts of tensors and tensors put together: slice, chunk, cat, repeat.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/op/dtype_promotion.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

// An index counted from the end when negative, kept within the size.
std::int64_t clamped_index(std::int64_t index, std::int64_t size) {
  if (index < 0) index = index < -size ? 0 : index + size;
  return std::min(index, size);
}

void slice(NodeShapes& node) {
  Shape shape = node.tensor("self");
  auto& size =
      shape.sizes.at(node.axis(node.integer("dim", 0), shape.sizes.size()));
  const auto begin = clamped_index(node.integer("start", 0), size);
  const auto end = clamped_index(node.integer("end", size), size);
  const auto step = node.integer("step", 1);
  node.require(step >= 1, cat("a step of ", step));
  const auto length = std::max<std::int64_t>(end - begin, 0);
  size = length / step + (length % step != 0 ? 1 : 0);
  node.give(shape);
}

void narrow(NodeShapes& node) {
  Shape shape = node.tensor("self");
  auto& size =
      shape.sizes.at(node.axis(node.integer("dim"), shape.sizes.size()));
  const auto length = node.integer("length");
  node.require(
      length >= 0 && length <= size, cat(length, " of a size of ", size));
  size = length;
  node.give(shape);
}

void select(NodeShapes& node) {
  Shape shape = node.tensor("self");
  const auto axis = node.axis(node.integer("dim"), shape.sizes.size());
  const auto size = shape.sizes.at(axis);
  const auto index = node.integer("index");
  node.require(
      index >= -size && index < size,
      cat("index ", index, " of a size of ", size));
  shape.sizes.erase(shape.sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  node.give(shape);
}

// The parts of one dimension, each of that size.
void give_parts(NodeShapes& node, std::size_t axis, const Ints& parts) {
  std::vector<Shape> shapes(parts.size(), node.tensor("self"));
  for (std::size_t i = 0; i < parts.size(); ++i)
    shapes[i].sizes[axis] = parts[i];
  node.give_all(shapes);
}

// The number of results that the graph names; so that no count of parts,
// however large, makes a list of its own.
std::size_t results_of(const NodeShapes& node) {
  std::size_t count = 0;
  for (const auto& output : node.node().outputs)
    count += tensors_in(output).size();
  return count;
}

void give_equal_parts(
    NodeShapes& node,
    std::size_t axis,
    std::int64_t part_size) {
  const auto size = node.tensor("self").sizes[axis];
  node.require(part_size >= 1 || size == 0, cat("parts of ", part_size));
  Ints parts;
  std::int64_t left = size;
  do {
    parts.push_back(std::min(part_size, left));
    left -= parts.back();
  } while (left > 0 && parts.size() <= results_of(node));
  node.require(
      parts.size() == results_of(node),
      cat("a size of ",
          size,
          " in parts of ",
          part_size,
          " does not make ",
          plural(static_cast<std::int64_t>(results_of(node)), "tensor")));
  give_parts(node, axis, parts);
}

std::size_t split_axis(const NodeShapes& node) {
  const auto rank = node.tensor("self").sizes.size();
  node.require(rank > 0, "a tensor without dimensions has no parts");
  return node.axis(node.integer("dim", 0), rank);
}

void chunk(NodeShapes& node) {
  const auto axis = split_axis(node);
  const auto size = node.tensor("self").sizes[axis];
  const auto chunks = node.integer("chunks");
  node.require(chunks >= 1, cat(chunks, " parts"));
  const auto part = size / chunks + (size % chunks != 0 ? 1 : 0);
  give_equal_parts(node, axis, part);
}

void split_parts(NodeShapes& node) {
  const auto axis = split_axis(node);
  const char* name = "split_size";
  for (const char* each : {"split_sizes", "split_size"})
    if (node.given(each)) name = each;
  const Ints parts = node.integers(name);
  if (std::string(name) == "split_size" && parts.size() == 1) {
    give_equal_parts(node, axis, parts.front());
    return;
  }
  std::int64_t left = node.tensor("self").sizes[axis];
  for (const auto part : parts) {
    node.require(
        part >= 0 && part <= left, cat("the parts ", sizes_text(parts)));
    left -= part;
  }
  node.require(left == 0, cat("the parts ", sizes_text(parts)));
  give_parts(node, axis, parts);
}

void tensor_split(NodeShapes& node) {
  const auto axis = split_axis(node);
  const auto size = node.tensor("self").sizes[axis];
  const auto count = node.integer("sections");
  node.require(
      count >= 1 && static_cast<std::size_t>(count) == results_of(node),
      cat(count, " parts"));
  Ints parts;
  for (std::int64_t i = 0; i < count; ++i)
    parts.push_back(size / count + (i < size % count ? 1 : 0));
  give_parts(node, axis, parts);
}

void unbind(NodeShapes& node) {
  const auto axis = split_axis(node);
  Shape shape = node.tensor("self");
  node.require(
      static_cast<std::size_t>(shape.sizes[axis]) == results_of(node),
      cat("a size of ",
          shape.sizes[axis],
          " does not make ",
          plural(static_cast<std::int64_t>(results_of(node)), "tensor")));
  shape.sizes.erase(shape.sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  node.give_all(std::vector<Shape>(results_of(node), shape));
}

DType common_type(const std::vector<Shape>& shapes) {
  Promotion promotion;
  for (const auto& shape : shapes)
    promotion.add_tensor(shape.dtype, !shape.sizes.empty());
  return promotion.result();
}

void cat_rule(NodeShapes& node) {
  const auto shapes = node.tensors("tensors");
  // PyTorch still takes an empty vector among larger tensors.
  std::vector<Shape> parts;
  for (const auto& shape : shapes)
    if (shape.sizes != Ints{0}) parts.push_back(shape);
  node.require(!shapes.empty(), "it puts nothing together");
  if (parts.empty()) parts.push_back(shapes.front());
  Ints sizes = parts.front().sizes;
  node.require(!sizes.empty(), "its tensors have no dimensions");
  const auto axis = node.axis(node.integer("dim", 0), sizes.size());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    Ints others = parts[i].sizes;
    const bool same_rank = others.size() == sizes.size();
    const auto along = same_rank ? others[axis] : 0;
    if (same_rank) others[axis] = sizes[axis];
    node.require(
        same_rank && others == sizes,
        cat(sizes_text(parts[0].sizes),
            " and ",
            sizes_text(parts[i].sizes),
            " do not go together"));
    sizes[axis] = plus(sizes[axis], along);
  }
  node.give(common_type(shapes), sizes);
}

void stack(NodeShapes& node) {
  const auto shapes = node.tensors("tensors");
  node.require(!shapes.empty(), "it puts nothing together");
  Ints sizes = shapes.front().sizes;
  for (const auto& shape : shapes)
    node.require(
        shape.sizes == sizes,
        cat(sizes_text(sizes),
            " and ",
            sizes_text(shape.sizes),
            " do not go together"));
  const auto axis = node.axis(node.integer("dim", 0), sizes.size() + 1);
  sizes.insert(
      sizes.begin() + static_cast<std::ptrdiff_t>(axis),
      static_cast<std::int64_t>(shapes.size()));
  node.give(common_type(shapes), sizes);
}

void repeat(NodeShapes& node) {
  Shape shape = node.tensor("self");
  Ints times =
      node.given("repeats") ? node.integers("repeats") : node.integers("dims");
  // tile() takes fewer numbers than there are dimensions, repeat() does not.
  if (times.size() < shape.sizes.size())
    times.insert(times.begin(), shape.sizes.size() - times.size(), 1);
  shape.sizes.insert(shape.sizes.begin(), times.size() - shape.sizes.size(), 1);
  for (std::size_t i = 0; i < times.size(); ++i) {
    node.require(
        times[i] >= 0 && times[i] <= INT32_MAX && shape.sizes[i] <= INT32_MAX,
        cat("repeated ", sizes_text(times)));
    shape.sizes[i] *= times[i];
  }
  node.give(shape);
}

void unfold(NodeShapes& node) {
  Shape shape = node.tensor("self");
  const auto axis = node.axis(node.integer("dimension"), shape.sizes.size());
  const auto window = node.integer("size");
  auto& size = shape.sizes.at(axis);
  size = positions(node, size, {window, node.integer("step")});
  shape.sizes.push_back(window);
  node.give(shape);
}

std::optional<Ints> selected(const NodeArguments& node, const ViewOf& view) {
  Ints strides = view.strides;
  const auto axis = node.axis(node.integer("dim", 0), strides.size());
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return strides;
}

std::optional<Ints> sliced(const NodeArguments& node, const ViewOf& view) {
  Ints strides = view.strides;
  auto& stride = strides[node.axis(node.integer("dim", 0), strides.size())];
  stride = times(stride, node.integer("step", 1));
  return strides;
}

std::optional<Ints> unfolded(const NodeArguments& node, const ViewOf& view) {
  Ints strides = view.strides;
  const auto axis = node.axis(node.integer("dimension"), strides.size());
  const auto own = strides.at(axis);
  strides[axis] = times(own, node.integer("step"));
  strides.push_back(own);
  return strides;
}

// The gradient of a part is one of the whole, with zeros around it.
Operator parting(
    ShapeRule shape,
    MemoryRule memory,
    ToldSizes told,
    Dimensions dimensions = Dimensions::kOther) {
  return {
      .shape = shape,
      .memory = memory,
      .gradient = Gradient::kComputed,
      .dimensions = dimensions,
      .told = told};
}

Operator joining(ShapeRule shape) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kHandedOn,
      .flops = 0};
}

} // namespace

const OperatorRows& part_operators() {
  static const OperatorRows rows{
      {{"slice"},
       on_any_threads(
           parting(slice, sliced, ToldSizes::kPart, Dimensions::kSliced))},
      {{"narrow"}, on_any_threads(parting(narrow, whole, ToldSizes::kPart))},
      {{"select"},
       on_any_threads(
           parting(select, selected, ToldSizes::kPart, Dimensions::kSelected))},
      {{"chunk"}, on_any_threads(parting(chunk, whole, ToldSizes::kPart))},
      {{"split", "split_with_sizes"},
       on_any_threads(parting(split_parts, whole, ToldSizes::kPart))},
      {{"tensor_split"}, parting(tensor_split, whole, ToldSizes::kPart)},
      {{"unbind"}, on_any_threads(parting(unbind, selected, ToldSizes::kNone))},
      {{"unfold"}, parting(unfold, unfolded, ToldSizes::kPart)},
      {{"cat", "concat", "concatenate"}, on_any_threads(joining(cat_rule))},
      {{"stack"}, on_any_threads(joining(stack))},
      {{"repeat", "tile"}, parting(repeat, fresh, ToldSizes::kAnywhere)},
  };
  return rows;
}

} // namespace temper::graph

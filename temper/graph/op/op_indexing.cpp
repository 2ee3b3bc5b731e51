// Look-ups: embeddings, gather, and indexing with tensors.
#include "temper/base/text.h"
#include "temper/graph/ir/weights.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

void embedding(NodeShapes& node) {
  const Shape& weight = node.tensor("weight");
  node.require(
      weight.sizes.size() == 2,
      cat("its weight is ", sizes_text(weight.sizes)));
  Ints sizes = node.tensor("indices").sizes;
  sizes.push_back(weight.sizes[1]);
  node.give(weight.dtype, sizes);
}

void one_hot(NodeShapes& node) {
  Ints sizes = node.tensor("self").sizes;
  const auto classes = node.integer("num_classes", -1);
  node.require(classes >= 1, "its number of classes depends on the data");
  sizes.push_back(classes);
  node.give(DType::kInt64, sizes);
}

void gather(NodeShapes& node) {
  node.give(node.tensor("self").dtype, node.tensor("index").sizes);
}

void index_select(NodeShapes& node) {
  Shape shape = node.tensor("self");
  const Shape& index = node.tensor("index");
  const auto axis = node.axis(node.integer("dim"), shape.sizes.size());
  if (!shape.sizes.empty())
    shape.sizes[axis] = index.sizes.empty() ? 1 : index.sizes.front();
  node.give(shape);
}

// x[:, i, j]: the indices broadcast together and stand where the first of them
// stood, or in front when something lies between them. A mask's result depends
// on the data.
void index(NodeShapes& node) {
  const Shape& self = node.tensor("self");
  const Argument* argument = node.node().find("indices");
  std::vector<std::optional<TensorName>> places;
  if (const auto* optional = std::get_if<OptionalTensorNames>(argument))
    places = *optional;
  else if (const auto* names = std::get_if<TensorNames>(argument))
    places.assign(names->begin(), names->end());
  node.require(
      !places.empty() && places.size() <= self.sizes.size(),
      cat(places.size(), " indices into ", sizes_text(self.sizes)));

  std::vector<Ints> indices;
  Ints kept;
  std::optional<std::size_t> first;
  std::optional<std::size_t> last;
  bool adjacent = true;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i]) {
      kept.push_back(self.sizes[i]);
      continue;
    }
    const Shape& shape = *node.shape_of(*places[i]);
    node.require(
        shape.dtype != DType::kBool && shape.dtype != DType::kUint8,
        "how much a mask picks depends on the data");
    indices.push_back(shape.sizes);
    if (!first) first = i;
    if (last && *last + 1 != i) adjacent = false;
    last = i;
  }
  node.require(first.has_value(), "it has no index");
  const auto picked = broadcast(indices);
  node.require(picked.has_value(), "its indices do not go together");
  kept.insert(
      kept.end(),
      self.sizes.begin() + static_cast<std::ptrdiff_t>(places.size()),
      self.sizes.end());
  kept.insert(
      kept.begin() + static_cast<std::ptrdiff_t>(adjacent ? *first : 0),
      picked->begin(),
      picked->end());
  node.give(self.dtype, kept);
}

void repeat_interleave(NodeShapes& node) {
  Shape shape = node.tensor("self");
  const auto times = node.integer("repeats");
  node.require(
      times >= 0 && times <= INT32_MAX, cat("repeated ", times, " times"));
  if (!node.given("dim")) {
    Ints factors = shape.sizes;
    factors.push_back(times);
    shape.sizes = {element_count(factors)};
  } else {
    auto& size =
        shape.sizes.at(node.axis(node.integer("dim"), shape.sizes.size()));
    node.require(size <= INT32_MAX, "it is too large");
    size *= times;
  }
  node.give(shape);
}

void save_indices(SavedContext& node) {
  for (const char* name : {"indices", "index"})
    node.keep(name);
}

Operator looking_up(ShapeRule shape, SaveRule saved, int flops = 1) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = saved,
      .flops = flops};
}

} // namespace

const OperatorRows& indexing_operators() {
  static const OperatorRows rows{
      // The gradients of a row are added up by one thread.
      {{"embedding"}, on_any_threads(looking_up(embedding, save_indices, 0))},
      {{"index", "_unsafe_index"}, looking_up(index, save_indices, 0)},
      {{"gather"}, looking_up(gather, save_indices)},
      {{"take_along_dim"}, looking_up(gather, nullptr)},
      {{"index_select"}, looking_up(index_select, save_indices)},
      {{"repeat_interleave"}, looking_up(repeat_interleave, nullptr)},
      {{"scatter",
        "scatter_add",
        "scatter_reduce",
        "index_put",
        "index_add",
        "index_copy",
        "index_fill",
        "slice_scatter",
        "select_scatter"},
       looking_up(like_first, nullptr)},
      {{"one_hot"},
       {.shape = one_hot, .memory = fresh, .gradient = Gradient::kCut}},
  };
  return rows;
}

} // namespace temper::graph

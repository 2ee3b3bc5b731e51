#include "temper/graph/op/op_rules.h"

#include "temper/base/text.h"
#include "temper/graph/ir/strides.h"
#include "temper/graph/op/dtype_promotion.h"

namespace temper::graph {

void like_first(NodeShapes& node) {
  node.give(node.first_tensor());
}

void like_first_real(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  node.give(
      node.dtype().value_or(
          op_name(node.node().op).in_place ? input.dtype
                                           : float_of(input.dtype)),
      input.sizes);
}

// softmax, cumsum and to: another type when one is asked for.
void like_first_typed(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  node.give(node.dtype().value_or(input.dtype), input.sizes);
}

void running_sum(NodeShapes& node) {
  const Shape& input = node.first_tensor();
  const DType natural = is_floating(input.dtype) ? input.dtype : DType::kInt64;
  node.give(node.dtype().value_or(natural), input.sizes);
}

std::optional<Ints> broadcast(const std::vector<Ints>& shapes) {
  Ints result;
  for (const auto& shape : shapes) {
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    for (std::size_t i = 1; i <= shape.size(); ++i) {
      const auto size = shape[shape.size() - i];
      auto& widest = result[result.size() - i];
      if (size == widest || size == 1) continue;
      if (widest != 1) return std::nullopt;
      widest = size;
    }
  }
  return result;
}

std::int64_t
positions(const NodeShapes& node, std::int64_t size, const Window& window) {
  const auto sane = [](std::int64_t number, std::int64_t low) {
    return number >= low && number <= INT32_MAX;
  };
  node.require(
      sane(window.kernel, 1) && sane(window.stride, 1) &&
          sane(window.padding_low, 0) && sane(window.padding_high, 0) &&
          sane(window.dilation, 1) && sane(size, 0),
      "its window, stride, padding or dilation is out of range");
  const std::int64_t padded = size + window.padding_low + window.padding_high;
  const std::int64_t reach = window.dilation * (window.kernel - 1) + 1;
  node.require(
      padded >= reach,
      cat("a window of ", reach, " does not fit into ", padded));
  const std::int64_t room = padded - reach;
  std::int64_t count = room / window.stride + 1;
  if (window.round_up && room % window.stride != 0) {
    // The last window must begin inside the input or its low padding.
    if (count * window.stride < size + window.padding_low) ++count;
  }
  return count;
}

std::optional<Ints> fresh(const NodeArguments&, const ViewOf&) {
  return std::nullopt;
}

std::optional<Ints> whole(const NodeArguments&, const ViewOf& view) {
  return view.strides;
}

std::optional<Ints> reshaped(const NodeArguments&, const ViewOf& view) {
  return viewed(view.base.sizes, view.strides, view.made.sizes);
}

void save_input(SavedContext& node) {
  node.keep_input();
}

void save_result(SavedContext& node) {
  node.keep_result();
}

// In place they need only the result.
void save_input_or_result(SavedContext& node) {
  if (op_name(node.node().op).in_place)
    node.keep_result();
  else
    node.keep_input();
}

void save_input_and_result(SavedContext& node) {
  node.keep_input();
  node.keep_result();
}

void save_both(SavedContext& node) {
  node.keep_input();
  node.keep("other");
}

bool always_draws(const NodeArguments&) {
  return true;
}

Operator computing(ShapeRule shape, SaveRule saved) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = saved};
}

Operator on_any_threads(Operator page) {
  page.threads = Threads::kDoNotMatter;
  return page;
}

Ints matrix_batch(const Shape& shape) {
  if (shape.sizes.size() < 3) return {};
  return {shape.sizes.begin(), shape.sizes.end() - 2};
}

} // namespace temper::graph

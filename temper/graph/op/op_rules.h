// Rules that several families share.
// Private to graph/op.
#pragma once

#include <optional>
#include <vector>

#include "temper/graph/op/node_shapes.h"
#include "temper/graph/op/op_families.h"
#include "temper/graph/op/saved_context.h"

namespace temper::graph {

// Shapes. The result looks like the first tensor; in its floating type, or in
// the type that is asked for.
void like_first(NodeShapes& node);
void like_first_real(NodeShapes& node);
void like_first_typed(NodeShapes& node);
void running_sum(NodeShapes& node);

// The shape that all of these stretch to; no value when they do not.
std::optional<Ints> broadcast(const std::vector<Ints>& shapes);

// Where a window of that size fits; refuses one that is larger than what it
// slides over.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding_low = 0;
  std::int64_t padding_high = 0;
  std::int64_t dilation = 1;
  bool round_up = false;
};
std::int64_t
positions(const NodeShapes& node, std::int64_t size, const Window& window);

// Memory: of its own, the whole of the first tensor's, or that one seen under
// other sizes where its strides allow it.
std::optional<Ints> fresh(const NodeArguments&, const ViewOf&);
std::optional<Ints> whole(const NodeArguments&, const ViewOf& view);
std::optional<Ints> reshaped(const NodeArguments&, const ViewOf& view);

// Rules of what is kept for the backward pass.
void save_input(SavedContext& node);
void save_result(SavedContext& node);
void save_input_and_result(SavedContext& node);
// In place they need only the result.
void save_input_or_result(SavedContext& node);
void save_both(SavedContext& node);

// The rule of an operator that draws random numbers whatever its arguments.
bool always_draws(const NodeArguments&);

// The page of an operator that computes new memory and whose gradient is
// computed, too; it keeps nothing unless `saved` says so.
Operator computing(ShapeRule shape, SaveRule saved = nullptr);

// The page with bits that no number of threads changes.
Operator on_any_threads(Operator page);

// All but the last two dimensions of a tensor that has more.
Ints matrix_batch(const Shape& shape);

} // namespace temper::graph

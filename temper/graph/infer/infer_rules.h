// The tables of shape rules, one per family of operators and file; infer.cpp
// looks a node's operator up in them.
// Private to graph/infer.
#pragma once

#include <optional>
#include <vector>

#include "temper/graph/infer/node_shapes.h"

namespace temper::graph {

struct ShapeRule {
  const char* name; // "conv2d": every overload, in place or not
  void (*apply)(NodeShapes&);
};

using ShapeRules = std::vector<ShapeRule>;

const ShapeRules& convolution_rules();
const ShapeRules& pooling_rules();
const ShapeRules& resize_rules();
const ShapeRules& normalisation_rules();
const ShapeRules& elementwise_rules();
const ShapeRules& reduction_rules();
const ShapeRules& view_rules();
const ShapeRules& part_rules();
const ShapeRules& linear_algebra_rules();
const ShapeRules& recurrent_rules();
const ShapeRules& indexing_rules();
const ShapeRules& creation_rules();
const ShapeRules& number_rules();

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

// The rule of an operator whose result looks like the first tensor.
void like_first(NodeShapes& node);

} // namespace temper::graph

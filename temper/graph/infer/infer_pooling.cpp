// Pooling over windows and to a given size.
#include "temper/base/text.h"
#include "temper/graph/infer/infer_rules.h"

namespace temper::graph {
namespace {

template <std::size_t kSpatial>
Shape pooled(const NodeShapes& node) {
  Shape shape = node.tensor("self");
  node.require(
      shape.sizes.size() > kSpatial,
      cat("its input ", sizes_text(shape.sizes), " has too few dimensions"));
  const Ints kernel = node.repeated("kernel_size", kSpatial, {1});
  const Ints stride = node.repeated("stride", kSpatial, kernel);
  const Ints padding = node.repeated("padding", kSpatial, {0});
  const Ints dilation = node.repeated("dilation", kSpatial, {1});
  const bool round_up = node.flag("ceil_mode", false);
  const auto first = shape.sizes.size() - kSpatial;
  for (std::size_t i = 0; i < kSpatial; ++i)
    shape.sizes[first + i] = positions(
        node,
        shape.sizes[first + i],
        {kernel[i], stride[i], padding[i], padding[i], dilation[i], round_up});
  return shape;
}

template <std::size_t kSpatial>
void pool(NodeShapes& node) {
  node.give(pooled<kSpatial>(node));
}

template <std::size_t kSpatial>
void pool_with_indices(NodeShapes& node) {
  const Shape values = pooled<kSpatial>(node);
  node.give_all({values, {DType::kInt64, values.sizes}});
}

template <std::size_t kSpatial>
Shape adapted(const NodeShapes& node) {
  Shape shape = node.tensor("self");
  node.require(
      shape.sizes.size() > kSpatial,
      cat("its input ", sizes_text(shape.sizes), " has too few dimensions"));
  const Ints wanted = node.repeated("output_size", kSpatial, {1});
  const auto first = shape.sizes.size() - kSpatial;
  for (std::size_t i = 0; i < kSpatial; ++i)
    shape.sizes[first + i] = wanted[i];
  return shape;
}

template <std::size_t kSpatial>
void adaptive_mean(NodeShapes& node) {
  node.give(adapted<kSpatial>(node));
}

template <std::size_t kSpatial>
void adaptive_max(NodeShapes& node) {
  const Shape values = adapted<kSpatial>(node);
  node.give_all({values, {DType::kInt64, values.sizes}});
}

} // namespace

const ShapeRules& pooling_rules() {
  static const ShapeRules rules{
      {"max_pool1d", pool<1>},
      {"max_pool2d", pool<2>},
      {"max_pool3d", pool<3>},
      {"max_pool1d_with_indices", pool_with_indices<1>},
      {"max_pool2d_with_indices", pool_with_indices<2>},
      {"max_pool3d_with_indices", pool_with_indices<3>},
      {"avg_pool1d", pool<1>},
      {"avg_pool2d", pool<2>},
      {"avg_pool3d", pool<3>},
      {"adaptive_avg_pool1d", adaptive_mean<1>},
      {"adaptive_avg_pool2d", adaptive_mean<2>},
      {"adaptive_avg_pool3d", adaptive_mean<3>},
      {"_adaptive_avg_pool2d", adaptive_mean<2>},
      {"adaptive_max_pool1d", adaptive_max<1>},
      {"adaptive_max_pool2d", adaptive_max<2>},
      {"adaptive_max_pool3d", adaptive_max<3>},
  };
  return rules;
}

} // namespace temper::graph

// Pooling over windows and to a given size.
#include "temper/base/text.h"
#include "temper/graph/op/op_rules.h"

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

void save_max_pool(SavedContext& node) {
  node.keep_input();
  node.keep_bytes(bytes_of(Shape{DType::kInt64, node.result().sizes}));
}

Operator pooling(ShapeRule shape, SaveRule saved, Layer layer = Layer::kOther) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = saved,
      .dimensions = Dimensions::kKept,
      .layer = layer};
}

// LibTorch computes a pooling to one cell as a mean.
Operator or_a_mean(Operator page) {
  page.threads = Threads::kMatterForOneCell;
  return page;
}

} // namespace

const OperatorRows& pooling_operators() {
  static const OperatorRows rows{
      {{"max_pool1d"}, pooling(pool<1>, save_max_pool)},
      // One thread has all cells of an image or of a channel.
      {{"max_pool2d"},
       on_any_threads(pooling(pool<2>, save_max_pool, Layer::kMaxPool2d))},
      {{"max_pool3d"}, pooling(pool<3>, save_max_pool)},
      {{"max_pool1d_with_indices"},
       pooling(pool_with_indices<1>, save_max_pool)},
      {{"max_pool2d_with_indices"},
       pooling(pool_with_indices<2>, save_max_pool, Layer::kMaxPool2d)},
      {{"max_pool3d_with_indices"},
       pooling(pool_with_indices<3>, save_max_pool)},
      {{"avg_pool1d"}, pooling(pool<1>, save_input)},
      {{"avg_pool2d"}, on_any_threads(pooling(pool<2>, save_input))},
      {{"avg_pool3d"}, pooling(pool<3>, save_input)},
      {{"adaptive_avg_pool1d"}, pooling(adaptive_mean<1>, save_input)},
      {{"adaptive_avg_pool2d", "_adaptive_avg_pool2d"},
       or_a_mean(pooling(adaptive_mean<2>, save_input))},
      {{"adaptive_avg_pool3d"}, pooling(adaptive_mean<3>, save_input)},
      {{"adaptive_max_pool1d"}, pooling(adaptive_max<1>, save_max_pool)},
      {{"adaptive_max_pool2d"}, pooling(adaptive_max<2>, save_max_pool)},
      {{"adaptive_max_pool3d"}, pooling(adaptive_max<3>, save_max_pool)},
  };
  return rows;
}

} // namespace temper::graph

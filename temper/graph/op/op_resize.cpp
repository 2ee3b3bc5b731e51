// Padding, interpolation and the exchange of channels for pixels.
#include <cmath>

#include "temper/base/text.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

void pad(NodeShapes& node) {
  Shape shape = node.first_tensor();
  const Ints amounts =
      node.given("pad") ? node.integers("pad") : node.integers("padding");
  node.require(
      amounts.size() % 2 == 0 && amounts.size() / 2 <= shape.sizes.size(),
      cat(amounts.size(), " amounts for ", sizes_text(shape.sizes)));
  // Pairs run from the last dimension to the front.
  for (std::size_t i = 0; i < amounts.size() / 2; ++i) {
    for (const auto amount : {amounts[2 * i], amounts[2 * i + 1]})
      node.require(
          amount >= INT32_MIN && amount <= INT32_MAX,
          "an amount is out of range");
    auto& size = shape.sizes[shape.sizes.size() - 1 - i];
    size = plus(size, amounts[2 * i] + amounts[2 * i + 1]);
  }
  node.give(shape);
}

template <std::size_t kSpatial>
void upsample(NodeShapes& node) {
  Shape shape = node.first_tensor();
  node.require(
      shape.sizes.size() == kSpatial + 2,
      cat("its input is ", sizes_text(shape.sizes)));
  if (node.given("output_size")) {
    const Ints wanted = node.repeated("output_size", kSpatial, {1});
    for (std::size_t i = 0; i < kSpatial; ++i)
      shape.sizes[2 + i] = wanted[i];
  } else {
    const auto scales = node.reals("scale_factors");
    node.require(scales.size() == kSpatial, "neither a size nor scale factors");
    for (std::size_t i = 0; i < kSpatial; ++i) {
      const double size =
          std::floor(static_cast<double>(shape.sizes[2 + i]) * scales[i]);
      node.require(size >= 0 && size < 1e12, "a scale factor is out of range");
      shape.sizes[2 + i] = static_cast<std::int64_t>(size);
    }
  }
  node.give(shape);
}

void pixel_shuffle(NodeShapes& node) {
  Shape shape = node.first_tensor();
  const auto factor = node.integer("upscale_factor");
  const auto rank = shape.sizes.size();
  node.require(
      rank >= 3 && factor >= 1 && factor <= INT16_MAX &&
          shape.sizes[rank - 3] % (factor * factor) == 0,
      cat("factor ", factor, " for ", sizes_text(shape.sizes)));
  shape.sizes[rank - 3] /= factor * factor;
  for (const auto i : {rank - 2, rank - 1})
    shape.sizes[i] = times(shape.sizes[i], factor);
  node.give(shape);
}

void pixel_unshuffle(NodeShapes& node) {
  Shape shape = node.first_tensor();
  const auto factor = node.integer("downscale_factor");
  const auto rank = shape.sizes.size();
  node.require(
      rank >= 3 && factor >= 1 && factor <= INT16_MAX &&
          shape.sizes[rank - 2] % factor == 0 &&
          shape.sizes[rank - 1] % factor == 0,
      cat("factor ", factor, " for ", sizes_text(shape.sizes)));
  shape.sizes[rank - 3] = times(shape.sizes[rank - 3], factor * factor);
  shape.sizes[rank - 2] /= factor;
  shape.sizes[rank - 1] /= factor;
  node.give(shape);
}

void save_pad(SavedContext& node) {
  if (node.text("mode", "constant") != "constant") node.keep_input();
}

} // namespace

const OperatorRows& resize_operators() {
  static const OperatorRows rows{
      {{"pad"},
       {.shape = pad,
        .memory = fresh,
        .gradient = Gradient::kComputed,
        .saved = save_pad,
        .flops = 0}},
      {{"constant_pad_nd"}, on_any_threads(computing(pad))},
      {{"reflection_pad1d",
        "reflection_pad2d",
        "reflection_pad3d",
        "replication_pad1d",
        "replication_pad2d",
        "replication_pad3d"},
       computing(pad, save_input)},
      {{"upsample_nearest1d", "upsample_linear1d"}, computing(upsample<1>)},
      {{"upsample_nearest2d",
        "_upsample_nearest_exact2d",
        "upsample_bilinear2d",
        "_upsample_bilinear2d_aa",
        "upsample_bicubic2d"},
       computing(upsample<2>)},
      {{"upsample_nearest3d", "upsample_trilinear3d"}, computing(upsample<3>)},
      {{"pixel_shuffle"}, computing(pixel_shuffle)},
      {{"pixel_unshuffle"}, computing(pixel_unshuffle)},
      {{"channel_shuffle"}, computing(like_first)},
  };
  return rows;
}

} // namespace temper::graph

// MobileNetV2 (Sandler et al., 2018), with torchvision's names. What is
// inverted: a block is wide inside, where each channel is filtered alone, and
// narrow between blocks, where nothing follows the last convolution.
#include "temper/base/text.h"
#include "temper/model/zoo/init.h"
#include "temper/model/zoo/zoo_families.h"

namespace temper::model {
namespace {

using graph::Builder;
using graph::Conv2d;
using graph::Value;

// The paper's table 2.
struct Row {
  std::int64_t expansion; // t
  std::int64_t channels; // c
  int blocks; // n
  std::int64_t stride; // s, of the first block
};
constexpr Row kTable[] = {
    {1, 16, 1, 1},
    {6, 24, 2, 2},
    {6, 32, 3, 2},
    {6, 64, 4, 2},
    {6, 96, 3, 1},
    {6, 160, 3, 2},
    {6, 320, 1, 1},
};

Value conv_norm_relu6(
    Builder& b,
    const std::string& path,
    Value x,
    Conv2d convolution) {
  convolution.bias = false;
  x = b.conv2d(path + ".0", x, convolution);
  x = b.batch_norm(path + ".1", x);
  return b.relu6_(path + ".2", x);
}

Value inverted_residual(
    Builder& b,
    const std::string& path,
    const Value& x,
    const Row& row,
    std::int64_t out,
    std::int64_t stride) {
  const std::int64_t in = b.sizes(x).at(0);
  const std::int64_t inside = in * row.expansion;
  int layer = 0;
  const auto next = [&] { return cat(path, ".conv.", layer++); };

  Value y = x;
  if (row.expansion != 1)
    y = conv_norm_relu6(b, next(), y, {.out = inside, .kernel = 1});
  y = conv_norm_relu6(
      b,
      next(),
      y,
      {.out = inside,
       .kernel = 3,
       .stride = stride,
       .padding = 1,
       .groups = inside});
  y = b.conv2d(next(), y, {.out = out, .kernel = 1, .bias = false});
  y = b.batch_norm(next(), y);
  return stride == 1 && in == out ? b.add(path, x, y) : y;
}

} // namespace

graph::Blueprint mobilenet_v2(const ZooSettings& settings) {
  const double width = settings.width;
  const std::int64_t stem_stride = settings.cifar_stem ? 1 : 2;
  Builder b = start(settings, mobilenet_fills());
  int feature = 0;
  const auto next = [&] { return cat("features.", feature++); };

  Value x = image_input(b, settings);
  x = conv_norm_relu6(
      b,
      next(),
      x,
      {.out = scaled(32, width),
       .kernel = 3,
       .stride = stem_stride,
       .padding = 1});
  for (const Row& row : kTable)
    for (int block = 0; block < row.blocks; ++block)
      x = inverted_residual(
          b,
          next(),
          x,
          row,
          scaled(row.channels, width),
          block == 0 ? row.stride : 1);
  // A narrow network keeps its full last layer.
  const std::int64_t last = scaled(1280, width < 1 ? 1 : width);
  x = conv_norm_relu6(b, next(), x, {.out = last, .kernel = 1});

  x = b.average_pool2d("", x);
  x = b.flatten("", x, 1);
  x = b.dropout("classifier.0", x, settings.dropout);
  x = b.linear("classifier.1", x, {.out = settings.classes});
  return b.finish(x);
}

} // namespace temper::model

// Deep residual networks (He et al., 2015), with torchvision's names. The
// bottleneck has its stride in the 3x3 convolution, as torchvision's has
// ("ResNet v1.5"), where the paper has it in the first.
#include "temper/base/text.h"
#include "temper/model/zoo/init.h"
#include "temper/model/zoo/zoo_families.h"

namespace temper::model {
namespace {

using graph::Builder;
using graph::Value;

// The paper's table 1: blocks of the stages with 64, 128, 256, 512 channels.
struct Variant {
  bool bottleneck;
  int blocks[4];
};
constexpr Variant kResnet18{false, {2, 2, 2, 2}};
constexpr Variant kResnet34{false, {3, 4, 6, 3}};
constexpr Variant kResnet50{true, {3, 4, 6, 3}};
constexpr std::int64_t kBottleneckExpansion = 4;

Value conv(
    Builder& b,
    const std::string& path,
    const Value& x,
    std::int64_t out,
    std::int64_t kernel,
    std::int64_t stride) {
  return b.conv2d(
      path,
      x,
      {.out = out,
       .kernel = kernel,
       .stride = stride,
       .padding = kernel / 2,
       .bias = false});
}

// The part that the block adds to its input: two 3x3 convolutions.
Value basic(
    Builder& b,
    const std::string& path,
    const Value& x,
    std::int64_t channels,
    std::int64_t stride) {
  Value y = conv(b, path + ".conv1", x, channels, 3, stride);
  y = b.batch_norm(path + ".bn1", y);
  y = b.relu_(path + ".relu", y);
  y = conv(b, path + ".conv2", y, channels, 3, 1);
  return b.batch_norm(path + ".bn2", y);
}

// Or one between two 1x1: narrow, filter, widen.
Value bottleneck(
    Builder& b,
    const std::string& path,
    const Value& x,
    std::int64_t channels,
    std::int64_t stride) {
  Value y = conv(b, path + ".conv1", x, channels, 1, 1);
  y = b.batch_norm(path + ".bn1", y);
  y = b.relu_(path + ".relu", y);
  y = conv(b, path + ".conv2", y, channels, 3, stride);
  y = b.batch_norm(path + ".bn2", y);
  y = b.relu_(path + ".relu", y);
  y = conv(b, path + ".conv3", y, channels * kBottleneckExpansion, 1, 1);
  return b.batch_norm(path + ".bn3", y);
}

Value block(
    Builder& b,
    const Variant& variant,
    const std::string& path,
    const Value& x,
    std::int64_t channels,
    std::int64_t stride) {
  const Value y = variant.bottleneck ? bottleneck(b, path, x, channels, stride)
                                     : basic(b, path, x, channels, stride);
  const std::int64_t out = b.sizes(y).at(0);
  Value shortcut = x;
  if (stride != 1 || b.sizes(x).at(0) != out) {
    shortcut = conv(b, path + ".downsample.0", x, out, 1, stride);
    shortcut = b.batch_norm(path + ".downsample.1", shortcut);
  }
  return b.relu_(path + ".relu", b.add_(path, y, shortcut));
}

graph::Blueprint resnet(const ZooSettings& settings, const Variant& variant) {
  Builder b = start(settings, resnet_fills());
  Value x = image_input(b, settings);
  const std::int64_t first = scaled(64, settings.width);
  x = settings.cifar_stem ? conv(b, "conv1", x, first, 3, 1)
                          : conv(b, "conv1", x, first, 7, 2);
  x = b.batch_norm("bn1", x);
  x = b.relu_("relu", x);
  if (!settings.cifar_stem)
    x = b.max_pool2d("maxpool", x, {.kernel = 3, .stride = 2, .padding = 1});

  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t channels =
        scaled(std::int64_t{64} << stage, settings.width);
    for (int i = 0; i < variant.blocks[stage]; ++i)
      x = block(
          b,
          variant,
          cat("layer", stage + 1, ".", i),
          x,
          channels,
          stage > 0 && i == 0 ? 2 : 1);
  }

  x = b.average_pool2d("avgpool", x);
  x = b.flatten("", x, 1);
  x = b.linear("fc", x, {.out = settings.classes});
  return b.finish(x);
}

} // namespace

graph::Blueprint resnet18(const ZooSettings& settings) {
  return resnet(settings, kResnet18);
}

graph::Blueprint resnet34(const ZooSettings& settings) {
  return resnet(settings, kResnet34);
}

graph::Blueprint resnet50(const ZooSettings& settings) {
  return resnet(settings, kResnet50);
}

} // namespace temper::model

// The zoo's builders, one file each: build() of zoo.h checks what was asked for
// and hands them settings that fit.
// Private to model/zoo.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/graph/build/builder.h"

namespace temper::model {

// The settings of a network to build: every option has its value.
struct ZooSettings {
  std::string name;
  bool cifar_stem = false;
  double width = 1;
  std::int64_t classes = 0;
  double dropout = 0;
  std::int64_t image_size = 0;
  std::int64_t channels = 0;
  std::vector<std::int64_t> widths;
  std::vector<std::int64_t> shape; // of mlp's input; empty: an image
  std::int64_t context = 0;
  std::int64_t vocabulary = 0;
};

graph::Blueprint mobilenet_v2(const ZooSettings& settings);
graph::Blueprint resnet18(const ZooSettings& settings);
graph::Blueprint resnet34(const ZooSettings& settings);
graph::Blueprint resnet50(const ZooSettings& settings);
graph::Blueprint vit_tiny(const ZooSettings& settings);
graph::Blueprint cnn(const ZooSettings& settings);
graph::Blueprint mlp(const ZooSettings& settings);
graph::Blueprint gpt_tiny(const ZooSettings& settings);

// A builder for that network.
graph::Builder start(const ZooSettings& settings, graph::LayerFills fills = {});
// [batch, channels, image_size, image_size]
graph::Value image_input(graph::Builder& b, const ZooSettings& settings);

// The multiple of 8 nearest to channels * width, never a tenth below it.
std::int64_t scaled(std::int64_t channels, double width);

// Heads side by side in [batch, places, 3 * features], queries first, then keys
// and values, attend to each other: [batch, places, features].
graph::Value attend(
    graph::Builder& b,
    const std::string& path,
    const graph::Value& queries_keys_values,
    std::int64_t heads,
    const graph::Attention& options);

// The side of the patches that vit_tiny cuts such an image into.
std::int64_t vit_patch(std::int64_t image_size);

} // namespace temper::model

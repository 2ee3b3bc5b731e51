// Networks that come with temper, by name, as graphs in the form that trains:
// torchvision's ResNets and MobileNetV2, timm's tiny ViT, a character-level
// GPT, and two small ones. Parameters and buffers have the names and the order
// they have there, so that weights go both ways. No torch here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/graph/build/builder.h"
#include "temper/graph/ir/program.h"

namespace temper::model {

// The options that were asked for. An option left out is as the family has it.
struct ZooOptions {
  std::string name;
  // "cifar", for images of about 32 pixels. A ResNet begins with a 3x3
  // convolution of stride 1 and no pooling; MobileNetV2's first convolution has
  // stride 1, so that it ends with 2x2 values a channel.
  std::string stem = {};
  // Multiplies the channels, rounded to multiples of 8 as MobileNetV2's are.
  double width = 1;
  std::optional<std::int64_t> classes = {};
  std::optional<double> dropout = {};
  // Images are square. vit_tiny cuts them into patches of 16 pixels from 128
  // pixels on, of 8 from 64 on, and of 4 below. mlp takes image_size = 1 for
  // rows of a table, `channels` columns wide.
  std::optional<std::int64_t> image_size = {};
  std::optional<std::int64_t> channels = {};
  std::vector<std::int64_t> widths = {}; // mlp's hidden layers
  // mlp: of one input of any rank, in the place of a square image.
  std::vector<std::int64_t> shape = {};
  std::optional<std::int64_t> context = {}; // gpt_tiny's characters at once
  std::optional<std::int64_t> vocabulary = {};
  std::uint64_t seed = 0;
};

// Error when there is no such model, or it cannot be had like that.
graph::Program build(const ZooOptions& options);
// The same without weights, for whoever only looks at it.
graph::Blueprint blueprint(const ZooOptions& options);

// A line of help: what there is, in the order to show it.
struct ZooLine {
  std::string name;
  std::string description;
};
std::vector<ZooLine> zoo_lines();
bool in_zoo(const std::string& name);

} // namespace temper::model

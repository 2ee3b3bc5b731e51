// The vision transformer (Dosovitskiy et al., 2020) in its tiny size (Touvron
// et al., 2020), with the names of timm's vit_tiny_patch16_224: 192 features, 3
// heads, 12 blocks. The patches follow the image size (zoo.h).
#include "temper/base/text.h"
#include "temper/model/zoo/init.h"
#include "temper/model/zoo/zoo_families.h"

namespace temper::model {
namespace {

using graph::Builder;
using graph::Value;

constexpr std::int64_t kVitFeatures = 192;
constexpr std::int64_t kVitHeads = 3;
constexpr int kVitBlocks = 12;
constexpr std::int64_t kInside = 4 * kVitFeatures; // of a block's two layers
constexpr double kVitEps = 1e-6;

Value encoder_block(Builder& b, const std::string& path, Value x) {
  Value y = b.layer_norm(path + ".norm1", x, kVitEps);
  y = b.linear(path + ".attn.qkv", y, {.out = 3 * kVitFeatures});
  y = attend(b, path + ".attn", y, kVitHeads, {});
  y = b.linear(path + ".attn.proj", y, {.out = kVitFeatures});
  x = b.add(path, x, y);

  y = b.layer_norm(path + ".norm2", x, kVitEps);
  y = b.linear(path + ".mlp.fc1", y, {.out = kInside});
  y = b.gelu(path + ".mlp.act", y);
  y = b.linear(path + ".mlp.fc2", y, {.out = kVitFeatures});
  return b.add(path, x, y);
}

} // namespace

std::int64_t vit_patch(std::int64_t image_size) {
  if (image_size >= 128) return 16;
  return image_size >= 64 ? 8 : 4;
}

graph::Blueprint vit_tiny(const ZooSettings& settings) {
  const std::int64_t patch = vit_patch(settings.image_size);
  const std::int64_t side = settings.image_size / patch;
  Builder b = start(settings, vit_fills());
  Value x = image_input(b, settings);
  const Value class_token =
      b.parameter("cls_token", {1, 1, kVitFeatures}, graph::normal(1e-6));
  const Value positions = b.parameter(
      "pos_embed", {1, side * side + 1, kVitFeatures}, vit_normal());

  x = b.conv2d(
      "patch_embed.proj",
      x,
      {.out = kVitFeatures, .kernel = patch, .stride = patch});
  x = b.flatten("patch_embed", x, 2);
  x = b.transpose("patch_embed", x, 1, 2);
  x = b.cat("", {b.expand_batch("", class_token), x}, 1);
  x = b.add("", x, positions);
  for (int i = 0; i < kVitBlocks; ++i)
    x = encoder_block(b, cat("blocks.", i), x);
  x = b.layer_norm("norm", x, kVitEps);

  x = b.select("", x, 1, 0); // the class token
  x = b.dropout("head_drop", x, settings.dropout);
  x = b.linear("head", x, {.out = settings.classes});
  return b.finish(x);
}

} // namespace temper::model

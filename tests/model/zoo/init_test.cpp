#include "temper/model/zoo/init.h"

#include <gtest/gtest.h>

#include <cmath>

#include "temper/base/error.h"
#include "temper/model/zoo/zoo_families.h"

namespace temper::model {
namespace {

using graph::Fill;

ZooSettings image_settings() {
  ZooSettings settings;
  settings.name = "test";
  settings.classes = 10;
  settings.image_size = 32;
  settings.channels = 3;
  settings.widths = {16};
  settings.context = 8;
  settings.vocabulary = 20;
  return settings;
}

Fill fill_of(const graph::Blueprint& net, const char* name) {
  return net.fills.at(name);
}

TEST(Init, ResnetStartsAsTorchvisionsDoes) {
  const graph::Blueprint net = resnet18(image_settings());
  // Kaiming's normal over the outputs: 64 channels of 7x7.
  EXPECT_EQ(fill_of(net, "conv1.weight"), graph::normal(std::sqrt(2.0 / 3136)));
  EXPECT_EQ(
      fill_of(net, "layer2.0.downsample.0.weight"),
      graph::normal(std::sqrt(2.0 / 128)));
  EXPECT_EQ(fill_of(net, "bn1.weight"), graph::constant(1));
  EXPECT_EQ(fill_of(net, "bn1.bias"), graph::constant(0));
  EXPECT_EQ(fill_of(net, "bn1.running_mean"), graph::constant(0));
  EXPECT_EQ(fill_of(net, "bn1.running_var"), graph::constant(1));
  EXPECT_EQ(fill_of(net, "bn1.num_batches_tracked"), graph::constant(0));
  EXPECT_EQ(fill_of(net, "fc.weight"), graph::uniform(1 / std::sqrt(512.0)));
  EXPECT_EQ(fill_of(net, "fc.bias"), graph::uniform(1 / std::sqrt(512.0)));
}

TEST(Init, MobilenetStartsAsTorchvisionsDoes) {
  const graph::Blueprint net = mobilenet_v2(image_settings());
  // A depthwise convolution's fan out counts all its channels.
  EXPECT_EQ(
      fill_of(net, "features.1.conv.0.0.weight"),
      graph::normal(std::sqrt(2.0 / (32 * 9))));
  EXPECT_EQ(fill_of(net, "classifier.1.weight"), graph::normal(0.01));
  EXPECT_EQ(fill_of(net, "classifier.1.bias"), graph::constant(0));
}

TEST(Init, VitStartsAsTimmsDoes) {
  const graph::Blueprint net = vit_tiny(image_settings());
  const Fill narrow = graph::truncated_normal(0.02, 2);
  EXPECT_EQ(fill_of(net, "pos_embed"), narrow);
  EXPECT_EQ(fill_of(net, "blocks.3.attn.qkv.weight"), narrow);
  EXPECT_EQ(fill_of(net, "blocks.3.attn.qkv.bias"), graph::constant(0));
  EXPECT_EQ(fill_of(net, "head.weight"), narrow);
  EXPECT_EQ(fill_of(net, "cls_token"), graph::normal(1e-6));
  // The patches are an ordinary convolution: 3 channels of 4x4.
  EXPECT_EQ(
      fill_of(net, "patch_embed.proj.weight"),
      graph::uniform(1 / std::sqrt(48.0)));
  EXPECT_EQ(fill_of(net, "norm.weight"), graph::constant(1));
}

TEST(Init, GptStartsAsGpt2Does) {
  const graph::Blueprint net = gpt_tiny(image_settings());
  const Fill residual = graph::normal(0.02 / std::sqrt(8.0));
  EXPECT_EQ(fill_of(net, "transformer.wte.weight"), graph::normal(0.02));
  EXPECT_EQ(fill_of(net, "transformer.wpe.weight"), graph::normal(0.02));
  EXPECT_EQ(
      fill_of(net, "transformer.h.0.attn.c_attn.weight"), graph::normal(0.02));
  EXPECT_EQ(fill_of(net, "transformer.h.0.attn.c_proj.weight"), residual);
  EXPECT_EQ(fill_of(net, "transformer.h.3.mlp.c_proj.weight"), residual);
  EXPECT_EQ(
      fill_of(net, "transformer.h.3.mlp.c_proj.bias"), graph::constant(0));
}

TEST(Init, SmallNetworksStartAsPytorchsLayersDo) {
  EXPECT_EQ(
      fill_of(cnn(image_settings()), "conv.weight"),
      graph::uniform(1 / std::sqrt(27.0)));
  EXPECT_EQ(
      fill_of(cnn(image_settings()), "conv.bias"),
      graph::uniform(1 / std::sqrt(27.0)));
  EXPECT_EQ(fill_of(mlp(image_settings()), "head.bias"), graph::uniform(0.25));
}

TEST(Init, EveryWeightIsDrawnUnderItsOwnName) {
  const graph::Program net = initialise(mlp(image_settings()), 7);
  graph::validate(net);
  const graph::TensorData& bias = net.weights.at("hidden.0.bias");
  const graph::TensorData again = graph::draw(
      graph::uniform(1 / std::sqrt(3072.0)),
      graph::DType::kFloat32,
      {16},
      7,
      "hidden.0.bias");
  ASSERT_EQ(bias.byte_count, again.byte_count);
  EXPECT_TRUE(std::equal(
      bias.bytes.get(), bias.bytes.get() + bias.byte_count, again.bytes.get()));
}

TEST(Init, ANetworkBeyondAllMemoryIsRefusedBeforeItIsMade) {
  ZooSettings vast = image_settings();
  vast.widths = {1'000'000, 1'000'000};
  EXPECT_THROW(initialise(mlp(vast), 0), Error);
  vast.channels = 65'536;
  vast.image_size = 8192;
  EXPECT_THROW(initialise(mlp(vast), 0), Error);
}

} // namespace
} // namespace temper::model

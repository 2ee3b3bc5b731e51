#include "temper/model/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "temper/base/error.h"
#include "temper/graph/infer/infer.h"
#include "temper/model/zoo/zoo_families.h"
#include "zoo_cases.h"

namespace temper::model {
namespace {

using graph::InputKind;
using testing::HasSubstr;

std::vector<std::int64_t> state_shape(
    const graph::Graph& net,
    const graph::Input& input) {
  std::vector<std::int64_t> sizes;
  for (const graph::Size& size : net.meta(input.value).sizes)
    sizes.push_back(size.value);
  return sizes;
}

std::int64_t parameter_count(const graph::Graph& net) {
  std::int64_t count = 0;
  for (const graph::Input* input : net.inputs_of(InputKind::kParameter))
    count += graph::element_count(state_shape(net, *input));
  return count;
}

std::vector<std::int64_t>
shape_at(const graph::Graph& net, const std::string& value, int batch) {
  std::vector<std::int64_t> sizes;
  const graph::Symbols symbols{{batch_symbol(net), batch}};
  for (const graph::Size& size : net.meta(value).sizes)
    sizes.push_back(evaluate(size, symbols));
  return sizes;
}

std::vector<std::int64_t> output_shape(const graph::Graph& net, int batch) {
  const auto& value = std::get<graph::TensorName>(net.outputs[0].value);
  return shape_at(net, value.name, batch);
}

std::string error_of(const ZooOptions& options) {
  try {
    build(options);
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}

const graph::Node* find_op(const graph::Graph& net, const std::string& op) {
  for (const graph::Node& node : net.nodes)
    if (node.op == op) return &node;
  return nullptr;
}

TEST(Zoo, ParameterCountsAreTorchvisionsAndTimms) {
  EXPECT_EQ(
      parameter_count(blueprint({.name = "mobilenet_v2"}).graph), 3'504'872);
  EXPECT_EQ(parameter_count(blueprint({.name = "resnet18"}).graph), 11'689'512);
  EXPECT_EQ(parameter_count(blueprint({.name = "resnet34"}).graph), 21'797'672);
  EXPECT_EQ(parameter_count(blueprint({.name = "resnet50"}).graph), 25'557'032);
  EXPECT_EQ(parameter_count(blueprint({.name = "vit_tiny"}).graph), 5'717'416);
}

TEST(Zoo, NamesShapesAndOrderOfTheStateArePytorchs) {
  const auto cases = zoo_cases();
  ASSERT_GE(cases.size(), 15U);
  for (const ZooCase& each : cases) {
    SCOPED_TRACE(each.name);
    const graph::Graph net =
        blueprint(zoo_options(each.expected["options"])).graph;
    const auto compare = [&](InputKind kind, const nlohmann::json& expected) {
      const auto inputs = net.inputs_of(kind);
      ASSERT_EQ(inputs.size(), expected.size());
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_EQ(inputs[i]->target, expected[i][0].get<std::string>());
        EXPECT_EQ(
            state_shape(net, *inputs[i]),
            expected[i][1].get<std::vector<std::int64_t>>())
            << inputs[i]->target;
      }
    };
    compare(InputKind::kParameter, each.expected["parameters"]);
    compare(InputKind::kBuffer, each.expected["buffers"]);
    EXPECT_EQ(parameter_count(net), each.expected["parameter_count"]);
  }
}

TEST(Zoo, EveryNetworkIsSoundAtAnyBatch) {
  for (const ZooLine& line : zoo_lines()) {
    SCOPED_TRACE(line.name);
    const graph::Graph net = blueprint({.name = line.name}).graph;
    graph::validate(net);
    for (const int batch : {1, 37}) {
      const graph::Inferred inferred =
          infer_by_rules(net, bind_batch(net, batch));
      for (const auto& [name, meta] : net.tensors) {
        ASSERT_EQ(meta.strides.size(), meta.sizes.size()) << name;
        EXPECT_EQ(inferred.tensors.at(name).sizes, shape_at(net, name, batch))
            << name;
        EXPECT_EQ(inferred.tensors.at(name).dtype, meta.dtype) << name;
      }
    }
  }
}

TEST(Zoo, ASeedIsANetwork) {
  const auto bytes = [](std::uint64_t seed) {
    const graph::Program net = build({.name = "cnn", .seed = seed});
    const graph::TensorData& weight = net.weights.at("fc.weight");
    return std::vector<std::byte>(
        weight.bytes.get(), weight.bytes.get() + weight.byte_count);
  };
  EXPECT_EQ(bytes(3), bytes(3));
  EXPECT_NE(bytes(3), bytes(4));
}

TEST(Zoo, EqualOptionsGiveEqualGraphs) {
  const auto hash = [](const ZooOptions& options) {
    return hash_of(blueprint(options).graph);
  };
  EXPECT_EQ(hash({.name = "resnet18"}), hash({.name = "resnet18", .seed = 9}));
  EXPECT_NE(hash({.name = "resnet18"}), hash({.name = "resnet34"}));
  EXPECT_NE(hash({.name = "cnn"}), hash({.name = "cnn", .dropout = 0.5}));
}

TEST(Zoo, TheCifarStemKeepsSmallImagesLarge) {
  const graph::Graph resnet =
      blueprint({.name = "resnet18", .stem = "cifar"}).graph;
  EXPECT_EQ(
      shape_at(resnet, "x", 2), (std::vector<std::int64_t>{2, 3, 32, 32}));
  EXPECT_EQ(
      shape_at(resnet, "conv2d", 2),
      (std::vector<std::int64_t>{2, 64, 32, 32}));
  EXPECT_EQ(find_op(resnet, "aten.max_pool2d.default"), nullptr);
  const graph::Graph mobilenet =
      blueprint({.name = "mobilenet_v2", .stem = "cifar"}).graph;
  EXPECT_EQ(
      shape_at(mobilenet, "conv2d_51", 2),
      (std::vector<std::int64_t>{2, 1280, 2, 2}));
}

TEST(Zoo, WidthsRoundAsMobilenetsDo) {
  EXPECT_EQ(scaled(32, 1), 32);
  EXPECT_EQ(scaled(32, 0.25), 8);
  EXPECT_EQ(scaled(16, 0.25), 8); // never below 8
  EXPECT_EQ(scaled(24, 0.75), 24); // 18 would round to 16, a tenth too few
  EXPECT_EQ(scaled(96, 0.35), 32);
  EXPECT_EQ(scaled(1280, 1.4), 1792);
}

TEST(Zoo, DropoutIsTheFamilysOwnUnlessAsked) {
  const auto dropped = [](const ZooOptions& options) {
    const graph::Graph net = blueprint(options).graph;
    const graph::Node* node = find_op(net, "aten.dropout.default");
    return node == nullptr ? 0 : std::get<double>(*node->find("p"));
  };
  EXPECT_EQ(dropped({.name = "mobilenet_v2"}), 0.2);
  EXPECT_EQ(dropped({.name = "mobilenet_v2", .dropout = 0.0}), 0);
  EXPECT_EQ(dropped({.name = "vit_tiny"}), 0);
  EXPECT_EQ(dropped({.name = "vit_tiny", .dropout = 0.1}), 0.1);
  EXPECT_EQ(dropped({.name = "gpt_tiny", .dropout = 0.1}), 0.1);
}

TEST(Zoo, PatchesFollowTheImage) {
  EXPECT_EQ(vit_patch(32), 4);
  EXPECT_EQ(vit_patch(64), 8);
  EXPECT_EQ(vit_patch(224), 16);
  const graph::Program net = build({.name = "vit_tiny", .image_size = 32});
  EXPECT_EQ(
      net.weights.at("pos_embed").sizes,
      (std::vector<std::int64_t>{1, 65, 192}));
}

TEST(Zoo, MlpTakesImagesAndRows) {
  const graph::Program rows = build(
      {.name = "mlp",
       .classes = 3,
       .image_size = 1,
       .channels = 13,
       .widths = {20, 10}});
  EXPECT_EQ(shape_at(rows.graph, "x", 4), (std::vector<std::int64_t>{4, 13}));
  EXPECT_EQ(output_shape(rows.graph, 4), (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(
      rows.weights.at("hidden.1.weight").sizes,
      (std::vector<std::int64_t>{10, 20}));
  const graph::Program images = build({.name = "mlp"});
  EXPECT_EQ(
      images.weights.at("hidden.0.weight").sizes,
      (std::vector<std::int64_t>{512, 784}));
}

TEST(Zoo, GptScoresEveryCharacterAtEveryPlace) {
  const graph::Program net =
      build({.name = "gpt_tiny", .context = 32, .vocabulary = 50});
  EXPECT_EQ(net.graph.meta("x").dtype, graph::DType::kInt64);
  EXPECT_EQ(output_shape(net.graph, 4), (std::vector<std::int64_t>{4, 50, 32}));
  EXPECT_EQ(net.weights.count("lm_head.weight"), 0U); // it is wte's
  const graph::Node* attention =
      find_op(net.graph, "aten.scaled_dot_product_attention.default");
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(*attention->find("is_causal"), graph::Argument(true));
}

TEST(Zoo, AnUnknownNameAnswersWithTheNearest) {
  EXPECT_EQ(
      error_of({.name = "resnet81"}),
      "[model] there is no model resnet81 in the zoo. | Did you mean "
      "resnet18?");
  EXPECT_THAT(
      error_of({.name = "transformer_xl"}),
      HasSubstr("There are mobilenet_v2"));
  EXPECT_TRUE(in_zoo("vit_tiny"));
  EXPECT_FALSE(in_zoo("vit_huge"));
}

TEST(Zoo, WhatDoesNotFitIsRefusedInOneSentence) {
  EXPECT_EQ(
      error_of({.name = "vit_tiny", .width = 0.5}),
      "[model] vit_tiny has no width to set. | Leave it out; it is an option "
      "of mobilenet_v2, resnet18, resnet34, resnet50, cnn.");
  EXPECT_THAT(
      error_of({.name = "resnet18", .dropout = 0.1}),
      HasSubstr("has no dropout"));
  EXPECT_THAT(
      error_of({.name = "gpt_tiny", .classes = 10}), HasSubstr("no classes"));
  EXPECT_THAT(
      error_of({.name = "cnn", .context = 10}), HasSubstr("no context"));
  EXPECT_THAT(error_of({.name = "cnn", .widths = {3}}), HasSubstr("no widths"));
  EXPECT_THAT(
      error_of({.name = "resnet18", .stem = "mnist"}), HasSubstr("no stem"));
  EXPECT_THAT(
      error_of({.name = "vit_tiny", .image_size = 225}),
      HasSubstr("Set data.image_size to 240"));
  EXPECT_THAT(
      error_of({.name = "cnn", .image_size = 3}), HasSubstr("3 pixels"));
  EXPECT_THAT(
      error_of({.name = "resnet18", .width = -1}), HasSubstr("out of range"));
  EXPECT_THAT(
      error_of({.name = "resnet18", .width = std::nan("")}),
      HasSubstr("out of range"));
  EXPECT_THAT(
      error_of({.name = "cnn", .dropout = 1.0}), HasSubstr("out of range"));
  EXPECT_THAT(
      error_of({.name = "cnn", .classes = 0}), HasSubstr("classes = 0"));
  EXPECT_THAT(
      error_of({.name = "mlp", .widths = {0}}), HasSubstr("a width of mlp"));
  EXPECT_THAT(
      error_of({.name = "mlp", .widths = {1'000'000, 1'000'000}}),
      HasSubstr("too large"));
}

} // namespace
} // namespace temper::model

#include "temper/train/transfer/frozen_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "temper/base/error.h"
#include "temper/graph/build/builder.h"
#include "temper/graph/pass/passes.h"
#include "temper/model/zoo/init.h"
#include "temper/model/zoo/zoo.h"
#include "temper/train/setup/freeze.h"

namespace temper::train {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

graph::Program build(const std::string& name, int size = 32) {
  model::ZooOptions zoo;
  zoo.name = name;
  zoo.image_size = size;
  zoo.classes = 4;
  zoo.width = 0.25;
  return model::build(zoo);
}

RunModel frozen(const graph::Program& program, const std::string& pattern) {
  FrozenModel made = freeze_model(program, {pattern});
  RunModel model;
  model.name = "net";
  model.program = std::move(made.program);
  model.still_norms = std::move(made.still_norms);
  return model;
}

std::vector<std::string> trainable_names(const graph::Program& program) {
  std::vector<std::string> names;
  for (const auto* input :
       program.graph.inputs_of(graph::InputKind::kParameter))
    if (input->trainable) names.push_back(input->target);
  return names;
}

TEST(FrozenSplit, TheBackboneIsAllButTheLastLayer) {
  for (const char* name : {"mobilenet_v2", "resnet18", "cnn"}) {
    const FrozenModel made = freeze_model(build(name), {"backbone"});
    EXPECT_EQ(trainable_names(made.program).size(), 2U) << name;
    EXPECT_THAT(made.report, Not(HasSubstr("still move"))) << name;
  }
  EXPECT_THAT(
      trainable_names(
          freeze_model(build("mobilenet_v2"), {"backbone"}).program),
      ElementsAre("classifier.1.weight", "classifier.1.bias"));
}

TEST(FrozenSplit, WhatHasNoBackboneIsRefused) {
  graph::Builder b("one layer");
  const graph::Value x = b.input("x", graph::DType::kFloat32, {6});
  const graph::Program program =
      model::initialise(b.finish(b.linear("head", x, {.out = 3})), 0);
  EXPECT_THROW(freeze_model(program, {"backbone"}), Error);
  EXPECT_THROW(freeze_model(build("cnn"), {"cnov.*"}), Error);
}

TEST(FrozenSplit, ThePrefixEndsBeforeDropoutAndHasNoBatchNormLeft) {
  std::string why;
  const auto split =
      split_frozen(frozen(build("mobilenet_v2"), "backbone"), why);
  ASSERT_TRUE(split) << why;
  EXPECT_THAT(split->shape, ElementsAre(1280));
  for (const auto& node : split->prefix.graph.nodes)
    EXPECT_EQ(node.op.find("norm"), std::string::npos) << node.op;
  EXPECT_EQ(
      split->rest.program->graph.nodes.front().op, "aten.dropout.default");
  EXPECT_TRUE(split->rest.still_norms.empty());
  graph::validate(split->prefix);
  graph::validate(*split->rest.program);
}

TEST(FrozenSplit, PrefixAndRestTogetherHaveEveryWeight) {
  const RunModel model = frozen(build("resnet18"), "layer1.*");
  std::string why;
  EXPECT_FALSE(split_frozen(model, why));
  EXPECT_THAT(why, HasSubstr("comes before"));
  const RunModel whole = frozen(build("resnet18"), "backbone");
  const auto split = split_frozen(whole, why);
  ASSERT_TRUE(split) << why;
  for (const auto& [name, tensor] : whole.program->weights)
    EXPECT_EQ(
        split->frozen.count(name) + split->rest.program->weights.count(name),
        1U)
        << name;
  std::int64_t values = 0;
  for (const auto* input :
       whole.program->graph.inputs_of(graph::InputKind::kParameter))
    if (!input->trainable)
      values +=
          graph::element_count(whole.program->weights.at(input->target).sizes);
  EXPECT_EQ(split->frozen_values, values);
}

TEST(FrozenSplit, ItsHashFollowsFromTheWeights) {
  const auto hash = [](const graph::Program& program) {
    std::string why;
    return split_frozen(frozen(program, "backbone"), why)->hash;
  };
  graph::Program program = build("cnn");
  const std::uint64_t before = hash(program);
  EXPECT_EQ(hash(build("cnn")), before);
  graph::TensorData& bias = program.weights.at("conv.bias");
  auto other = graph::make_tensor(bias.dtype, bias.sizes);
  std::memcpy(other.bytes, bias.bytes.get(), bias.byte_count);
  other.bytes[1] ^= std::byte{1};
  bias = other.data;
  EXPECT_NE(hash(program), before);
  // The head is not in it.
  program = build("cnn");
  program.weights.at("fc.bias") =
      graph::make_tensor(graph::DType::kFloat32, {4}).data;
  EXPECT_EQ(hash(program), before);
}

TEST(FrozenSplit, NothingFrozenIsNothingToSay) {
  RunModel model;
  model.program = build("cnn");
  std::string why = "old";
  EXPECT_FALSE(split_frozen(model, why));
  EXPECT_EQ(why, "");
}

TEST(FrozenSplit, UnfrozenEverythingTrains) {
  const graph::Program program = build("mobilenet_v2");
  const auto back = unfrozen(freeze_model(program, {"backbone"}).program);
  EXPECT_EQ(trainable_names(back), trainable_names(program));
}

} // namespace
} // namespace temper::train
